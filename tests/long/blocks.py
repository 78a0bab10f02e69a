"""The engine's tables read from Python: blocks of int32, and lists that are interned in them.

In: a `Table`, slots. Out: numbers. Cost: a microsecond a read.
"""

from __future__ import annotations

from ctypes import c_int32, c_uint8

from llmask.kernels.table import Table


class Blocks:
    """Reads one table; nothing may be written to it meanwhile."""

    def __init__(self, table: Table) -> None:
        self._slots = table.array

    def number(self, slot: int) -> int:
        """A slot that is a number."""
        return int(self._slots[slot])

    def ints(self, slot: int, first: int, n: int) -> list[int]:
        """`n` numbers of a block."""
        return list((c_int32 * n).from_address(int(self._slots[slot]) + 4 * first)) if n > 0 else []

    def at(self, slot: int, place: int) -> int:
        """One number of a block."""
        return c_int32.from_address(int(self._slots[slot]) + 4 * place).value

    def raw(self, slot: int, first: int, n: int) -> bytes:
        """`n` bytes of a block."""
        return bytes((c_uint8 * n).from_address(int(self._slots[slot]) + first))

    def items(self, family: int, number: int) -> list[int]:
        """An interned list."""
        first, n = self.ints(family, 4 * number, 2)
        return self.ints(family + 1, first, n)
