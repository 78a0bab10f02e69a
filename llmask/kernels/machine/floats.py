"""Floating-point numbers at addresses, and sums that may be rounded.

In: addresses, numbers. Out: numbers. Cost: a load, a store, a rounding.
"""

from .numba_names import ir, primitive


def _pointer(builder, address, bits):
    return builder.inttoptr(address, (ir.FloatType() if bits == 32 else ir.DoubleType()).as_pointer())


def _make_load(bits):
    @primitive(f"float{bits}(int64)", f"load_f{bits}")
    def load(builder, address):
        """A float at an address."""
        return builder.load(_pointer(builder, address, bits), align=bits // 8)

    return load


def _make_store(bits):
    @primitive(f"void(int64, float{bits})", f"store_f{bits}")
    def store(builder, address, value):
        """Write a float."""
        builder.store(value, _pointer(builder, address, bits), align=bits // 8)

    return store


load_f32, load_f64 = map(_make_load, (32, 64))
store_f32, store_f64 = map(_make_store, (32, 64))


@primitive("float64(int64, float64)")
def rounded_unless(builder, is_exact, number):
    """A float64 as it is, or rounded to float32 where `is_exact` is 0.

    A jump that the processor foresees. Written as a condition it becomes two roundings and a choice, and a search that
    waits for its own sums waits twice as long for each of them.
    """
    before = builder.block
    is_rounded = builder.icmp_signed("==", is_exact, is_exact.type(0))
    rounding, after = builder.append_basic_block("rounding"), builder.append_basic_block("after")
    builder.cbranch(is_rounded, rounding, after).set_weights([1, 1000])
    builder.position_at_end(rounding)
    rounded = builder.fpext(builder.fptrunc(number, ir.FloatType()), ir.DoubleType())
    builder.branch(after)
    builder.position_at_end(after)
    chosen = builder.phi(ir.DoubleType())
    chosen.add_incoming(number, before)
    chosen.add_incoming(rounded, rounding)
    return chosen
