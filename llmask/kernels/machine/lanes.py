"""Thirty-two values at an address, handled at once: what a word of a bitmask says about as many logits.

The values are integers of 16, 32 or 64 bits, whatever number they stand for. Addresses need no alignment beyond a byte.
LLVM makes of each operation what the processor has: blends of SSE, AVX or NEON, masked moves of AVX-512.

In: addresses, the bits of a word, one value. Out: values at an address.
Cost: 2-6 ns while the values are in the cache.
"""

from __future__ import annotations

from .atomics import pointer_to
from .numba_names import intrinsic, ir, named, types

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


def _make_choose(bits):
    @named(f"choose_{bits}")
    def choose(typingctx, destination, source, word, other):
        """Write to `destination` the values at `source` whose bits are set in `word`, and `other` for the rest."""

        def codegen(context, builder, signature, args):
            destination, source, word, other = args
            is_kept = _bits_set(builder, word, bits)
            values = builder.load(_pointer(builder, source, bits), align=1)
            chosen = builder.select(is_kept, values, _everywhere(builder, other, bits))
            builder.store(chosen, _pointer(builder, destination, bits), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), codegen

    return choose


def _make_copy(bits):
    @named(f"copy_{bits}")
    def copy(typingctx, destination, source):
        """Copy the values at `source`."""

        def codegen(context, builder, signature, args):
            values = builder.load(_pointer(builder, args[1], bits), align=1)
            builder.store(values, _pointer(builder, args[0], bits), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return copy


def _make_fill(bits):
    @named(f"fill_{bits}")
    def fill(typingctx, destination, value):
        """Write `value` everywhere."""

        def codegen(context, builder, signature, args):
            builder.store(_everywhere(builder, args[1], bits), _pointer(builder, args[0], bits), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return fill


def _make_differing(bits):
    @named(f"differing_{bits}")
    def differing(typingctx, address, value):
        """0 where all values are `value`, another number elsewhere."""

        def codegen(context, builder, signature, args):
            values = builder.load(_pointer(builder, args[0], bits), align=1)
            left = builder.xor(values, _everywhere(builder, args[1], bits))
            n = LANES
            while n > 1:  # one half upon the other; comparing first is slow where the processor has no masks
                n //= 2
                halves = [[*range(n)], [*range(n, 2 * n)]]
                orders = [ir.Constant(ir.VectorType(ir.IntType(32), n), order) for order in halves]
                nothing = ir.Constant(left.type, ir.Undefined)
                left = builder.or_(*(builder.shuffle_vector(left, nothing, order) for order in orders))
            item = builder.extract_element(left, ir.IntType(32)(0))
            return item if bits == 64 else builder.zext(item, _I64)

        return types.int64(types.int64, types.int64), codegen

    return differing


def _make_load_item(bits):
    @named(f"load_item_{bits}")
    def load_item(typingctx, address):
        """One value, widened with zeros."""

        def codegen(context, builder, signature, args):
            item = builder.load(pointer_to(builder, args[0], bits), align=1)
            return item if bits == 64 else builder.zext(item, _I64)

        return types.int64(types.int64), codegen

    return load_item


def _make_store_item(bits):
    @named(f"store_item_{bits}")
    def store_item(typingctx, address, value):
        """Write one value."""

        def codegen(context, builder, signature, args):
            item = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
            builder.store(item, pointer_to(builder, args[0], bits), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return store_item


choose_16, choose_32, choose_64 = map(_make_choose, (16, 32, 64))
copy_16, copy_32, copy_64 = map(_make_copy, (16, 32, 64))
fill_16, fill_32, fill_64 = map(_make_fill, (16, 32, 64))
differing_16, differing_32, differing_64 = map(_make_differing, (16, 32, 64))
load_item_16, load_item_32, load_item_64 = map(_make_load_item, (16, 32, 64))
store_item_16, store_item_32, store_item_64 = map(_make_store_item, (16, 32, 64))


@intrinsic
def lowest_bit(typingctx, bits):
    """Number of the lowest bit that is set in a number that is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


@intrinsic
def without_lowest_bit(typingctx, bits):
    """A number with its lowest bit set to 0."""

    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.sub(args[0], _I64(1)))

    return types.int64(types.int64), codegen


@intrinsic
def count_bits(typingctx, bits):
    """How many bits are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen
