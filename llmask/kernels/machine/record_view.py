"""A record from Python: its fields are its attributes.

In: addresses, declarations of machine/records.py. Out: numbers. Cost: 1 us an access.
"""

from __future__ import annotations

import ctypes
from typing import Any

_NUMBERS = {8: ctypes.c_uint8, 32: ctypes.c_int32, 64: ctypes.c_int64}
_FLOATS = {32: ctypes.c_float, 64: ctypes.c_double}


def load(address: int, bits: int) -> int:
    """A number of some bits; 8 bits have no sign."""
    return _NUMBERS[bits].from_address(address).value


def store(address: int, bits: int, value: int) -> None:
    """Write a number; one that does not fit is an ArithmeticError."""
    low = -128 if bits == 8 else -(1 << 63) if bits == 64 else -(1 << 32)  # 32 bits with all above them alike
    if not low <= value < (256 if bits == 8 else -low):
        raise ArithmeticError(f"{value} does not fit into {bits} bits")
    _NUMBERS[bits].from_address(address).value = int(value)


class RecordView:
    """One record; fields and flags by their names. Without a table others that follow it by their numbers, too."""

    def __init__(self, table: Any, declared: Any, number: int, address: int) -> None:
        self.__dict__.update(_table=table, _declared=declared, _number=number, address=address)  # fields have any name

    def __getitem__(self, number: int) -> RecordView:
        assert self._table is None, "items of a block are asked of the block"
        address = self.address + number * self._declared.n_bytes
        return RecordView(None, self._declared, self._number + number, address)

    def __setitem__(self, number: int, source: RecordView) -> None:
        ctypes.memmove(self[number].address, source.address, self._declared.n_bytes)

    def __getattr__(self, name: str) -> Any:
        if name in self._declared.flags:
            place, bit = self._declared.flags[name]
            return load(self.address + 4 * place, 32) & bit != 0
        if name not in self._declared.places:
            raise AttributeError(f"{self._declared.slot} have no field {name!r}")
        bits, is_float = self._declared.width(name)
        if is_float:
            return _FLOATS[bits].from_address(self._at(name)).value
        return load(self._at(name), bits)

    def __setattr__(self, name: str, value: int) -> None:
        if name in self._declared.flags:
            place, bit = self._declared.flags[name]
            word = load(self.address + 4 * place, 32)
            store(self.address + 4 * place, 32, word | bit if value else word & ~bit)
            return
        limit = self._declared.limits.get(name)
        if limit is not None and self._table is not None and not 0 <= value < getattr(self._table, limit):
            raise ArithmeticError(f"{name} = {value}, which is not below {limit}")
        bits, is_float = self._declared.width(name)
        if is_float:
            _FLOATS[bits].from_address(self._at(name)).value = float(value)
        else:
            store(self._at(name), bits, value)

    def _at(self, name: str) -> int:
        address: int = self.address + self._declared.offset(name)
        return address

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)}" for name in self._declared.names)
        flags = (name for name in self._declared.flags if getattr(self, name))
        return f"{self._declared.slot}[{self._number}]({', '.join([*fields, *flags])})"
