"""How kernels of a prebuilt library call each other: results come back in registers.

    {int32 status, result} kernel(arguments)      status: 0, or not where memory is missing

Numba's own convention for processors writes a result, and where an exception comes from, to addresses that the caller
passes. Kernels raise MemoryError alone, which needs no description. A step of a first document takes a tenth less so,
and the library is a fifth smaller.

In: numba's context. Out: its calling convention for a process that builds libraries. Cost: none.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import callconv
from numba.core.cpu import CPUContext

NO_MEMORY = 1


class InRegisters(callconv.CPUCallConv):
    """Numba's convention for processors, with a status and a result that are returned."""

    def get_function_type(self, restype: Any, argtypes: Any) -> Any:
        """Type of a kernel's function."""
        result = self.get_return_type(restype).pointee
        returned = ir.LiteralStructType([callconv.errcode_t, result])
        return ir.FunctionType(returned, self._get_arg_packer(argtypes).argument_types)

    def decorate_function(self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = False) -> None:
        """Name the arguments."""
        self._get_arg_packer(fe_argtypes).assign_names(fn.args, [f"arg.{name}" for name in args])

    def get_arguments(self, func: Any) -> Any:
        """All arguments are Python's."""
        return func.args

    def return_value(self, builder: Any, retval: Any) -> None:
        """Return a result."""
        self._return(builder, callconv.RETCODE_OK, retval)

    def return_user_exc(self, builder: Any, exc: Any, *description: Any, **named: Any) -> None:
        """Return that memory is missing; nothing else is raised where bounds are not checked."""
        self._return(builder, callconv.errcode_t(NO_MEMORY))

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Return the status of a call."""
        self._return(builder, status.code)

    def _return_errcode_raw(self, builder: Any, code: Any) -> None:
        raise NotImplementedError("a kernel returns a result, and raises MemoryError alone")

    def _return(self, builder: Any, status: Any, result: Any = None) -> None:
        returned = builder.function.function_type.return_type(ir.Undefined)
        returned = builder.insert_value(returned, status, 0)
        builder.ret(returned if result is None else builder.insert_value(returned, result, 1))

    def call_function(self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None) -> Any:
        """Call a kernel; its status and result."""
        given = self._get_arg_packer(argtys).as_arguments(builder, args)
        returned = builder.call(callee, given, attrs=attrs or ())
        code = builder.extract_value(returned, 0)
        failed, no = builder.icmp_signed("!=", code, callconv.RETCODE_OK), ir.Constant(ir.IntType(1), 0)
        # ok, none, an error; StopIteration, one that is set already, one of the kernel's; where it is described
        kinds = builder.not_(failed), no, failed, no, no, failed, callconv.excinfo_ptr_t(ir.Undefined)
        result = builder.extract_value(returned, 1)
        return callconv.Status(code, *kinds), self.context.get_returned_value(builder, resty, result)


def return_in_registers() -> None:
    """From now on all that numba compiles in this process calls so; Python cannot call it."""
    CPUContext.call_conv = property(InRegisters)
