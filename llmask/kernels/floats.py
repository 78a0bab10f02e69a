"""Floating-point numbers at addresses.

In: addresses. Out: numbers. Cost: a load or a store.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def load_f32(typingctx, address):
    """float32 at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], ir.FloatType().as_pointer()), align=4)

    return types.float32(types.int64), codegen


@intrinsic
def load_f64(typingctx, address):
    """float64 at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], ir.DoubleType().as_pointer()), align=8)

    return types.float64(types.int64), codegen


@intrinsic
def store_f32(typingctx, address, value):
    """Write a float32."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], ir.FloatType().as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.float32), codegen


@intrinsic
def store_f64(typingctx, address, value):
    """Write a float64."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], ir.DoubleType().as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), codegen
