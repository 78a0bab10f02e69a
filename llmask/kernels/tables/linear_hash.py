"""Linear hashing: an index that grows by one bucket at a time, so no insertion ever waits for a rehash.

Records are numbered from 0 and lie in a block of their own; two int32 of a record, NEXT and HASH, belong to the index.

    buckets  int64[n_buckets, PLACES]   of records: number + 1, HASH << 32; 0 = none, and none behind it. The last place
                                        has LAST, and MORE when there are records that found none: they are a chain from
                                        NEXT of its record; n_buckets = max(MIN_BUCKETS, n_records // PER_BUCKET)
    NEXT     next record of the chain + 1, 0 = the last
    HASH     31 bits

A record lies anywhere in memory, so whoever does not have to read it saves 50 ns and more: a bucket is a line or two of
the cache, and tells which records can be the one that is looked up, and where those go that are in a bucket that is
split. (Chains from the first record on took 8 % more of a first document in which all names are new.)

With 2^k <= n_buckets < 2^(k+1), a hash belongs to bucket `hash mod 2^(k+1)` if there is one, else to `hash mod 2^k`. A
new bucket takes its records from one other bucket. (An open-addressed table of 300,000 lexer states took 15 ms to
double.)

Readers without the lock look while a writer splits a bucket: a record that is put into a chain points to records put
there before it, so every look-up ends; what a reader misses it asks the builder for.

W. Litwin, Linear hashing: a new tool for file and table addressing (1980).

In: a table, the slots of buckets and of the number of records; the address of record 0's NEXT and the size of a record.
Out: record numbers. Cost: 5 ns a look-up beside the loads.
"""

from __future__ import annotations

from ..machine.atomics import load_acquire, publish_i32, store_release
from ..machine.jit import inline, kernel
from .memory import address_of, block, ensure, load_i32, load_i64, store_i32

PLACES = 8
PER_BUCKET = 5
MIN_BUCKETS = 4
HASH_BITS = 0x7FFFFFFF
NOT_FOUND = -1
NUMBER_BITS = (1 << 30) - 1  # of what is in a place: number of its record + 1
LAST = 1 << 30
MORE = 1 << 31
_BUCKET_BYTES = 8 * PLACES
_NOWHERE = 0


@inline
def _n_buckets(n_records):
    return max(n_records // PER_BUCKET, MIN_BUCKETS)


@inline
def _bucket(hashed, n_buckets):
    """The bucket of a hash among `n_buckets` (at least 1)."""
    mask = n_buckets | n_buckets >> 1  # becomes 2^(k+1) - 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    found = hashed & mask
    return found if found < n_buckets else found & (mask >> 1)


@inline
def first_place(table, buckets, count, hashed):
    """Where to look for records with this hash: the first place of their bucket, or 0."""
    n_buckets = _n_buckets(load_acquire(address_of(table) + count * 8))
    address = block(table, buckets)
    if address == 0:
        return _NOWHERE
    return address + _bucket(hashed, n_buckets) * _BUCKET_BYTES


@inline
def next_record(place, links, size, hashed):
    """The next record with this hash, or NOT_FOUND, and where to look on, 0: nowhere.

    `place` is the address of a place, or minus the number + 1 of the record before in a chain.
    """
    while place > 0:
        item = load_acquire(place)
        if item == 0:
            return NOT_FOUND, _NOWHERE
        place += 8
        if item & LAST != 0:
            place = -(item & NUMBER_BITS) if item & MORE != 0 else _NOWHERE
        if item >> 32 == hashed:
            return (item & NUMBER_BITS) - 1, place
    while place < 0:
        place = -load_i32(links + (-place - 1) * size)
        if place != _NOWHERE and load_i32(links + (-place - 1) * size + 4) == hashed:
            return -place - 1, place
    return NOT_FOUND, _NOWHERE


@kernel
def add_record(table, buckets, count, links, size, hashed):
    """Enter the record that was written behind the last one, and count it."""
    record = table[count]
    n_before = _n_buckets(record)
    n_after = _n_buckets(record + 1)
    address = ensure(table, buckets, n_after * _BUCKET_BYTES)
    store_i32(links + record * size + 4, hashed)
    _put(address + _bucket(hashed, n_before) * _BUCKET_BYTES, record + 1, hashed, links, size)
    store_release(address_of(table) + count * 8, record + 1)
    if n_after > n_before:
        last = n_after - 1
        source = address + _bucket(last, last) * _BUCKET_BYTES
        _deal(source, address + last * _BUCKET_BYTES, n_after, last, 0, links, size)


@inline
def _put(bucket, number, hashed, links, size):
    """Enter the record with this number + 1 behind those of a bucket."""
    at = links + (number - 1) * size
    for place in range(bucket, bucket + _BUCKET_BYTES - 8, 8):
        if load_i64(place) == 0:
            store_release(place, hashed << 32 | number)
            return
    last = bucket + _BUCKET_BYTES - 8
    item = load_i64(last)
    if item == 0:
        store_i32(at, 0)
        store_release(last, hashed << 32 | LAST | number)
        return
    first = links + ((item & NUMBER_BITS) - 1) * size
    store_i32(at, load_i32(first))
    publish_i32(first, number)
    store_release(last, item | MORE)


@kernel
def _deal(source, target, n_buckets, chosen, dropped, links, size):
    """Put the records of a bucket that belong to the chosen one among `n_buckets` into `target`, the others back.

    The one with the number + 1 `dropped` is left out; 0: none.
    """
    chained = 0
    for place in range(source, source + _BUCKET_BYTES, 8):
        item = load_i64(place)
        if item == 0:
            break
        number = item & NUMBER_BITS
        if item & MORE != 0:
            chained = load_i32(links + (number - 1) * size)
        store_release(place, 0)  # what is put back finds this place or one before it
        if number != dropped:
            hashed = item >> 32
            bucket = target if _bucket(hashed, n_buckets) == chosen else source
            _put(bucket, number, hashed, links, size)
    while chained != 0:
        number = chained
        chained = load_i32(links + (number - 1) * size)
        if number != dropped:
            hashed = load_i32(links + (number - 1) * size + 4)
            bucket = target if _bucket(hashed, n_buckets) == chosen else source
            _put(bucket, number, hashed, links, size)


@kernel
def drop_record(table, buckets, count, links, size):
    """Take the newest record back; only for indexes that nobody reads without the lock."""
    record = table[count] - 1
    n_before = _n_buckets(record + 1)
    address = block(table, buckets)
    bucket = address + _bucket(load_i32(links + record * size + 4), n_before) * _BUCKET_BYTES
    _deal(bucket, bucket, n_before, 0, record + 1, links, size)
    table[count] = record
    last = n_before - 1
    if _n_buckets(record) == last:
        target = _bucket(last, last)
        _deal(address + last * _BUCKET_BYTES, address + target * _BUCKET_BYTES, last, target, 0, links, size)
