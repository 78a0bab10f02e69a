"""Reads and writes in an order that other threads see: tables are read without a lock while others add to them.

Whoever adds to a table writes an entry first and then, with release order, what leads to it: an index, a count, an
address. A reader that sees this with acquire order also sees the entry.

In: addresses, numbers. Out: numbers. Cost: on x86 a plain load or store; `fetch_add` and `exchange` lock a cache
line, 5 ns.
"""

from __future__ import annotations

from .numba_names import intrinsic, ir, types


def pointer_to(builder, address, bits):
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


@intrinsic
def load_acquire(typingctx, address):
    """int64 at `address`; later reads are not moved before it."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(pointer_to(builder, args[0], 64), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def load_acquire_i32(typingctx, address):
    """int32 at `address`, widened; later reads are not moved before it. For entries that a writer publishes."""

    def codegen(context, builder, signature, args):
        item = builder.load_atomic(pointer_to(builder, args[0], 32), "acquire", 4)
        return builder.sext(item, ir.IntType(64))

    return types.int64(types.int64), codegen


@intrinsic
def store_release(typingctx, address, value):
    """Write an int64; earlier writes are seen by whoever sees this one."""

    def codegen(context, builder, signature, args):
        builder.store_atomic(args[1], pointer_to(builder, args[0], 64), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def publish_i32(typingctx, address, value):
    """Write an int32 with release order: for entries that readers look at without the lock."""

    def codegen(context, builder, signature, args):
        item = builder.trunc(args[1], ir.IntType(32))
        builder.store_atomic(item, pointer_to(builder, args[0], 32), "release", 4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def fetch_add(typingctx, address, value):
    """Add to an int64 that several threads add to, in one order for all; returns what was there before."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", pointer_to(builder, args[0], 64), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def exchange(typingctx, address, expected, value):
    """Write an int64 where `expected` is, in one order for all threads; 1 if it was there, else 0."""

    def codegen(context, builder, signature, args):
        pointer = pointer_to(builder, args[0], 64)
        result = builder.cmpxchg(pointer, args[1], args[2], "acq_rel", "acquire")
        return builder.zext(builder.extract_value(result, 1), ir.IntType(64))

    return types.int64(types.int64, types.int64, types.int64), codegen
