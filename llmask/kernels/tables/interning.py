"""The two containers of all derived data: interned lists (hash consing), and a map from one integer to another.

    lists   records  int32[n, 4]   offset into the pool, length, next, hash
            pool     int32[...]    the lists back to back
            heads                  see linear_hash.py
            count                  number of lists
    map     entries  int32[n, 6]   key (two int32), value, unused, next, hash
            heads
            count                  number of entries

In: `table.name` of lists or a map. Out: ids and values. Cost: 10-30 ns.

Equal lists get equal ids, so identity of regular expressions, lexer states and Earley rows is a comparison of numbers.
Readers without the lock may look up maps: an entry is written in full before the index shows it.
"""

from ..machine.jit import inline, kernel
from ..machine.raw import wrapped_product
from ..machine.records import ENTRY, LIST, Lists, Map
from .linear_hash import HASH_BITS, NOT_FOUND, add_record, drop_record, first_probe, next_record
from .memory import get_i32, load_i64, reserve, spend, store_i64

_HEADS, _COUNT = Lists.parts["heads"][0], Lists.parts["count"][0]
_LIST_LINK, _LIST_BYTES = LIST.offset("next"), LIST.n_bytes
_MAP_HEADS, _MAP_COUNT = Map.parts["heads"][0], Map.parts["count"][0]
_ENTRY_LINK, _ENTRY_BYTES = ENTRY.offset("next"), ENTRY.n_bytes

MISSING = -1
_MULTIPLIER = 0x9E3779B97F4A7C1 * 2 + 1  # odd, near 2^61 * golden ratio; stays a positive int64


@inline
def mix(value, item):
    """One step of a multiplicative hash over int64."""
    value = wrapped_product(value ^ item, _MULTIPLIER)
    return value ^ (value >> 32)


@kernel
def hash_i32(address, first, n):
    value = n + 1
    for i in range(first, first + n):
        value = mix(value, get_i32(address, i))
    return value & HASH_BITS


@inline
def list_offset(lists, number):
    return lists.records[number].offset


@inline
def list_length(lists, number):
    return lists.records[number].length


@inline
def list_item(lists, number, position):
    return lists.pool[lists.records[number].offset + position]


@inline
def copy_list(lists, number, items):
    """Copy a list to the beginning of a block; returns its length."""
    n = lists.records[number].length
    for i in range(n):
        items[i] = list_item(lists, number, i)
    return n


@inline
def find_list(lists, address, first, n, hashed):
    """Id of the list int32 `address[first : first + n]`, or MISSING; `hashed` is its hash_i32."""
    records = lists.records
    pool = lists.pool
    probe = first_probe(lists.table, lists.slot + _HEADS, lists.slot + _COUNT, hashed)
    while probe != 0:
        number, probe = next_record(probe, records.address + _LIST_LINK, _LIST_BYTES, hashed)
        if number != NOT_FOUND and records[number].length == n:
            offset = records[number].offset
            same = True
            for i in range(n):
                if pool[offset + i] != get_i32(address, first + i):
                    same = False
                    break
            if same:
                return number
    return MISSING


@kernel
def intern_list(lists, address, first, n):
    """Id of the list int32 `address[first : first + n]`; a new one is copied into the pool.

    Ids count up from 0, so the caller knows a new list by `id == count before the call`.
    """
    spend(lists.table, 2 + (n >> 2))
    hashed = hash_i32(address, first, n)
    number = find_list(lists, address, first, n, hashed)
    if number >= 0:
        return number
    number = lists.count
    offset = 0
    if number > 0:
        last = lists.records[number - 1]
        offset = last.offset + last.length
    pool = reserve(lists.pool, offset + n + 1)
    for i in range(n):
        pool[offset + i] = get_i32(address, first + i)
    records = reserve(lists.records, number + 1)
    records[number].offset, records[number].length = offset, n
    links = records.address + _LIST_LINK
    add_record(lists.table, lists.slot + _HEADS, lists.slot + _COUNT, links, _LIST_BYTES, hashed)
    return number


@inline
def forget_last_list(lists):
    """Take the newest list back."""
    links = lists.records.address + _LIST_LINK
    drop_record(lists.table, lists.slot + _HEADS, lists.slot + _COUNT, links, _LIST_BYTES)


@inline
def _hash_key(key):
    return mix(17, key) & HASH_BITS


@inline
def _key_address(entries, entry):
    """Where the key of an entry is: 64 bits, two fields of it."""
    return entries + entry * _ENTRY_BYTES


@inline
def _find_entry(pairs, key):
    hashed = _hash_key(key)
    probe = first_probe(pairs.table, pairs.slot + _MAP_HEADS, pairs.slot + _MAP_COUNT, hashed)
    entries = pairs.entries.address
    while probe != 0:
        entry, probe = next_record(probe, entries + _ENTRY_LINK, _ENTRY_BYTES, hashed)
        if entry != NOT_FOUND and load_i64(_key_address(entries, entry)) == key:
            return entry
    return NOT_FOUND


@inline
def map_get(pairs, key):
    """Value for `key`, or MISSING."""
    entry = _find_entry(pairs, key)
    return pairs.entries[entry].value if entry != NOT_FOUND else MISSING


@inline
def map_key(pairs, entry):
    """Key of an entry, for maps whose values are numbers of entries."""
    return load_i64(_key_address(pairs.entries.address, entry))


@kernel
def map_put(pairs, key, value):
    """Add a key that is not there yet; the value is an int32."""
    spend(pairs.table, 3)
    entry = pairs.count
    entries = reserve(pairs.entries, entry + 1)
    store_i64(_key_address(entries.address, entry), key)
    entries[entry].value = value
    links = entries.address + _ENTRY_LINK
    add_record(pairs.table, pairs.slot + _MAP_HEADS, pairs.slot + _MAP_COUNT, links, _ENTRY_BYTES, _hash_key(key))


@inline
def map_change(pairs, key, value):
    """Give a key another value, or add it. Only for maps that nobody reads without the lock."""
    entry = _find_entry(pairs, key)
    if entry != NOT_FOUND:
        pairs.entries[entry].value = value
    else:
        map_put(pairs, key, value)
