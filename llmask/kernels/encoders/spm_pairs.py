"""Which pairs of symbols merge, and into what: the table that SentencePiece BPE looks pairs up in.

A vocabulary with scores names no pairs: two symbols merge when their text is a token. All of them are listed once. A
walk over the trie of tokens in depth-first order meets, for each token, the tokens that it begins with; the same over
the trie of reversed tokens those that it ends with; where both meet at one place in the token, there is a pair. So the
work is the number of bytes in the vocabulary, not the square of token lengths.

In: tries, token bytes. Out: arrays of pairs, a hash table. Cost: 30 ms for 32,000 tokens (110,000 pairs).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import door, inline
from ..machine.raw import wrapped_product
from ..tables.memory import load_i64
from ..vocabulary.trie_words import depth_of, token_of
from .piece_slots import RECORD_BYTES, PieceSlot


@inline
def pair_slot(left, right, mask):
    """Slot where the search for a pair begins."""
    mixed = wrapped_product(left << 31 | right, 0x9E3779B97F4A7C1)
    return (mixed ^ mixed >> 29) & mask


@inline
def find_pair(model, left, right):
    """Address of the slot of a pair of symbols, 0 when they never merge."""
    if left < 0 or right < 0:
        return 0
    pairs = model[PieceSlot.PAIRS]
    mask = model[PieceSlot.PAIRS_MASK]
    wanted = 1 + (left << 31 | right)
    slot = pair_slot(left, right, mask)
    while True:
        address = pairs + slot * RECORD_BYTES
        key = load_i64(address)
        if key == wanted:
            return address
        if key == 0:
            return 0
        slot = (slot + 1) & mask


@door("int64(int64[::1], int32[::1], int32[::1], int32[::1])", group="spm_pairs")
def note_prefixes(node, offsets, path, prefixes):
    """Write into `prefixes` int32, one a byte of all tokens, the token that ends there and begins where the token does.

    Where there is none it keeps -1. `node` are the words of the trie of tokens that begin at `offsets`, `path` int32 is
    scratch, one longer than the longest token. Returns how many were written.
    """
    n_found = 0
    for i in range(1, node.shape[0]):
        depth = depth_of(node[i])
        token = token_of(node[i])
        path[depth] = token
        if token >= 0:
            start = offsets[token]
            for length in range(1, depth):
                if path[length] >= 0:
                    prefixes[start + length - 1] = path[length]
                    n_found += 1
    return n_found


@door("int64(int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])", group="spm_pairs")
def list_pairs(node, offsets, path, prefixes, lefts, rights, merged):
    """List the pairs that make each token; returns how many there are.

    `node` are the words of the trie of reversed tokens in reversed order: its token t is token n_tokens - 1 - t.
    """
    last = offsets.shape[0] - 2
    n_pairs = 0
    for i in range(1, node.shape[0]):
        depth = depth_of(node[i])
        reverse = token_of(node[i])
        path[depth] = -1 if reverse < 0 else last - reverse
        if reverse < 0:
            continue
        token = last - reverse
        start = offsets[token]
        for length in range(1, depth):
            if path[length] < 0:
                continue
            left = prefixes[start + depth - length - 1]
            if left >= 0:
                lefts[n_pairs] = left
                rights[n_pairs] = path[length]
                merged[n_pairs] = token
                n_pairs += 1
    return n_pairs


@door("int64(int32[::1], int32[::1], int32[::1], int32[::1], int64[::1])", group="spm_pairs")
def fill_pairs(lefts, rights, merged, ranks, pairs):
    """Enter all pairs into `pairs`, int64 zeros, two a slot, a power of two of slots, at most half of them needed.

    A slot is 1 + (left << 31 | right), and rank << 32 | what they merge to. Of equal pairs the first stays. Returns how
    many were entered.
    """
    mask = pairs.shape[0] // 2 - 1
    n_entered = 0
    for i in range(lefts.shape[0]):
        key = 1 + (np.int64(lefts[i]) << 31 | rights[i])
        slot = pair_slot(lefts[i], rights[i], mask)
        while pairs[2 * slot] != 0 and pairs[2 * slot] != key:
            slot = (slot + 1) & mask
        if pairs[2 * slot] == 0:
            pairs[2 * slot] = key
            pairs[2 * slot + 1] = np.int64(ranks[i]) << 32 | merged[i]
            n_entered += 1
    return n_entered
