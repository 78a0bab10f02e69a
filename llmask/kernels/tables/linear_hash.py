"""Linear hashing: an index that grows by one bucket with every record, so no insertion ever waits for a rehash.

Records are numbered from 0 and lie in a block of their own; two int32 of a record, NEXT and HASH, belong to the index.

    heads    int64[n_buckets]   of the newest record of the bucket number + 1, HASH << 32, and MORE when it is not the
                                only one; 0 = none; n_buckets = max(MIN_BUCKETS, n_records)
    NEXT     next record of the same bucket + 1, 0 = the last
    HASH     31 bits

A record lies anywhere in memory, so whoever does not have to read it saves 50 ns and more: what the head says of the
newest one answers for the most buckets, in a look-up that finds nothing and in a split.

With 2^k <= n_buckets < 2^(k+1), a hash belongs to bucket `hash mod 2^(k+1)` if there is one, else to `hash mod 2^k`. A
new bucket takes its records from one other bucket: 1.5 records are touched on average. (An open-addressed table of
300,000 lexer states took 15 ms to double.)

Readers without the lock walk chains while a writer splits one: a record that has been moved points to records moved
before it, so every walk ends; what a reader misses it asks the builder for.

W. Litwin, Linear hashing: a new tool for file and table addressing (1980).

In: a table, the slots of heads and of the number of records; the address of record 0's NEXT and the size of a record.
Out: record numbers. Cost: 5 ns a look-up beside the loads.
"""

from __future__ import annotations

from ..machine.atomics import load_acquire, store_release
from ..machine.jit import kernel, never_inline
from .memory import address_of, block, ensure, load_i32, load_i64, store_i32, store_i64

MIN_BUCKETS = 32
HASH_BITS = 0x7FFFFFFF
NO_RECORD = -1
NUMBER_BITS = 0x7FFFFFFF  # of a head: number of its record + 1
MORE = 1 << 31


@kernel
def _bucket(hashed, n_buckets):
    """The bucket of a hash among `n_buckets` (at least 1)."""
    mask = n_buckets | n_buckets >> 1  # becomes 2^(k+1) - 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    found = hashed & mask
    return found if found < n_buckets else found & (mask >> 1)


@kernel
def first_in_chain(table, heads, count, hashed):
    """Newest record in the bucket of `hashed`, or NO_RECORD, also where it is the only one and has another hash."""
    n_buckets = max(load_acquire(address_of(table) + count * 8), MIN_BUCKETS)
    address = block(table, heads)
    if address == 0:
        return NO_RECORD
    head = load_acquire(address + _bucket(hashed, n_buckets) * 8)
    if head & MORE == 0 and head >> 32 != hashed:
        return NO_RECORD
    return (head & NUMBER_BITS) - 1


@kernel
def next_in_chain(links, size, record):
    """The record after `record`, or NO_RECORD."""
    return load_i32(links + record * size) - 1


@kernel
def hash_in_chain(links, size, record):
    return load_i32(links + record * size + 4)


@kernel
def _head(links, size, number):
    """The head of a bucket whose newest record has this number + 1; 0 of none."""
    if number == 0:
        return 0
    at = links + (number - 1) * size
    return number | load_i32(at + 4) << 32 | (MORE if load_i32(at) != 0 else 0)


@kernel
def add_to_chain(table, heads, count, links, size, hashed):
    """Enter the record that was written behind the last one, and count it."""
    never_inline()
    record = table[count]
    n_buckets = max(record, MIN_BUCKETS)
    n_after = max(record + 1, MIN_BUCKETS)
    address = ensure(table, heads, n_after * 8)
    head = address + _bucket(hashed, n_buckets) * 8
    store_i32(links + record * size, load_i64(head) & NUMBER_BITS)
    store_i32(links + record * size + 4, hashed)
    store_release(head, _head(links, size, record + 1))
    store_release(address_of(table) + count * 8, record + 1)
    if n_after > n_buckets:
        _split(address, n_after, links, size)


@kernel
def _split(heads, n_buckets, links, size):
    """Fill the last of `n_buckets` buckets from the one that held its records so far."""
    never_inline()
    last = n_buckets - 1
    source = _bucket(last, last)
    head = load_i64(heads + source * 8)
    if head & MORE == 0:
        moves = head != 0 and _bucket(head >> 32, n_buckets) == last
        store_release(heads + last * 8, head if moves else 0)
        if moves:
            store_release(heads + source * 8, 0)
        return
    record = (head & NUMBER_BITS) - 1
    stay = 0
    move = 0
    while record >= 0:
        following = next_in_chain(links, size, record)
        if _bucket(hash_in_chain(links, size, record), n_buckets) == last:
            store_i32(links + record * size, move)
            move = record + 1
        else:
            store_i32(links + record * size, stay)
            stay = record + 1
        record = following
    store_release(heads + last * 8, _head(links, size, move))
    store_release(heads + source * 8, _head(links, size, stay))


@kernel
def drop_from_chain(table, heads, count, links, size):
    """Take the newest record back; only for indexes that nobody reads without the lock."""
    never_inline()
    record = table[count] - 1
    n_buckets = max(record + 1, MIN_BUCKETS)
    address = block(table, heads)
    head = address + _bucket(hash_in_chain(links, size, record), n_buckets) * 8
    first = _without(links, size, load_i64(head) & NUMBER_BITS, record)
    store_i64(head, _head(links, size, first))
    table[count] = record
    if n_buckets > MIN_BUCKETS:  # its bucket goes with it
        last = address + (n_buckets - 1) * 8
        head = address + _bucket(n_buckets - 1, n_buckets - 1) * 8
        first = _joined(links, size, load_i64(head) & NUMBER_BITS, load_i64(last) & NUMBER_BITS)
        store_i64(head, _head(links, size, first))
        store_i64(last, 0)


@kernel
def _without(links, size, first, record):
    """The chain that begins with number `first` when a record of it is taken out: the number it begins with then."""
    following = load_i32(links + record * size)
    if first == record + 1:
        return following
    at = links + (first - 1) * size
    while load_i32(at) != record + 1:
        at = links + (load_i32(at) - 1) * size
    store_i32(at, following)
    return first


@kernel
def _joined(links, size, first, second):
    """Two chains in one: the number it begins with."""
    if first == 0:
        return second
    at = links + (first - 1) * size
    while load_i32(at) != 0:
        at = links + (load_i32(at) - 1) * size
    store_i32(at, second)
    return first
