"""Ends: places with a lexer state, where a token led; which bytes go on from there, and which one ends the word.

With INSIDE_PLACE for a place an end is a lexer state alone. What is found is remembered in `memo`: of an end its
number, the bytes that may come next, and for a split state a byte that ends the word.

In: tables, an end, a split state. Out: ends, bytes. Cost: 10 ns a byte; 50 ns where it is known.
"""

from __future__ import annotations

from .canonical_slots import ENDS, MAY_END, SHARED_BYTES
from .configurations import C_ACCEPTS, C_NAMING, REFUSED, configuration_field, configuration_of, pack, step
from .constants import TRIE_BYTE_MASK, TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT
from .grammar_slots import ENDS_OF_TEXT, LIVE_SETS, NAMES_TOKENS, SAFE_ENDS
from .interning import MAP_COUNT, map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, next_state
from .memory import BYTES_USED, EXCEEDED, block, ensure, load_i32, load_i64, load_u8, store_i64
from .store_slots import TOKEN_DATA, TOKEN_OFFSETS
from .token_sets import NAMES_ORDINARY, names_special

INSIDE_PLACE = (1 << 31) - 1  # no place has this number
LIKELY = tuple(b'" ,a1:}].-0ntf')  # asked first
NO_BYTE = 0  # of a safe end; otherwise the byte + 1
MAY_STOP = 257
LIVE_FIELDS = 5


@kernel
def go(store, grammar, packed, byte):
    """Place and state after one more byte, or REFUSED."""
    never_inline()
    if packed >> 32 == INSIDE_PLACE:
        target = next_state(store, packed & 0xFFFFFFFF, byte)
        return REFUSED if target == DEAD else pack(INSIDE_PLACE, target)
    return step(store, grammar, packed >> 32, packed & 0xFFFFFFFF, byte)


@kernel
def go_token(store, grammar, packed, token):
    """Place and state after a token, or REFUSED."""
    never_inline()
    offsets, data = block(store, TOKEN_OFFSETS), block(store, TOKEN_DATA)
    for at in range(load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)):
        packed = go(store, grammar, packed, load_u8(data + at))
        if packed < 0:
            return REFUSED
    return packed


@kernel
def go_to_node(store, grammar, stack, word):
    """Place and state at a node of the trie, or REFUSED; `stack` has those above it by depth, and gets it."""
    depth = (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
    reached = go(store, grammar, load_i64(stack + (depth - 1) * 8), word & TRIE_BYTE_MASK)
    store_i64(stack + depth * 8, reached)
    return reached


@kernel
def has_stopped(store, grammar):
    """Whether a limit was reached, so that nothing that was found may be remembered."""
    return store[EXCEEDED] != 0 or grammar[EXCEEDED] != 0


@kernel
def remember(canon, memo, slot, key, value):
    """Enter a key unless the table of split states has grown too large."""
    never_inline()
    if memo[BYTES_USED] <= canon[SHARED_BYTES]:
        map_put(memo, slot, key, value)


@kernel
def end_of(memo, packed):
    """Number of an end."""
    never_inline()
    known = map_get(memo, ENDS_OF_TEXT, packed)
    if known >= 0:
        return known
    fresh = memo[ENDS_OF_TEXT + MAP_COUNT]
    map_put(memo, ENDS_OF_TEXT, packed, fresh)
    return fresh


@kernel
def live_set(store, grammar, memo, packed, end):
    """Address of four words: the bytes that may come next."""
    never_inline()
    at = ensure(memo, LIVE_SETS, (end + 1) * LIVE_FIELDS * 8) + end * LIVE_FIELDS * 8
    if load_i64(at) == 0:
        for word in range(4):
            bits = 0
            for bit in range(64):
                if go(store, grammar, packed, 64 * word + bit) >= 0:
                    bits |= 1 << bit
            store_i64(at + 8 + 8 * word, bits)
        if not has_stopped(store, grammar):
            store_i64(at, 1)
    return at + 8


@kernel
def _may_stop(store, grammar, configuration):
    """Whether the text may end, or a special token come, which ends it as well."""
    if configuration_field(grammar, configuration, C_ACCEPTS) != 0:
        return True
    naming = configuration_field(grammar, configuration, C_NAMING)
    return naming != 0 and names_special(store, grammar, naming - 1)


@kernel
def names_ordinary(store, grammar, packed):
    """Whether a token with bytes may be one that the grammar names: bytes do not tell where it leads."""
    if grammar[NAMES_TOKENS] != NAMES_ORDINARY:
        return False
    configuration = configuration_of(store, grammar, packed)
    return configuration >= 0 and configuration_field(grammar, configuration, C_NAMING) != 0


@kernel
def _find_safe_byte(store, grammar, canon, memo, packed, end, split):
    """A byte that ends the word and may come next, + 1; MAY_STOP where the text may end; else NO_BYTE."""
    never_inline()
    ends = canon[ENDS] + split * 16
    low, high = load_i64(ends), load_i64(ends + 8)
    if low | high != 0:
        for i in range(len(LIKELY)):
            byte = LIKELY[i]
            if (low if byte < 64 else high) >> (byte & 63) & 1 != 0 and go(store, grammar, packed, byte) >= 0:
                return byte + 1
        live = live_set(store, grammar, memo, packed, end)
        for byte in range(128):
            if (low if byte < 64 else high) & load_i64(live + (byte >> 6) * 8) & (1 << (byte & 63)) != 0:
                return byte + 1
    if packed >> 32 != INSIDE_PLACE and load_i64(canon[MAY_END] + split * 8) != 0:
        configuration = configuration_of(store, grammar, packed)
        if configuration >= 0 and _may_stop(store, grammar, configuration):
            return MAY_STOP
    return NO_BYTE


@kernel
def safe_byte(store, grammar, canon, memo, packed, end, split):
    """As `_find_safe_byte`, remembered."""
    never_inline()
    key = (end << 16) | split
    known = map_get(memo, SAFE_ENDS, key)
    if known < 0:
        known = _find_safe_byte(store, grammar, canon, memo, packed, end, split)
        if not has_stopped(store, grammar):
            remember(canon, memo, SAFE_ENDS, key, known)
    return known
