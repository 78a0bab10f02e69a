"""Interned masks: equal bitmasks are kept once, short ones as lists of tokens.

In: a mask in progress. Out: its number, or where its list begins. Cost: 1.5 us a bitmask of 128,000 tokens.
"""

from ..machine.jit import inline, kernel
from ..machine.lanes import lowest_bit, without_lowest_bit
from ..machine.raw import VECTOR_BYTES, differ_vectors
from ..tables.interning import mix
from ..tables.kinds import MaskKind
from ..tables.linear_hash import HASH_BITS, NOT_FOUND, add_record, first_probe, next_record
from ..tables.memory import block, copy_bytes, ensure, load_i32, load_i64, new_block, reserve, store_i64
from ..tables.store_layout import STORE
from .trie_walk import has_bit, set_bit

LINE = 8  # pairs of words in a line of the cache
HASH_LANES = 4  # of the hash
_LINK_BYTES = STORE.record("mask_links").n_bytes


@inline
def _pair(words, i):
    """A pair of words, 64 bits."""
    return load_i64(words + i * 8)


@inline
def _hash_words(words, n_words):
    """Hash of a mask, in four lanes: one multiplication after the other took 9 us for 4,008 words, this takes 1.5."""
    one = 5
    two = 6
    three = 7
    four = 8
    n_pairs = n_words // 2 & -HASH_LANES
    for i in range(0, n_pairs, HASH_LANES):
        one = mix(one, _pair(words, i))
        two = mix(two, _pair(words, i + 1))
        three = mix(three, _pair(words, i + 2))
        four = mix(four, _pair(words, i + 3))
    for i in range(2 * n_pairs, n_words):
        one = mix(one, load_i32(words + i * 4))
    return mix(mix(mix(one, two), three), four) & HASH_BITS


@inline
def _are_equal(one, other, n_bytes):
    at = 0
    while at <= n_bytes - VECTOR_BYTES and differ_vectors(one + at, other + at) == 0:
        at += VECTOR_BYTES
    while at < n_bytes and load_i32(one + at) == load_i32(other + at):
        at += 4
    return at == n_bytes


@kernel
def intern_mask(table, masks, heads, count, links_slot, words, n_words):
    """Number of an equal mask of a table, which has them in these slots, or of a new copy."""
    hashed = _hash_words(words, n_words)
    probe = first_probe(table, heads, count, hashed)
    links = block(table, links_slot)
    while probe != 0:
        number, probe = next_record(probe, links, _LINK_BYTES, hashed)
        if number != NOT_FOUND and _are_equal(load_i64(block(table, masks) + number * 8), words, n_words * 4):
            return number
    number = table[count]
    copy = new_block(table, n_words * 4)
    copy_bytes(copy, words, n_words * 4)
    store_i64(ensure(table, masks, (number + 1) * 8) + number * 8, copy)
    links = ensure(table, links_slot, (number + 1) * _LINK_BYTES)
    add_record(table, heads, count, links, _LINK_BYTES, hashed)
    return number


@kernel
def allow_duplicates(store, words):
    """Allow the tokens with the same bytes as an allowed one; returns how many were added.

    A slice's mask and the trie of its other tokens name every token once, so no bit is counted twice: a slice holds all
    tokens with the same bytes or none of them.
    """
    added = 0
    for i in range(store.n_duplicates):
        token, other = store.duplicate_pairs[i].token, store.duplicate_pairs[i].other
        if has_bit(words, token) and not has_bit(words, other):
            set_bit(words, other)
            added += 1
    return added


@inline
def _is_clear(words, first):
    """Whether no bit is set in LINE pairs of words from the first one on."""
    found = 0
    for i in range(first, first + LINE):
        found |= _pair(words, i)
    return found == 0


@kernel
def _list_tokens(store, words, n_tokens):
    """Append the set bits to `token_lists`; returns the position of the first."""
    first = store.n_token_lists
    tokens = reserve(store.token_lists, first + n_tokens + 1)
    n = 0
    pair = 0  # after the last word there is room for another
    n_pairs = (store.n_words + 1) // 2
    while n < n_tokens and pair < n_pairs:
        while pair + LINE <= n_pairs and _is_clear(words, pair):
            pair += LINE
        bits = _pair(words, pair)
        while bits != 0:
            tokens[first + n] = pair * 64 + lowest_bit(bits)
            bits = without_lowest_bit(bits)
            n += 1
        pair += 1
    store.n_token_lists = first + n
    return first


@inline
def keep_mask(store, words, n_tokens, most_listed):
    """Keep a mask as a list, or as a bitmask where it has more tokens; its kind, and its position or number."""
    if n_tokens <= most_listed:
        return MaskKind.LIST, _list_tokens(store, words, n_tokens)
    masks, heads, count, links = STORE.masks, STORE.mask_heads, STORE.n_masks, STORE.mask_links
    return MaskKind.WORDS, intern_mask(store, masks, heads, count, links, words, store.n_words)
