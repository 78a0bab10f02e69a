"""Two hash tables that everything derived lives in: numbers for lists, and a map from one integer to another.

    lists   FAMILY + 0  records  int32[n, 2]   offset into the pool, length
            FAMILY + 1  pool     int32[...]    the lists back to back
            FAMILY + 2  index    int32[2^k]    list id + 1, open addressing, 0 = free
            FAMILY + 3  number of lists        (a number, not a block)
    map     MAP + 0     entries  int64[2^k, 2] key + 1 (0 = free), value
            MAP + 1     number of entries

In: tables. Out: ids and values. Cost: 10-30 ns.

Equal lists get equal ids, so identity of regular expressions, lexer states and Earley rows is a comparison of numbers.
Readers without the lock may look up maps: a value is written before its key, and a grown table is published whole.
"""

from __future__ import annotations

from .jit import kernel, never_inline
from .memory import (
    block,
    block_bytes,
    ensure,
    get_i32,
    get_i64,
    load_acquire,
    new_block,
    publish,
    put_i32,
    put_i64,
    retire,
    store_release,
)

RECORDS = 0
POOL = 1
INDEX = 2
COUNT = 3
LIST_SLOTS = 4
MAP_SLOTS = 2

MISSING = -1
_MULTIPLIER = 0x9E3779B97F4A7C1 * 2 + 1  # odd, near 2^61 * golden ratio; stays a positive int64


@kernel
def mix(value, item):
    """One step of a multiplicative hash over int64."""
    value = (value ^ item) * _MULTIPLIER
    return value ^ (value >> 29)


@kernel
def hash_i32(address, first, n):
    never_inline()
    value = n + 1
    for i in range(first, first + n):
        value = mix(value, get_i32(address, i))
    return value


@kernel
def list_offset(table, family, number):
    return get_i32(block(table, family + RECORDS), 2 * number)


@kernel
def list_length(table, family, number):
    return get_i32(block(table, family + RECORDS), 2 * number + 1)


@kernel
def list_item(table, family, number, position):
    return get_i32(block(table, family + POOL), list_offset(table, family, number) + position)


@kernel
def intern_list(table, family, address, first, n):
    """Id of the list int32 `address[first : first + n]`; a new one is copied into the pool.

    Ids count up from 0, so the caller knows a new list by `id == count before the call`.
    """
    never_inline()
    index = block(table, family + INDEX)
    n_lists = table[family + COUNT]
    if index == 0 or 2 * (n_lists + 1) > block_bytes(index) // 4:
        index = _grow_index(table, family)
    mask = block_bytes(index) // 4 - 1
    slot = hash_i32(address, first, n) & mask
    records = block(table, family + RECORDS)
    pool = block(table, family + POOL)
    while True:
        number = get_i32(index, slot) - 1
        if number < 0:
            break
        if get_i32(records, 2 * number + 1) == n:
            offset = get_i32(records, 2 * number)
            same = True
            for i in range(n):
                if get_i32(pool, offset + i) != get_i32(address, first + i):
                    same = False
                    break
            if same:
                return number
        slot = (slot + 1) & mask
    offset = 0
    if n_lists > 0:
        offset = get_i32(records, 2 * n_lists - 2) + get_i32(records, 2 * n_lists - 1)
    pool = ensure(table, family + POOL, (offset + n + 1) * 4)
    for i in range(n):
        put_i32(pool, offset + i, get_i32(address, first + i))
    records = ensure(table, family + RECORDS, (n_lists + 1) * 8)
    put_i32(records, 2 * n_lists, offset)
    put_i32(records, 2 * n_lists + 1, n)
    put_i32(index, slot, n_lists + 1)
    table[family + COUNT] = n_lists + 1
    return n_lists


@kernel
def forget_last_list(table, family):
    """Take the newest list back (the newest entry of an open-addressed table may go without leaving a gap)."""
    never_inline()
    number = table[family + COUNT] - 1
    index = block(table, family + INDEX)
    mask = block_bytes(index) // 4 - 1
    records = block(table, family + RECORDS)
    offset = get_i32(records, 2 * number)
    slot = hash_i32(block(table, family + POOL), offset, get_i32(records, 2 * number + 1)) & mask
    while get_i32(index, slot) != number + 1:
        slot = (slot + 1) & mask
    put_i32(index, slot, 0)
    table[family + COUNT] = number


@kernel
def _grow_index(table, family):
    never_inline()
    old = block(table, family + INDEX)
    size = 64
    if old != 0:
        size = 2 * (block_bytes(old) // 4)
        retire(table, old)
    index = new_block(table, size * 4)
    records = block(table, family + RECORDS)
    pool = block(table, family + POOL)
    for number in range(table[family + COUNT]):
        slot = hash_i32(pool, get_i32(records, 2 * number), get_i32(records, 2 * number + 1)) & (size - 1)
        while get_i32(index, slot) != 0:
            slot = (slot + 1) & (size - 1)
        put_i32(index, slot, number + 1)
    publish(table, family + INDEX, index)
    return index


@kernel
def map_get(table, slot, key):
    """Value for `key` (a non-negative int64), or MISSING."""
    entries = block(table, slot)
    if entries == 0:
        return MISSING
    mask = block_bytes(entries) // 16 - 1
    position = mix(17, key) & mask
    while True:
        found = load_acquire(entries + 16 * position)
        if found == key + 1:
            return get_i64(entries, 2 * position + 1)
        if found == 0:
            return MISSING
        position = (position + 1) & mask


@kernel
def map_put(table, slot, key, value):
    """Add a key that is not there yet."""
    never_inline()
    entries = block(table, slot)
    n_entries = table[slot + 1]
    if entries == 0 or 2 * (n_entries + 1) > block_bytes(entries) // 16:
        size = 64
        if entries != 0:
            size = 2 * (block_bytes(entries) // 16)
        grown = new_block(table, size * 16)
        if entries != 0:
            for i in range(size // 2):
                if get_i64(entries, 2 * i) != 0:
                    _insert(grown, get_i64(entries, 2 * i) - 1, get_i64(entries, 2 * i + 1))
            retire(table, entries)
        publish(table, slot, grown)
        entries = grown
    _insert(entries, key, value)
    table[slot + 1] = n_entries + 1


@kernel
def _insert(entries, key, value):
    mask = block_bytes(entries) // 16 - 1
    position = mix(17, key) & mask
    while get_i64(entries, 2 * position) != 0:
        position = (position + 1) & mask
    put_i64(entries, 2 * position + 1, value)
    store_release(entries + 16 * position, key + 1)
