"""Calls of compiled code by its address: one door has the code of the builders, and others may call it.

A door is compiled with all that it calls. Where two doors build, each would have the whole engine.

In: kernels, addresses, numbers. Out: numbers. Cost: 2 ns.
"""

from .numba_names import intrinsic, ir, types


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
