"""Floating-point numbers at addresses, and sums that may be rounded.

In: addresses, numbers. Out: numbers. Cost: a load, a store, a rounding.
"""

from __future__ import annotations

from .numba_names import intrinsic, ir, types


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


@intrinsic
def rounded_unless(typingctx, is_exact, number):
    """A float64 as it is, or rounded to float32 where `is_exact` is 0.

    A jump that the processor foresees. Written as a condition it becomes two roundings and a choice, and a search that
    waits for its own sums waits twice as long for each of them.
    """

    def codegen(context, builder, signature, args):
        before = builder.block
        is_rounded = builder.icmp_signed("==", args[0], ir.Constant(args[0].type, 0))
        rounding, behind = builder.append_basic_block("rounding"), builder.append_basic_block("behind")
        builder.cbranch(is_rounded, rounding, behind).set_weights([1, 1000])
        builder.position_at_end(rounding)
        rounded = builder.fpext(builder.fptrunc(args[1], ir.FloatType()), ir.DoubleType())
        builder.branch(behind)
        builder.position_at_end(behind)
        chosen = builder.phi(ir.DoubleType())
        chosen.add_incoming(args[1], before)
        chosen.add_incoming(rounded, rounding)
        return chosen

    return types.float64(types.int64, types.float64), codegen
