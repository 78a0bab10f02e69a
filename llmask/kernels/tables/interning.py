"""Two tables that everything derived lives in: numbers for lists, and a map from one integer to another.

    lists   FAMILY + 0  records  int32[n, 4]   offset into the pool, length, NEXT, HASH
            FAMILY + 1  pool     int32[...]    the lists back to back
            FAMILY + 2  heads    see tables/linear_hash.py
            FAMILY + 3  number of lists        (a number, not a block)
    map     MAP + 0     entries  int32[n, 6]   key (two int32), value, unused, NEXT, HASH
            MAP + 1     heads
            MAP + 2     number of entries

In: tables. Out: ids and values. Cost: 10-30 ns.

Equal lists get equal ids, so identity of regular expressions, lexer states and Earley rows is a comparison of numbers.
Readers without the lock may look up maps: an entry is written in full before the index shows it.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..machine.raw import wrapped_product
from .linear_hash import HASH_BITS, NO_RECORD, add_record, drop_record, first_place, next_record
from .memory import block, ensure, get_i32, get_i64, put_i32, put_i64, spend

RECORDS = 0
POOL = 1
HEADS = 2
COUNT = 3
LIST_SLOTS = 4
_RECORD_BYTES = 16
_RECORD_NEXT = 8

MAP_HEADS = 1
MAP_COUNT = 2
MAP_SLOTS = 3
_ENTRY_BYTES = 24
_ENTRY_NEXT = 16

MISSING = -1
_MULTIPLIER = 0x9E3779B97F4A7C1 * 2 + 1  # odd, near 2^61 * golden ratio; stays a positive int64


@kernel
def mix(value, item):
    """One step of a multiplicative hash over int64."""
    value = wrapped_product(value ^ item, _MULTIPLIER)
    return value ^ (value >> 32)


@kernel
def hash_i32(address, first, n):
    never_inline()
    value = n + 1
    for i in range(first, first + n):
        value = mix(value, get_i32(address, i))
    return value & HASH_BITS


@kernel
def list_offset(table, family, number):
    return get_i32(block(table, family + RECORDS), 4 * number)


@kernel
def list_length(table, family, number):
    return get_i32(block(table, family + RECORDS), 4 * number + 1)


@kernel
def list_item(table, family, number, position):
    return get_i32(block(table, family + POOL), list_offset(table, family, number) + position)


@kernel
def find_list(table, family, address, first, n, hashed):
    """Id of the list int32 `address[first : first + n]`, or MISSING; `hashed` is its hash_i32."""
    records = block(table, family + RECORDS)
    pool = block(table, family + POOL)
    place = first_place(table, family + HEADS, family + COUNT, hashed)
    while place != 0:
        number, place = next_record(place, records + _RECORD_NEXT, _RECORD_BYTES, hashed)
        if number != NO_RECORD and get_i32(records, 4 * number + 1) == n:
            offset = get_i32(records, 4 * number)
            same = True
            for i in range(n):
                if get_i32(pool, offset + i) != get_i32(address, first + i):
                    same = False
                    break
            if same:
                return number
    return MISSING


@kernel
def intern_list(table, family, address, first, n):
    """Id of the list int32 `address[first : first + n]`; a new one is copied into the pool.

    Ids count up from 0, so the caller knows a new list by `id == count before the call`.
    """
    never_inline()
    spend(table, 2 + (n >> 2))
    hashed = hash_i32(address, first, n)
    number = find_list(table, family, address, first, n, hashed)
    if number >= 0:
        return number
    records = block(table, family + RECORDS)
    number = table[family + COUNT]
    offset = 0
    if number > 0:
        offset = get_i32(records, 4 * number - 4) + get_i32(records, 4 * number - 3)
    pool = ensure(table, family + POOL, (offset + n + 1) * 4)
    for i in range(n):
        put_i32(pool, offset + i, get_i32(address, first + i))
    records = ensure(table, family + RECORDS, (number + 1) * _RECORD_BYTES)
    put_i32(records, 4 * number, offset)
    put_i32(records, 4 * number + 1, n)
    add_record(table, family + HEADS, family + COUNT, records + _RECORD_NEXT, _RECORD_BYTES, hashed)
    return number


@kernel
def forget_last_list(table, family):
    """Take the newest list back."""
    records = block(table, family + RECORDS)
    drop_record(table, family + HEADS, family + COUNT, records + _RECORD_NEXT, _RECORD_BYTES)


@kernel
def _hash_key(key):
    return mix(17, key) & HASH_BITS


@kernel
def _find_entry(table, slot, key):
    hashed = _hash_key(key)
    place = first_place(table, slot + MAP_HEADS, slot + MAP_COUNT, hashed)
    entries = block(table, slot)
    while place != 0:
        entry, place = next_record(place, entries + _ENTRY_NEXT, _ENTRY_BYTES, hashed)
        if entry != NO_RECORD and get_i64(entries, 3 * entry) == key:
            return entry
    return NO_RECORD


@kernel
def map_get(table, slot, key):
    """Value for `key`, or MISSING."""
    entry = _find_entry(table, slot, key)
    return get_i32(block(table, slot), 6 * entry + 2) if entry != NO_RECORD else MISSING


@kernel
def map_key(table, slot, entry):
    """Key of an entry, for maps whose values are numbers of entries."""
    return get_i64(block(table, slot), 3 * entry)


@kernel
def map_put(table, slot, key, value):
    """Add a key that is not there yet; the value is an int32."""
    never_inline()
    spend(table, 3)
    entry = table[slot + MAP_COUNT]
    entries = ensure(table, slot, (entry + 1) * _ENTRY_BYTES)
    put_i64(entries, 3 * entry, key)
    put_i32(entries, 6 * entry + 2, value)
    add_record(table, slot + MAP_HEADS, slot + MAP_COUNT, entries + _ENTRY_NEXT, _ENTRY_BYTES, _hash_key(key))


@kernel
def map_change(table, slot, key, value):
    """Give a key another value, or add it. Only for maps that nobody reads without the lock."""
    entry = _find_entry(table, slot, key)
    if entry != NO_RECORD:
        put_i32(block(table, slot), 6 * entry + 2, value)
    else:
        map_put(table, slot, key, value)
