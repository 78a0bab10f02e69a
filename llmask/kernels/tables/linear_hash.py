"""Linear hashing: an index that grows by one bucket with every record, so no insertion ever waits for a rehash.

Records are numbered from 0 and lie in a block of their own; two int32 of a record, NEXT and HASH, belong to the index.

    heads    int32[n_buckets]   newest record of the bucket + 1, 0 = none; n_buckets = max(MIN_BUCKETS, n_records)
    NEXT     next record of the same bucket + 1, 0 = the last
    HASH     31 bits

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

from ..machine.atomics import load_acquire, load_acquire_i32, publish_i32, store_release
from ..machine.jit import kernel, never_inline
from .memory import address_of, block, ensure, load_i32, store_i32

MIN_BUCKETS = 64
HASH_BITS = 0x7FFFFFFF
NO_RECORD = -1


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
    """Newest record in the bucket of `hashed`, or NO_RECORD."""
    n_buckets = max(load_acquire(address_of(table) + count * 8), MIN_BUCKETS)
    address = block(table, heads)
    if address == 0:
        return NO_RECORD
    return load_acquire_i32(address + _bucket(hashed, n_buckets) * 4) - 1


@kernel
def next_in_chain(links, size, record):
    """The record after `record`, or NO_RECORD."""
    return load_i32(links + record * size) - 1


@kernel
def hash_in_chain(links, size, record):
    return load_i32(links + record * size + 4)


@kernel
def add_to_chain(table, heads, count, links, size, hashed):
    """Enter the record that was written behind the last one, and count it."""
    never_inline()
    record = table[count]
    n_buckets = max(record, MIN_BUCKETS)
    n_after = max(record + 1, MIN_BUCKETS)
    address = ensure(table, heads, n_after * 4)
    head = address + _bucket(hashed, n_buckets) * 4
    store_i32(links + record * size, load_i32(head))
    store_i32(links + record * size + 4, hashed)
    publish_i32(head, record + 1)
    store_release(address_of(table) + count * 8, record + 1)
    if n_after > n_buckets:
        _split(address, n_after, links, size)


@kernel
def _split(heads, n_buckets, links, size):
    """Fill the last of `n_buckets` buckets from the one that held its records so far."""
    never_inline()
    last = n_buckets - 1
    source = _bucket(last, last)
    record = load_i32(heads + source * 4) - 1
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
    publish_i32(heads + last * 4, move)
    publish_i32(heads + source * 4, stay)


@kernel
def drop_from_chain(table, heads, count, links, size):
    """Take the newest record back; only for indexes that nobody reads without the lock."""
    never_inline()
    record = table[count] - 1
    n_buckets = max(record + 1, MIN_BUCKETS)
    address = block(table, heads)
    at = address + _bucket(hash_in_chain(links, size, record), n_buckets) * 4
    while load_i32(at) != record + 1:
        at = links + (load_i32(at) - 1) * size
    store_i32(at, load_i32(links + record * size))
    table[count] = record
    if n_buckets > MIN_BUCKETS:  # its bucket goes with it
        last = address + (n_buckets - 1) * 4
        at = address + _bucket(n_buckets - 1, n_buckets - 1) * 4
        while load_i32(at) != 0:
            at = links + (load_i32(at) - 1) * size
        store_i32(at, load_i32(last))
        store_i32(last, 0)
