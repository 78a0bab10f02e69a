"""Vectors of 32 values at an address: what a word of a bitmask says about as many logits.

The values are integers of 16, 32 or 64 bits, the bits of any number. Addresses need no alignment beyond a byte.
LLVM makes of each operation what the processor has: blends of SSE, AVX or NEON, masked moves of AVX-512.

In: addresses, the bits of a word, one value. Out: values at an address.
Cost: 2-6 ns while the values are in the cache.
"""

import inspect

from .atomics import pointer_to
from .numba_names import ir, primitive

LANES = 32
_BITS = ir.IntType(LANES)
_I64 = ir.IntType(64)


def _lanes(bits):
    return ir.VectorType(ir.IntType(bits), LANES)


def _pointer(builder, address, bits):
    return builder.inttoptr(address, _lanes(bits).as_pointer())


def _everywhere(builder, value, bits):
    """A vector that has `value` in each lane."""
    item = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
    first = builder.insert_element(ir.Constant(_lanes(bits), ir.Undefined), item, ir.IntType(32)(0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_lanes(bits), ir.Undefined), order)


def _bits_set(builder, word, bits):
    """Whether bit i of a word is set, in lane i.

    Every lane gets the half of the word that its bit is in, and takes it out. A cast to bits would say the same; where
    the processor has no masks, LLVM makes 32 tests and jumps of it.
    """
    if bits == 16:
        halves = builder.bitcast(builder.trunc(word, _BITS), ir.VectorType(ir.IntType(16), 2))
        order = [0] * 16 + [1] * 16
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), order)
        copies = builder.shuffle_vector(halves, ir.Constant(halves.type, ir.Undefined), order)
    else:
        copies = _everywhere(builder, word, bits)
    item = ir.IntType(bits)
    places = ir.Constant(_lanes(bits), [item(1 << i % 16 if bits == 16 else 1 << i) for i in range(LANES)])
    return builder.icmp_unsigned("!=", builder.and_(copies, places), ir.Constant(_lanes(bits), [item(0)] * LANES))


def _of_each_size(signature):
    """Declare a primitive on values of 4, 2 or 8 bytes, with code for each; their size is its last argument."""

    def declare(emit):
        def choose_code(builder, *args):
            *given, size = args
            after = builder.append_basic_block("after")
            results = []
            for n_bytes in (4, 2):
                here, other = builder.append_basic_block(f"of_{n_bytes}"), builder.append_basic_block("of_others")
                builder.cbranch(builder.icmp_signed("==", size, _I64(n_bytes)), here, other)
                builder.position_at_end(here)
                results.append((emit(builder, 8 * n_bytes, *given), here))
                builder.branch(after)
                builder.position_at_end(other)
            results.append((emit(builder, 64, *given), builder.block))
            builder.branch(after)
            builder.position_at_end(after)
            if signature.startswith("void"):
                return None
            result = builder.phi(_I64)
            for value, block in results:
                result.add_incoming(value, block)
            return result

        builder, _, *given = inspect.signature(emit).parameters.values()
        size = inspect.Parameter("size", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        choose_code.__signature__ = inspect.Signature([builder, *given, size])
        choose_code.__doc__ = emit.__doc__
        return primitive(signature, emit.__name__)(choose_code)

    return declare


@_of_each_size("void(int64, int64, int64, int64, int64)")
def choose_lanes(builder, bits, destination, source, word, other):
    """Write to `destination` the values at `source` whose bits are set in `word`, and `other` for the rest."""
    is_kept = _bits_set(builder, word, bits)
    values = builder.load(_pointer(builder, source, bits), align=1)
    chosen = builder.select(is_kept, values, _everywhere(builder, other, bits))
    builder.store(chosen, _pointer(builder, destination, bits), align=1)


@_of_each_size("void(int64, int64, int64)")
def copy_lanes(builder, bits, destination, source):
    """Copy the values at `source`."""
    values = builder.load(_pointer(builder, source, bits), align=1)
    builder.store(values, _pointer(builder, destination, bits), align=1)


@_of_each_size("void(int64, int64, int64)")
def fill_lanes(builder, bits, destination, value):
    """Write `value` everywhere."""
    builder.store(_everywhere(builder, value, bits), _pointer(builder, destination, bits), align=1)


@_of_each_size("int64(int64, int64, int64)")
def differing_lanes(builder, bits, address, value):
    """0 where all values are `value`, another number elsewhere."""
    values = builder.load(_pointer(builder, address, bits), align=1)
    left = builder.xor(values, _everywhere(builder, value, bits))
    n = LANES
    while n > 1:  # one half upon the other; comparing first is slow where the processor has no masks
        n //= 2
        halves = [[*range(n)], [*range(n, 2 * n)]]
        orders = [ir.Constant(ir.VectorType(ir.IntType(32), n), order) for order in halves]
        nothing = ir.Constant(left.type, ir.Undefined)
        left = builder.or_(*(builder.shuffle_vector(left, nothing, order) for order in orders))
    item = builder.extract_element(left, ir.IntType(32)(0))
    return item if bits == 64 else builder.zext(item, _I64)


@_of_each_size("int64(int64, int64)")
def load_item(builder, bits, address):
    """One value as the number that its bits are; the sign of narrow ones is dropped."""
    item = builder.load(pointer_to(builder, address, bits), align=1)
    return item if bits == 64 else builder.zext(item, _I64)


@_of_each_size("void(int64, int64, int64)")
def store_item(builder, bits, address, value):
    """Write one value."""
    item = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
    builder.store(item, pointer_to(builder, address, bits), align=1)


@primitive("int64(int64)")
def lowest_bit(builder, bits):
    """Number of the lowest bit that is set in a number that is not 0."""
    return builder.cttz(bits, ir.IntType(1)(1))


@primitive("int64(int64)")
def without_lowest_bit(builder, bits):
    """A number with its lowest bit set to 0."""
    return builder.and_(bits, builder.sub(bits, _I64(1)))


@primitive("int64(int64)")
def count_bits(builder, bits):
    """How many bits are set."""
    return builder.ctpop(bits)
