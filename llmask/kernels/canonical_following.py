"""What may follow a split state and a last token, whatever the grammar says.

In: the table of split states. Out: lists and masks in TOKENS, of the first 64 MB for all grammars of the store.
Cost: 1 ns a token that is incompatible with the last one (some thousands), once.
"""

from __future__ import annotations

from .canonical_fill import REFUSED_SPLIT, clear_bit
from .canonical_pairs import is_fitting, list_runs, meets_odd
from .canonical_slots import (
    BITS,
    BREAKS,
    DOUBTFUL,
    FOLLOWING,
    FOLLOWS,
    FOUND,
    KINDS,
    N_ODD,
    ODD,
    ODD_KIND,
    ORDER,
    ORDER_KINDS,
    PAIR_LISTS,
    REPORT,
    RUNS,
    SHARED_BYTES,
)
from .grammar_slots import N_TOKENS, TOKENS
from .interning import map_get, map_put
from .jit import kernel, never_inline
from .memory import BYTES_USED, block, copy_bytes, ensure, load_i32, load_i64, put_i32
from .raw import load_u16
from .store_slots import N_WORDS
from .trie_walk import has_bit

MOST_PAIRS = 400  # clearing so many bits takes as long as combining all words


@kernel
def find_following(store, grammar, canon, split, before):
    """Address of (kind, n mixed, n pairs, 0, mixed tokens, then pairs, or for kind 1 a mask at an even place).

    Pairs may not follow, mixed tokens may in another split state than if they were compatible. 0: masks are missing.
    """
    never_inline()
    key = (split << 21) | before
    known = map_get(canon, PAIR_LISTS, key)
    if known >= 0:
        return block(canon, TOKENS) + known * 4
    following = load_i64(canon[FOLLOWING] + split * 8)
    if following == 0:
        canon[REPORT] = split
        return 0
    n_words = store[N_WORDS]
    n_bytes = (n_words + 1) // 2 * 8
    bits = ensure(canon, BITS, n_bytes)
    copy_bytes(bits, following, n_bytes)
    n_pairs, n_mixed = 0, 0
    fits, breaks = load_i64(canon[FOLLOWS] + split * 8), load_i64(canon[BREAKS] + split * 8)
    order, kinds = canon[ORDER], canon[ORDER_KINDS]
    for i in range(list_runs(canon, before)):
        first, end = load_i32(canon[RUNS] + i * 8), load_i32(canon[RUNS] + i * 8 + 4)
        is_single = first < 0
        if is_single:
            first = -1 - first
            end = first + 1
        found = ensure(canon, FOUND, (n_pairs + end - first) * 4)
        mixed = ensure(canon, DOUBTFUL, (n_mixed + end - first) * 4)
        for j in range(first, end):
            token, kind = load_i32(order + j * 4), load_i32(kinds + j * 4)
            if not has_bit(bits, token) or (kind >= ODD_KIND and not is_single):
                continue
            kind = (kind & 0xFFFF) * 2
            broken = load_u16(breaks + kind)
            if broken == REFUSED_SPLIT:
                clear_bit(bits, token)
                put_i32(found, n_pairs, token)
                n_pairs += 1
            elif broken != load_u16(fits + kind):
                put_i32(mixed, n_mixed, token)
                n_mixed += 1
    found = ensure(canon, FOUND, (n_pairs + canon[N_ODD]) * 4)
    mixed = ensure(canon, DOUBTFUL, (n_mixed + canon[N_ODD]) * 4)
    for i in range(canon[N_ODD] if meets_odd(canon, before) else 0):
        token = load_i32(canon[ODD] + i * 4)
        kind = load_u16(canon[KINDS] + token * 2) * 2
        broken = load_u16(breaks + kind)
        if not has_bit(bits, token) or broken == load_u16(fits + kind) or is_fitting(canon, before, token):
            continue
        if broken == REFUSED_SPLIT:
            clear_bit(bits, token)
            put_i32(found, n_pairs, token)
            n_pairs += 1
        else:
            put_i32(mixed, n_mixed, token)
            n_mixed += 1
    is_shared = canon[BYTES_USED] <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = (owner[N_TOKENS] + 1) & -2
    is_mask = 1 if n_pairs > MOST_PAIRS else 0
    n_tail = n_bytes // 4 + 1 if is_mask else n_pairs
    address = ensure(owner, TOKENS, (position + 5 + n_mixed + n_tail) * 4) + position * 4
    put_i32(address, 0, is_mask)
    put_i32(address, 1, n_mixed)
    put_i32(address, 2, n_pairs)
    for i in range(n_mixed):
        put_i32(address, 4 + i, load_i32(mixed + i * 4))
    if is_mask:
        copy_bytes(address + 16 + (n_mixed + 1) // 2 * 8, bits, n_bytes)
    else:
        for i in range(n_pairs):
            put_i32(address, 4 + n_mixed + i, load_i32(found + i * 4))
    owner[N_TOKENS] = position + 5 + n_mixed + n_tail
    if is_shared:
        map_put(canon, PAIR_LISTS, key, position)
    return address
