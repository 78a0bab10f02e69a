"""Kernels as plain Python: the primitives of the machine by ctypes, over the same memory.

With `LLMASK_KERNELS=python` nothing is compiled: `breakpoint()`, `print`, line coverage and mutation work inside of
kernels. Masks, numbers of what is interned and units of work are the same, bit for bit. A mask takes a thousand times
as long, so use a vocabulary of some hundred tokens. Each primitive has its body here, under its name. Every access of a
table is checked (`LLMASK_CHECK_BOUNDS`), and so is every number that is stored: one that does not fit is an
ArithmeticError, where machine code would cut it off.

In: functions, addresses, numbers. Out: functions, numbers. Cost: 0.3 us a load.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from .records import load, store
from .views import BlockView, TableView

__all__ = ["door", "intrinsic", "types"]

_LOW_64 = (1 << 64) - 1
_VECTOR_BYTES = 64
_LANES = 32
_one_at_a_time = threading.Lock()  # for what is one instruction elsewhere


# --- declarations, as in compiling.py


def door(signature: str, group: str, holds_lock: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """An entry point that Python calls; arrays are taken with the types that its signature says, as elsewhere."""
    _, _, given = signature.partition("(")
    arrays = [name.partition("[")[0] for name in given.rstrip(")").replace("[:, ::1]", "[]").split(", ") if name]

    def declare(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def run(*arguments: Any) -> Any:
            taken: list[Any] = []
            for argument, dtype in zip(arguments, arrays, strict=True):
                if isinstance(argument, np.ndarray):
                    if argument.dtype != np.dtype(dtype.replace("boolean", "bool")):
                        raise TypeError(f"{function.__name__}: an array of {argument.dtype}, where it takes {dtype}")
                    taken.append(Items(argument))
                else:
                    taken.append(int(argument))
            return function(*taken)

        return run

    return declare


class Items:
    """An array of NumPy whose items are read as Python's integers, which have no width that could be exceeded."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array, self.shape, self.ctypes = array, array.shape, array.ctypes

    def __getitem__(self, index: Any) -> int:
        return int(self._array[index])

    def __setitem__(self, index: Any, value: int) -> None:
        self._array[index] = value

    def __len__(self) -> int:
        return len(self._array)


class _Signature(tuple[Any, ...]):
    """Result and arguments of an external function."""


class _Type:
    """A type of a signature; called with the types of its arguments it is the type of a function."""

    def __init__(self, native: Any) -> None:
        self.native = native

    def __call__(self, *arguments: _Type) -> _Signature:
        return _Signature((self.native, [argument.native for argument in arguments]))


def _external_function(name: str, signature: _Signature) -> Any:
    """A function of the C library, or of Python's own, which want the interpreter's lock."""
    library = ctypes.pythonapi if name.startswith("Py") else ctypes.CDLL(None)
    function = library[name]  # a new object, unlike an attribute
    function.restype, function.argtypes = signature
    return function


types = SimpleNamespace(  # what kernels name of numba's types at the top of their modules
    int64=_Type(ctypes.c_int64),
    int32=_Type(ctypes.c_int32),
    void=_Type(None),
    CPointer=lambda of: of,
    ExternalFunction=_external_function,
)


def intrinsic(function: Callable[..., Any]) -> Any:
    """The body of a primitive in Python, found here by its name."""
    return globals()[function.__name__]


# --- loads and stores


load_u8, load_u16, load_i32, load_i64 = (functools.partial(load, bits=bits) for bits in (8, 16, 32, 64))
load_word, load_acquire, load_acquire_i32 = load_i64, load_i64, load_i32


def load_u32(address: int) -> int:
    return load(address, 32) & 0xFFFFFFFF


def load_f32(address: int) -> float:
    return ctypes.c_float.from_address(address).value


def _storer(bits: int) -> Callable[[int, int], None]:
    return lambda address, value: store(address, bits, value)


store_u8, store_i32, store_i64 = map(_storer, (8, 32, 64))
store_release, publish_i32 = store_i64, store_i32


def copy_bytes(destination: int, source: int, n_bytes: int) -> None:
    ctypes.memmove(destination, source, n_bytes)


def fill_bytes(destination: int, n_bytes: int, value: int) -> None:
    ctypes.memset(destination, value & 0xFF, n_bytes)


# --- tables


TABLE = None  # nothing asks for the type of a table


def as_table(address: int) -> TableView:
    return TableView(address)


def address_of(table: TableView) -> int:
    return table.address


def loaded_again(block: BlockView) -> BlockView:
    return BlockView(block.table, block.slot, block.declared)


def item_bytes(block: BlockView) -> int:
    return block.item_bytes


# --- numbers of 64 bits


def _signed(number: int) -> int:
    number &= _LOW_64
    return number - (1 << 64) if number >> 63 else number


def wrapped_product(left: int, right: int) -> int:
    return _signed(left * right)


def wrapped_sum(left: int, right: int) -> int:
    return _signed(left + right)


def shift_right(number: int, n_bits: int) -> int:
    return _signed((number & _LOW_64) >> n_bits)


def lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def without_lowest_bit(bits: int) -> int:
    return _signed(bits & bits - 1)


def count_bits(bits: int) -> int:
    return (bits & _LOW_64).bit_count()


def rounded_unless(is_exact: int, number: float) -> float:
    return number if is_exact else float(np.float32(number))


# --- what other threads see


def fetch_add(address: int, value: int) -> int:
    with _one_at_a_time:
        before: int = load_i64(address)
        store_i64(address, before + value)
        return before


def exchange(address: int, expected: int, value: int) -> int:
    with _one_at_a_time:
        if load_i64(address) != expected:
            return 0
        store_i64(address, value)
        return 1


# --- calls by an address

_code: list[Callable[[int, int], int]] = []


def address_of_code(function: Callable[[int, int], int]) -> int:
    if function not in _code:
        _code.append(function)
    return _code.index(function) + 1  # 0: no code


def call_at(address: int, one: int, other: int) -> int:
    return _code[address - 1](one, other)


# --- vectors


def prefetch(address: int) -> None:
    pass


def take_bit(words: int, bit: int) -> None:
    place = words + (bit >> 5) * 4
    store_i32(place, load_i32(place) & ~(1 << (bit & 31)) & 0xFFFFFFFF)


def and_vectors(destination: int, one: int, other: int) -> None:
    for at in range(0, _VECTOR_BYTES, 4):
        store_i32(destination + at, load_i32(one + at) & load_i32(other + at))


def differ_vectors(one: int, other: int) -> int:
    return int(ctypes.string_at(one, _VECTOR_BYTES) != ctypes.string_at(other, _VECTOR_BYTES))


_ROWS = {size: native * _LANES for size, native in ((2, ctypes.c_uint16), (4, ctypes.c_uint32), (8, ctypes.c_uint64))}


def _bits_of(value: int, size: int) -> int:
    return value & (1 << 8 * size) - 1


def choose_lanes(destination: int, source: int, word: int, other: int, size: int) -> None:
    values, bits = list(_ROWS[size].from_address(source)), _bits_of(other, size)
    _ROWS[size].from_address(destination)[:] = [value if word >> i & 1 else bits for i, value in enumerate(values)]


def copy_lanes(destination: int, source: int, size: int) -> None:
    copy_bytes(destination, source, _LANES * size)


def fill_lanes(destination: int, value: int, size: int) -> None:
    _ROWS[size].from_address(destination)[:] = [_bits_of(value, size)] * _LANES


def differing_lanes(address: int, value: int, size: int) -> int:
    return int(any(item != _bits_of(value, size) for item in _ROWS[size].from_address(address)))


def load_item(address: int, size: int) -> int:
    return _signed(int.from_bytes(ctypes.string_at(address, size), sys.byteorder))


def store_item(address: int, value: int, size: int) -> None:
    ctypes.memmove(address, _bits_of(value, size).to_bytes(size, sys.byteorder), size)
