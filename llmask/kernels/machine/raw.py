"""Raw memory: room that one call borrows, unaligned reads, vectors, calls; and arithmetic modulo 2^64.

Encoders read texts at any byte, eight at a time, and need room that grows with a word. Tables of `memory.py` live as
long as their owner; this room is gone when the call returns.

One door has the code of the builders, and others call it by its address: a door is compiled with all that it calls, and
where two doors build, each would have the whole engine.

Hashes drop what a product has beyond 64 bits. `*` of signed numbers must not: numba tells LLVM that it never happens
(`mul nsw`), and where the signs of both factors are seen at compile time the sign of the product is taken from them.
`mix(constant, a byte)` shifted zeros in where every other caller of `mix` shifted ones in.

In: addresses, numbers. Out: numbers, addresses. Cost: a load; 50 ns an allocation; 2 ns a call.
"""

from .atomics import pointer_to
from .numba_names import intrinsic, ir, primitive, types

# address of fresh memory, 0 if memory is short; `give_back` it in the same call
borrow = types.ExternalFunction("malloc", types.int64(types.int64))
borrow_zeros = types.ExternalFunction("calloc", types.int64(types.int64, types.int64))
give_back = types.ExternalFunction("free", types.void(types.int64))


def make_load(name, bits, align=1, is_signed=False):
    @primitive("int64(int64)", name)
    def load(builder, address):
        value = builder.load(pointer_to(builder, address, bits), align=align)
        if bits == 64:
            return value
        return builder.sext(value, ir.IntType(64)) if is_signed else builder.zext(value, ir.IntType(64))

    return load


load_word = make_load("load_word", 64)  # eight bytes at any address
load_u16, load_u32 = make_load("load_u16", 16), make_load("load_u32", 32)


@primitive("float32(int64)")
def load_f32(builder, address):
    """A float at an address."""
    return builder.load(builder.inttoptr(address, ir.FloatType().as_pointer()), align=4)


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


@intrinsic
def address_of_code(typingctx, function):
    """Address of the code of a kernel that takes two numbers and returns one."""
    numbers = (types.int64, types.int64)
    function.get_call_type(typingctx, numbers, {})  # compiles it

    def codegen(context, builder, signature, args):
        compiled = function.dispatcher.overloads[numbers]
        context.active_code_library.add_linking_library(compiled.library)
        code = context.declare_function(builder.module, compiled.fndesc)
        return builder.ptrtoint(code, ir.IntType(64))

    return types.int64(function), codegen


@intrinsic
def call_at(typingctx, address, one, other):
    """What the kernel at an address returns for two numbers; it raises what that raises."""
    numbers = (types.int64, types.int64)

    def codegen(context, builder, signature, args):
        code = builder.inttoptr(args[0], context.call_conv.get_function_type(types.int64, numbers).as_pointer())
        status, result = context.call_conv.call_function(builder, code, types.int64, numbers, args[1:])
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, types.int64, types.int64), codegen
