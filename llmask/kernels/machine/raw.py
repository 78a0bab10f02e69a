"""Raw memory: room that one call borrows, unaligned reads, vectors; and arithmetic modulo 2^64.

Encoders read texts at any byte, eight at a time, and need room that grows with a word. Tables of `memory.py` live as
long as their owner; this room is gone when the call returns.

Hashes drop what a product has beyond 64 bits. `*` of signed numbers must not: numba tells LLVM that it never happens
(`mul nsw`), and where the signs of both factors are seen at compile time the sign of the product is taken from them.
`mix(constant, a byte)` shifted zeros in where every other caller of `mix` shifted ones in.

In: addresses, numbers. Out: numbers, addresses. Cost: a load; 50 ns an allocation.
"""

from .atomics import pointer_to
from .numba_names import ir, primitive, types

# address of fresh memory, 0 if memory is short; `give_back` it in the same call
borrow = types.ExternalFunction("malloc", types.int64(types.int64))
borrow_zeros = types.ExternalFunction("calloc", types.int64(types.int64, types.int64))
give_back = types.ExternalFunction("free", types.void(types.int64))


def _make_load(name, bits):
    @primitive("int64(int64)", name)
    def load(builder, address):
        value = builder.load(pointer_to(builder, address, bits), align=1)
        return value if bits == 64 else builder.zext(value, ir.IntType(64))

    return load


load_word = _make_load("load_word", 64)  # eight bytes at any address
load_u16 = _make_load("load_u16", 16)
load_u32 = _make_load("load_u32", 32)


@primitive("int64(int64, int64)")
def shift_right(builder, left, right):
    """Logical shift: zeros come in from the left."""
    return builder.lshr(left, right)


@primitive("int64(int64, int64)")
def wrapped_product(builder, left, right):
    """The lowest 64 bits of a product."""
    return builder.mul(left, right)


@primitive("int64(int64, int64)")
def wrapped_sum(builder, left, right):
    """The lowest 64 bits of a sum."""
    return builder.add(left, right)


VECTOR_BYTES = 64
_VECTOR_ITEMS = VECTOR_BYTES // 4


def _load_vector(builder, address):
    return builder.load(builder.inttoptr(address, ir.VectorType(ir.IntType(32), _VECTOR_ITEMS).as_pointer()), align=4)


@primitive("void(int64, int64, int64)")
def and_vectors(builder, destination, one, other):
    """Write to an address what VECTOR_BYTES at two others have in common; all are addresses of int32.

    Loops over addresses that are numbers are not made into vectors by the compiler.
    """
    common = builder.and_(_load_vector(builder, one), _load_vector(builder, other))
    builder.store(common, builder.inttoptr(destination, common.type.as_pointer()), align=4)


@primitive("int64(int64, int64)")
def differ_vectors(builder, one, other):
    """Other than 0 when VECTOR_BYTES at two addresses of int32 are not the same."""
    flags = builder.icmp_unsigned("!=", _load_vector(builder, one), _load_vector(builder, other))
    return builder.zext(builder.bitcast(flags, ir.IntType(_VECTOR_ITEMS)), ir.IntType(64))


@primitive("void(int64)")
def prefetch(builder, address):
    """Have the cache line at an address read, which is going to be asked for soon."""
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    type_ = ir.FunctionType(ir.VoidType(), (pointer, number, number, number))
    function = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), type_)
    to_read, keep_near, data = number(0), number(3), number(1)
    builder.call(function, (builder.inttoptr(address, pointer), to_read, keep_near, data))


@primitive("void(int64, int64)")
def take_bit(builder, words, bit):
    """Set a bit of int32[...] at an address to 0; in 32 bits, for which there is one instruction."""
    word = ir.IntType(32)
    number = builder.trunc(bit, word)
    index = builder.zext(builder.lshr(number, word(5)), ir.IntType(64))
    place = builder.gep(pointer_to(builder, words, 32), [index])
    mask = builder.not_(builder.shl(word(1), builder.and_(number, word(31))))
    builder.store(builder.and_(builder.load(place, align=4), mask), place, align=4)
