"""Memory that one call borrows, and reads that need not be aligned: what the encoders share beside `memory.py`.

Encoders read texts at any byte, eight at a time, and need room that grows with a word. Tables of `memory.py` live as
long as their owner; this room is gone when the call returns.

Hashes drop what a product has beyond 64 bits. `*` of signed numbers must not: numba tells LLVM that it never happens
(`mul nsw`), and where the signs of both factors are seen at compile time the sign of the product is taken from them.
`mix(constant, a byte)` shifted zeros in where every other caller of `mix` shifted ones in.

In: addresses, numbers. Out: numbers, addresses. Cost: a load; 50 ns an allocation.
"""

from __future__ import annotations

from .numba_names import intrinsic, ir, named, types

# address of fresh memory, 0 when there is none; `give_back` it in the same call
borrow = types.ExternalFunction("malloc", types.int64(types.int64))
borrow_zeros = types.ExternalFunction("calloc", types.int64(types.int64, types.int64))
give_back = types.ExternalFunction("free", types.void(types.int64))


def _make_load(name, bits):
    @named(name)
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = builder.load(pointer, align=1)
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), codegen

    return load


load_word = _make_load("load_word", 64)  # eight bytes at any address
load_u16 = _make_load("load_u16", 16)
load_u32 = _make_load("load_u32", 32)


def _make_operation(name, operation):
    @named(name)
    def operate(typingctx, left, right):
        def codegen(context, builder, signature, args):
            return getattr(builder, operation)(args[0], args[1])

        return types.int64(types.int64, types.int64), codegen

    return operate


shift_right = _make_operation("shift_right", "lshr")  # logical: zeros come in from the left
wrapped_product = _make_operation("wrapped_product", "mul")  # the lowest 64 bits of it
wrapped_sum = _make_operation("wrapped_sum", "add")

VECTOR_BYTES = 64


@intrinsic
def and_vectors(typingctx, destination, one, other):
    """Write to an address what VECTOR_BYTES at two others have in common; all are addresses of int32.

    Loops over addresses that are numbers are not made into vectors by the compiler.
    """

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(ir.IntType(32), VECTOR_BYTES // 4).as_pointer()
        target, one, other = (builder.inttoptr(address, vector) for address in args)
        builder.store(builder.and_(builder.load(one, align=4), builder.load(other, align=4)), target, align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def differ_vectors(typingctx, one, other):
    """Other than 0 when VECTOR_BYTES at two addresses of int32 are not the same."""

    def codegen(context, builder, signature, args):
        n = VECTOR_BYTES // 4
        vector = ir.VectorType(ir.IntType(32), n).as_pointer()
        one, other = (builder.load(builder.inttoptr(address, vector), align=4) for address in args)
        flags = builder.bitcast(builder.icmp_unsigned("!=", one, other), ir.IntType(n))
        return builder.zext(flags, ir.IntType(64))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def prefetch(typingctx, address):
    """Have the cache line at an address read, which is going to be asked for soon."""

    def codegen(context, builder, signature, args):
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        type_ = ir.FunctionType(ir.VoidType(), (pointer, number, number, number))
        function = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), type_)
        to_read, keep_near, data = number(0), number(3), number(1)
        builder.call(function, (builder.inttoptr(args[0], pointer), to_read, keep_near, data))
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def take_bit(typingctx, words, bit):
    """Set a bit of int32[...] at an address to 0; in 32 bits, for which there is one instruction."""

    def codegen(context, builder, signature, args):
        word, one = ir.IntType(32), ir.Constant(ir.IntType(32), 1)
        number = builder.trunc(args[1], word)
        index = builder.zext(builder.lshr(number, ir.Constant(word, 5)), ir.IntType(64))
        place = builder.gep(builder.inttoptr(args[0], word.as_pointer()), [index])
        mask = builder.not_(builder.shl(one, builder.and_(number, ir.Constant(word, 31))))
        builder.store(builder.and_(builder.load(place, align=4), mask), place, align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen
