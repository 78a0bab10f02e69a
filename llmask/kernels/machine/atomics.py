"""Release and acquire: tables are read without a lock while a writer adds to them.

A writer writes an entry first and then, with release order, what leads to it: an index, a count, an
address. A reader that sees this with acquire order also sees the entry.

In: addresses, numbers. Out: numbers. Cost: on x86 a plain load or store; `fetch_add` and `exchange` lock a cache
line, 5 ns.
"""

import sys

from .jit import inline
from .numba_names import ir, primitive, types

_CAN_YIELD = sys.platform != "win32"
if _CAN_YIELD:
    _sched_yield = types.ExternalFunction("sched_yield", types.int32())


@inline
def yield_processor():
    """Let another thread run, in a loop that waits for it."""
    if _CAN_YIELD:
        _sched_yield()


def pointer_to(builder, address, bits):
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


@primitive("int64(int64)")
def load_acquire(builder, address):
    """int64 at `address`; later reads are not moved before it."""
    return builder.load_atomic(pointer_to(builder, address, 64), "acquire", 8)


@primitive("int64(int64)")
def load_acquire_i32(builder, address):
    """int32 at `address`, widened; later reads are not moved before it. For entries that a writer publishes."""
    return builder.sext(builder.load_atomic(pointer_to(builder, address, 32), "acquire", 4), ir.IntType(64))


@primitive("void(int64, int64)")
def store_release(builder, address, value):
    """Write an int64; earlier writes are seen by whoever sees this one."""
    builder.store_atomic(value, pointer_to(builder, address, 64), "release", 8)


@primitive("void(int64, int64)")
def publish_i32(builder, address, value):
    """Write an int32 with release order: for entries that readers look at without the lock."""
    builder.store_atomic(builder.trunc(value, ir.IntType(32)), pointer_to(builder, address, 32), "release", 4)


@primitive("int64(int64, int64)")
def fetch_add(builder, address, value):
    """Add to an int64 that several threads add to, in one order for all; returns what was there before."""
    return builder.atomic_rmw("add", pointer_to(builder, address, 64), value, "seq_cst")


@primitive("int64(int64, int64, int64)")
def exchange(builder, address, expected, value):
    """Compare and swap: write an int64 where `expected` is, in one order for all threads; 1 if it was there, else 0."""
    result = builder.cmpxchg(pointer_to(builder, address, 64), expected, value, "acq_rel", "acquire")
    return builder.zext(builder.extract_value(result, 1), ir.IntType(64))
