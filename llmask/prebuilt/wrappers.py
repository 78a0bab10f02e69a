"""How Python calls a door: a function of the kind METH_FASTCALL around each, written as LLVM IR, and their table.

    PyObject *llmask_door_NAME(PyObject *self, PyObject *const *arguments, Py_ssize_t n)

Numbers come through PyLong_AsLongLong, arrays through the buffer protocol: contiguous, writable, of the right type and
number of dimensions, or a TypeError. The compiled function runs without the interpreter's lock unless it works on
objects of Python. Everything that is called is in Python's stable ABI of 3.11, and has the same layout in 3.10, so a
library belongs to no version of Python. Neither a C compiler nor Python.h is needed.

In: signatures of doors. Out: an LLVM module with `llmask_methods`, an array of PyMethodDef. Cost: milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

METH_FASTCALL = 0x0080
BUFFER_FLAGS = 0x0001 | 0x0004 | 0x0038  # PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS

BYTE, INT, LONG, VOID = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.VoidType()
POINTER = BYTE.as_pointer()
# struct Py_buffer: buf, obj, len, itemsize, readonly, ndim, format, shape, strides, suboffsets, internal
BUFFER = ir.LiteralStructType(
    [POINTER, POINTER, LONG, LONG, INT, INT, POINTER, LONG.as_pointer(), LONG.as_pointer(), POINTER, POINTER]
)
DATA, LENGTH, ITEM_SIZE, DIMENSIONS, FORMAT, SHAPE, STRIDES = 0, 2, 3, 5, 6, 7, 8
METHOD = ir.LiteralStructType([POINTER, POINTER, INT, POINTER])  # PyMethodDef

# format characters of the buffer protocol (C has two for some sizes), and bytes of an item
ITEMS = {
    "int64": ("l", "q", 8),
    "int32": ("i", "l", 4),
    "uint32": ("I", "L", 4),
    "uint16": ("H", "H", 2),
    "uint8": ("B", "B", 1),
    "int8": ("b", "b", 1),
    "boolean": ("?", "?", 1),
}


@dataclass(frozen=True)
class Door:
    """What a wrapper has to know of a door."""

    name: str
    signature: str  # as it is declared: "int64(int64, int32[:, ::1])"
    symbol: str  # of the compiled function
    holds_lock: bool

    @property
    def result(self) -> str:
        """Type of what it returns: int64 or void."""
        result = self.signature.partition("(")[0]
        if result not in ("int64", "void"):
            raise ValueError(f"{self.name} returns {result}: a door returns int64 or void")
        return result

    @property
    def arguments(self) -> list[tuple[str, int]]:
        """Type of an item and dimensions of every argument; a number has 0."""
        inner = self.signature.replace(" ", "").partition("(")[2].removesuffix(")")
        found = re.findall(r"(\w+)(\[[^\]]*\])?", inner)
        arguments = [(item, dimensions.count(",") + 1 if dimensions else 0) for item, dimensions in found]
        for item, dimensions in arguments:
            if item not in ITEMS or (dimensions == 0 and item != "int64"):
                raise ValueError(f"{self.name} takes {item}: a number is int64, an array one of {', '.join(ITEMS)}")
        return arguments


def wrappers(doors: Sequence[Door], triple: str, data_layout: str) -> Any:
    """The module with a wrapper for each door and the table of them."""
    module = ir.Module("wrappers")
    module.triple, module.data_layout = triple, data_layout
    writer = _Writer(module)
    methods = [[writer.text(door.name), writer.door(door).bitcast(POINTER), INT(METH_FASTCALL)] for door in doors]
    entries = [ir.Constant(METHOD, [*method, POINTER(None)]) for method in methods]
    table_type = ir.ArrayType(METHOD, len(entries) + 1)
    table = ir.GlobalVariable(module, table_type, "llmask_methods")
    table.initializer = ir.Constant(table_type, [*entries, ir.Constant(METHOD, None)])
    return module


class _Writer:
    """One module in the making."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.n_texts = 0
        self.as_long = self.external("PyLong_AsLongLong", LONG, POINTER)
        self.from_long = self.external("PyLong_FromLongLong", POINTER, LONG)
        self.error_occurred = self.external("PyErr_Occurred", POINTER)
        self.no_memory = self.external("PyErr_NoMemory", POINTER)
        self.set_error = self.external("PyErr_SetString", VOID, POINTER, POINTER)
        self.get_buffer = self.external("PyObject_GetBuffer", INT, POINTER, BUFFER.as_pointer(), INT)
        self.release_buffer = self.external("PyBuffer_Release", VOID, BUFFER.as_pointer())
        self.save_thread = self.external("PyEval_SaveThread", POINTER)
        self.restore_thread = self.external("PyEval_RestoreThread", VOID, POINTER)
        self.add_reference = self.external("Py_IncRef", VOID, POINTER)
        self.none = ir.GlobalVariable(module, BYTE, "_Py_NoneStruct")
        self.type_error = ir.GlobalVariable(module, POINTER, "PyExc_TypeError")
        self.take_array = self.array_taker()

    def external(self, name: str, result: Any, *arguments: Any) -> Any:
        return ir.Function(self.module, ir.FunctionType(result, arguments), name)

    def text(self, content: str) -> Any:
        """Pointer to a text, with a zero at its end."""
        data = bytearray(content.encode() + b"\0")
        constant = ir.GlobalVariable(self.module, ir.ArrayType(BYTE, len(data)), f"text.{self.n_texts}")
        self.n_texts += 1
        constant.initializer = ir.Constant(constant.value_type, data)
        constant.linkage, constant.global_constant = "internal", True
        return constant.bitcast(POINTER)

    def raise_type_error(self, builder: Any, message: str) -> None:
        builder.call(self.set_error, [builder.load(self.type_error), self.text(message)])

    def array_taker(self) -> Any:
        """A function (object, view, dimensions, item size, format, other format) -> 1, or 0 and a TypeError."""
        arguments = [POINTER, BUFFER.as_pointer(), INT, LONG, BYTE, BYTE]
        function = ir.Function(self.module, ir.FunctionType(INT, arguments), "llmask_take_array")
        given, view, dimensions, size, kind, other = function.args
        builder = ir.IRBuilder(function.append_basic_block())
        got = builder.call(self.get_buffer, [given, view, INT(BUFFER_FLAGS)])
        with builder.if_then(builder.icmp_signed("<", got, INT(0)), likely=False):
            self.raise_type_error(builder, "not an array that is contiguous and writable")
            builder.ret(INT(0))
        form = _field(builder, view, FORMAT)
        first, second = builder.load(form), builder.load(builder.gep(form, [LONG(1)]))
        conditions = [
            builder.icmp_signed("==", _field(builder, view, DIMENSIONS), dimensions),
            builder.icmp_signed("==", _field(builder, view, ITEM_SIZE), size),
            builder.icmp_signed("==", second, BYTE(0)),
            builder.or_(builder.icmp_signed("==", first, kind), builder.icmp_signed("==", first, other)),
        ]
        fits = conditions[0]
        for condition in conditions[1:]:
            fits = builder.and_(fits, condition)
        with builder.if_then(builder.not_(fits), likely=False):
            builder.call(self.release_buffer, [view])
            self.raise_type_error(builder, "an array of another type or number of dimensions")
            builder.ret(INT(0))
        builder.ret(INT(1))
        return function

    def door(self, door: Door) -> Any:
        """The wrapper of one door."""
        wrapper_type = ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer(), LONG])
        wrapper = ir.Function(self.module, wrapper_type, f"llmask_door_{door.name}")
        builder = ir.IRBuilder(wrapper.append_basic_block())
        _, given, n_given = wrapper.args
        arguments = door.arguments
        views = [builder.alloca(BUFFER) for _, dimensions in arguments if dimensions]
        with builder.if_then(builder.icmp_signed("!=", n_given, LONG(len(arguments))), likely=False):
            self.raise_type_error(builder, f"{door.name}() takes {len(arguments)} arguments")
            builder.ret(POINTER(None))
        taken: list[Any] = []  # the views that are to be given back

        def release_taken() -> None:
            for view in reversed(taken):
                builder.call(self.release_buffer, [view])

        def leave() -> None:
            release_taken()
            builder.ret(POINTER(None))

        passed: list[Any] = []
        for i, (item, dimensions) in enumerate(arguments):
            object_ = builder.load(builder.gep(given, [LONG(i)]))
            if dimensions == 0:
                passed.append(self.number(builder, object_, leave))
                continue
            view = views[len(taken)]
            kind, other, size = ITEMS[item]
            asked = [object_, view, INT(dimensions), LONG(size), BYTE(ord(kind)), BYTE(ord(other))]
            took = builder.call(self.take_array, asked)
            with builder.if_then(builder.icmp_signed("==", took, INT(0)), likely=False):
                leave()
            taken.append(view)
            passed += _array_arguments(builder, view, size, dimensions)
        returned = ir.LiteralStructType([INT, POINTER if door.result == "void" else LONG])
        function = self.external(door.symbol, returned, *(argument.type for argument in passed))
        if door.holds_lock:
            status_and_value = builder.call(function, passed)
        else:
            thread = builder.call(self.save_thread, [])
            status_and_value = builder.call(function, passed)
            builder.call(self.restore_thread, [thread])
        release_taken()
        # the one exception that kernels raise without bounds checks is MemoryError
        status = builder.extract_value(status_and_value, 0)
        with builder.if_then(builder.icmp_signed("!=", status, INT(0)), likely=False):
            builder.ret(builder.call(self.no_memory, []))
        if door.result == "void":
            builder.call(self.add_reference, [self.none])
            builder.ret(self.none)
        else:
            builder.ret(builder.call(self.from_long, [builder.extract_value(status_and_value, 1)]))
        return wrapper

    def number(self, builder: Any, object_: Any, leave: Callable[[], None]) -> Any:
        number = builder.call(self.as_long, [object_])
        with builder.if_then(builder.icmp_signed("==", number, LONG(-1)), likely=False):
            error = builder.ptrtoint(builder.call(self.error_occurred, []), LONG)
            with builder.if_then(builder.icmp_signed("!=", error, LONG(0))):
                leave()
        return number


def _field(builder: Any, view: Any, number: int) -> Any:
    return builder.load(builder.gep(view, [INT(0), INT(number)]))


def _array_arguments(builder: Any, view: Any, size: int, dimensions: int) -> list[Any]:
    """An array as numba passes it: meminfo and parent, which may be null, items, item size, data, shape, strides."""
    n_items = builder.sdiv(_field(builder, view, LENGTH), LONG(size))
    lists = [_field(builder, view, SHAPE), _field(builder, view, STRIDES)]
    extents = [builder.load(builder.gep(where, [LONG(axis)])) for where in lists for axis in range(dimensions)]
    return [POINTER(None), POINTER(None), n_items, LONG(size), _field(builder, view, DATA), *extents]
