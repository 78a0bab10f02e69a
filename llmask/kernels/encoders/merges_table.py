"""Merges: read from the texts of a file, or found in a vocabulary; and what two neighbouring symbols merge to.

What a pair merges to is told by a hash table with linear probing, for merging as it is defined. Merges are given

    as texts "left right" in the byte alphabet
    as all ways to cut a token into two, where the id of a token is its rank
    as tokens with scores (SentencePiece): two symbols merge when their text is a token

For the last, a walk over the trie of tokens in depth-first order meets, for each token, the tokens that it begins with;
the same over the trie of reversed tokens meets the tokens that it ends with; where both meet at one place in the token,
there is a pair. So the work is the number of bytes in the vocabulary, not the square of token lengths.

In: texts, token bytes, tries. Out: pairs of symbols, what they merge to and the rank of that. Cost: 25 ms for the
280,147 merges of Llama 3, 30 ms for the 110,000 pairs of 32,000 tokens; 5 to 20 ns a look-up, by the caches.
"""

from ..machine.jit import door, inline
from ..machine.raw import shift_right, wrapped_product
from ..machine.records import Record
from ..tables.memory import as_table, load_i32
from ..vocabulary.trie_words import depth_of, token_of
from ..vocabulary.vocabulary_scan import undo_byte_alphabet
from .bpe_words import MIX, NO_TOKEN, find_word
from .encoder_slots import EncoderSlot

MERGE = Record("an entry", 64, key="1 + (left << 31 | right), 0: free", found="rank << 32 | what they make")
SYMBOL_BITS = 31
RANK_SHIFT = 32
MADE_MASK = 0xFFFFFFFF
BLANK = 32
NO_MERGE = 0x7FFFFFFFFFFFFFFF  # its rank is higher than any


@inline
def find_merge(merges, bits, left, right):
    """Rank and result of a merge, packed, or NO_MERGE; 1 << `bits` entries lie at an address. Symbols may be -1."""
    if left < 0 or right < 0:
        return NO_MERGE
    wanted, entries, mask = 1 + (left << SYMBOL_BITS | right), MERGE.at(merges), (1 << bits) - 1
    number = shift_right(wrapped_product(wanted, MIX), 64 - bits)
    while True:
        key = entries[number].key
        if key == wanted:
            return entries[number].found
        if key == 0:
            return NO_MERGE
        number = number + 1 & mask


@door("int64(int32[::1], int32[::1], int32[::1], int32[::1], int64, int64)", group="merges")
def enter_merges(lefts, rights, made, ranks, merges, bits):
    """Enter merges; of equal pairs the first counts. Returns how many were entered.

    At the address `merges` lie 1 << `bits` entries of zeros, at least twice as many as merges.
    """
    entries, mask, n_entered = MERGE.at(merges), (1 << bits) - 1, 0
    for i in range(lefts.shape[0]):
        key = 1 + (lefts[i] << SYMBOL_BITS | rights[i])
        number = shift_right(wrapped_product(key, MIX), 64 - bits)
        while entries[number].key != 0 and entries[number].key != key:
            number = number + 1 & mask
        if entries[number].key == 0:
            entries[number].key, entries[number].found = key, ranks[i] << RANK_SHIFT | made[i]
            n_entered += 1
    return n_entered


@door("int64(int64, int32[::1], uint8[::1], uint8[::1], int32[:, ::1])", group="tokenizer")
def read_merges(address, offsets, texts, scratch, splits):
    """Write the tokens of every merge, NO_TOKEN for what is no token; returns the number of merges with any of these.

    `scratch` uint8 is longer than the longest merge by 8.
    """
    table = as_table(address)
    safe_end = scratch.shape[0]
    n_unknown = 0
    for i in range(splits.shape[0]):
        start, end = offsets[i], offsets[i + 1]
        blank = start
        while blank < end and texts[blank] != BLANK:
            blank += 1
        left_end = undo_byte_alphabet(texts, start, blank, scratch, 0)
        right_end = undo_byte_alphabet(texts, min(blank + 1, end), end, scratch, left_end)
        left = right = made = NO_TOKEN
        if 0 < left_end < right_end:
            data = scratch.ctypes.data
            left = find_word(table, data, 0, left_end, safe_end)
            right = find_word(table, data, left_end, right_end, safe_end)
            made = find_word(table, data, 0, right_end, safe_end)
        splits[i, 0], splits[i, 1], splits[i, 2] = left, right, made
        if left == NO_TOKEN or right == NO_TOKEN or made == NO_TOKEN:
            n_unknown += 1
    return n_unknown


@door("int64(int64, boolean[::1], int32[:, ::1])", group="tokenizer")
def list_splits(address, include, splits):
    """Write every way to cut a token into two tokens, by ascending id of the token; returns their number.

    Stops writing when `splits` is full.
    """
    table = as_table(address)
    offsets, data = table[EncoderSlot.OFFSETS], table[EncoderSlot.DATA]
    safe_end = load_i32(offsets + include.shape[0] * 4)
    n_splits = 0
    for token in range(include.shape[0]):
        start, end = load_i32(offsets + token * 4), load_i32(offsets + (token + 1) * 4)
        if not include[token] or start == end or find_word(table, data, start, end, safe_end) != token:
            continue
        for cut in range(start + 1, end):
            left = find_word(table, data, start, cut, safe_end)
            right = NO_TOKEN if left == NO_TOKEN else find_word(table, data, cut, end, safe_end)
            if right == NO_TOKEN:
                continue
            if n_splits < splits.shape[0]:
                splits[n_splits, 0], splits[n_splits, 1], splits[n_splits, 2] = left, right, token
            n_splits += 1
    return n_splits


@door("int64(int64[::1], int32[::1], int32[::1], int32[::1])", group="spm_pairs")
def note_prefixes(node, offsets, path, prefixes):
    """Write into `prefixes` int32, one a byte of all tokens, the token that ends there and begins where the token does.

    Where no such token ends it keeps -1. `node` are the words of the trie of tokens that begin at `offsets`, `path`
    int32 is scratch, one longer than the longest token. Returns how many were written.
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
