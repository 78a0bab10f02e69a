"""Linear hashing: an index that grows by one bucket at a time, so no insertion ever waits for a rehash.

Records are numbered from 0 and lie in a block of their own; two int32 of a record, NEXT and HASH, belong to the index.

    buckets  int64[n_buckets, PROBES]; n_buckets = max(MIN_BUCKETS, n_records // PER_BUCKET)
    probe    hash << 32 | number of a record + 1; 0 = free, and so are the probes after it. The last probe of a bucket
             has LAST, and MORE where the bucket overflows: the other records are a chain, from NEXT of its record on
    NEXT     next record of the chain + 1, 0 = the last
    HASH     31 bits

A bucket is a line or two of the cache, and a record lies anywhere in memory, 50 ns away. The hash in a probe tells
whether the record can be the right one, and to which bucket it goes when its bucket is split: most look-ups read one
record, and splits only the records of chains. (Chains from the first record on took 8 % more of a first document in
which all names are new.)

With 2^k <= n_buckets < 2^(k+1), a hash belongs to bucket `hash mod 2^(k+1)` if there is one, else to `hash mod 2^k`. A
new bucket takes its records from one other bucket. (An open-addressed table of 300,000 lexer states took 15 ms to
double.)

Readers without the lock look while a writer splits a bucket: a record that is put into a chain points to records put
there before it, so every look-up ends; what a reader misses it asks the builder for.

W. Litwin, Linear hashing: a new tool for file and table addressing (1980).

In: a table, the slots of buckets and of the number of records; the address of record 0's NEXT and the size of a record.
Out: record numbers. Cost: 5 ns a look-up besides the loads.
"""

from ..machine.atomics import load_acquire, publish_i32, store_release
from ..machine.jit import inline, kernel
from .memory import address_of, block, ensure, load_i32, load_i64, store_i32

PROBES = 8
PER_BUCKET = 5
MIN_BUCKETS = 4
HASH_BITS = 0x7FFFFFFF
NOT_FOUND = -1
NUMBER_BITS = (1 << 30) - 1  # of what is in a probe: number of its record + 1
LAST = 1 << 30
MORE = 1 << 31
_BUCKET_BYTES = 8 * PROBES
_NOWHERE = 0


@inline
def _next_in_chain(links, number, size):
    """NEXT of the record with this number + 1."""
    return load_i32(links + (number - 1) * size)


@inline
def _hash_address(links, number, size):
    """Address of HASH of the record with this number + 1, which comes after NEXT."""
    return links + (number - 1) * size + 4


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
def first_probe(table, buckets, count, hashed):
    """Where to look for records with this hash: the first probe of their bucket, or 0."""
    n_buckets = _n_buckets(load_acquire(address_of(table) + count * 8))
    address = block(table, buckets)
    if address == 0:
        return _NOWHERE
    return address + _bucket(hashed, n_buckets) * _BUCKET_BYTES


@inline
def next_record(probe, links, size, hashed):
    """The next record with this hash, or NOT_FOUND, and where to look on, 0: nowhere.

    `probe` is the address of a probe, or minus the number + 1 of the record before in a chain.
    """
    while probe > 0:
        item = load_acquire(probe)
        if item == 0:
            return NOT_FOUND, _NOWHERE
        probe += 8
        if item & LAST != 0:
            probe = -(item & NUMBER_BITS) if item & MORE != 0 else _NOWHERE
        if item >> 32 == hashed:
            return (item & NUMBER_BITS) - 1, probe
    while probe < 0:
        probe = -_next_in_chain(links, -probe, size)
        if probe != _NOWHERE and load_i32(_hash_address(links, -probe, size)) == hashed:
            return -probe - 1, probe
    return NOT_FOUND, _NOWHERE


@kernel
def add_record(table, buckets, count, links, size, hashed):
    """Enter the record that was written after the last one, and count it."""
    record = table[count]
    n_before = _n_buckets(record)
    n_after = _n_buckets(record + 1)
    address = ensure(table, buckets, n_after * _BUCKET_BYTES)
    store_i32(_hash_address(links, record + 1, size), hashed)
    _put(address + _bucket(hashed, n_before) * _BUCKET_BYTES, record + 1, hashed, links, size)
    store_release(address_of(table) + count * 8, record + 1)
    if n_after > n_before:
        last = n_after - 1
        source = address + _bucket(last, last) * _BUCKET_BYTES
        _deal(source, address + last * _BUCKET_BYTES, n_after, last, 0, links, size)


@inline
def _put(bucket, number, hashed, links, size):
    """Enter the record with this number + 1 as the last one of a bucket."""
    at = links + (number - 1) * size
    for probe in range(bucket, bucket + _BUCKET_BYTES - 8, 8):
        if load_i64(probe) == 0:
            store_release(probe, hashed << 32 | number)
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
    # what is in probes: it finds one of the probes that are free by now, or the end of the chain
    for probe in range(source, source + _BUCKET_BYTES, 8):
        item = load_i64(probe)
        if item == 0:
            break
        number = item & NUMBER_BITS
        if item & MORE != 0:
            chained = _next_in_chain(links, number, size)
        store_release(probe, 0)
        if number != dropped:
            hashed = item >> 32
            bucket = target if _bucket(hashed, n_buckets) == chosen else source
            _put(bucket, number, hashed, links, size)
    # what is in the chain
    while chained != 0:
        number = chained
        chained = _next_in_chain(links, number, size)
        if number != dropped:
            hashed = load_i32(_hash_address(links, number, size))
            bucket = target if _bucket(hashed, n_buckets) == chosen else source
            _put(bucket, number, hashed, links, size)


@kernel
def drop_record(table, buckets, count, links, size):
    """Take the newest record back; only for indexes that nobody reads without the lock."""
    record = table[count] - 1
    n_before = _n_buckets(record + 1)
    address = block(table, buckets)
    bucket = address + _bucket(load_i32(_hash_address(links, record + 1, size)), n_before) * _BUCKET_BYTES
    _deal(bucket, bucket, n_before, 0, record + 1, links, size)
    table[count] = record
    last = n_before - 1
    if _n_buckets(record) == last:
        target = _bucket(last, last)
        _deal(address + last * _BUCKET_BYTES, address + target * _BUCKET_BYTES, last, target, 0, links, size)
