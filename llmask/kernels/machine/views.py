"""Tables from Python, by the names of machine/records.py: what interpreted kernels, the debugger and tests read.

    view = TableView(address)
    view.n_nodes, view.nodes[5].kind, view.node_lists.pool[3]

A record prints with its fields and flags. Every item is checked against its block, every number that is stored against
the width of its field, and where a field has a limit ("row < n_rows") against that.

In: addresses. Out: numbers. Cost: 1 us an access.
"""

from __future__ import annotations

from typing import Any

from .records import DECLARED, Array, Declared, Family, Record, RecordView, load, store

_CHARGED = -16  # where memory.py says how many bytes of a block may be used


def _view(table: TableView, slot: int, declared: Declared | None) -> Any:
    if isinstance(declared, Family):
        return FamilyView(table, slot, declared.parts)
    return BlockView(table, slot, declared) if isinstance(declared, (Array, Record)) else table[slot]


class TableView:
    """A table by its address; slots by number or by name."""

    address: int

    def __init__(self, address: int) -> None:
        self.__dict__["address"] = address

    def __getitem__(self, slot: int) -> int:
        return load(self.address + 8 * slot, 64)

    def __setitem__(self, slot: int, value: int) -> None:
        store(self.address + 8 * slot, 64, value)

    def __getattr__(self, name: str) -> Any:
        if name not in DECLARED:
            raise AttributeError(f"no slot has the name {name!r}")
        return _view(self, *DECLARED[name])

    def __setattr__(self, name: str, value: int) -> None:
        slot, declared = DECLARED[name]
        assert declared is None, f"{name} is no number"
        self[slot] = value


class FamilyView:
    """Lists, or a map: several slots of a table."""

    def __init__(self, table: TableView, slot: int, parts: dict[str, Any]) -> None:
        self.table, self.slot, self.parts = table, slot, parts

    def __getattr__(self, name: str) -> Any:
        place, declared = self.parts[name]
        return _view(self.table, self.slot + place, declared)


class BlockView:
    """The block in a slot of a table: numbers, or records."""

    def __init__(self, table: TableView, slot: int, declared: Array | Record) -> None:
        self.table, self.slot, self.declared = table, slot, declared
        self.address = table[slot]
        self.item_bytes = declared.n_bytes if isinstance(declared, Record) else declared.bits // 8

    def __getitem__(self, index: int) -> Any:
        address = self._place(index)
        if isinstance(self.declared, Record):
            return RecordView(self.table, self.declared, index, address)
        return load(address, self.declared.bits)

    def __setitem__(self, index: int, value: int) -> None:
        store(self._place(index), self.declared.bits, value)

    def _place(self, index: int) -> int:
        """Address of an item, if the block has it."""
        n_bytes = load(self.address + _CHARGED, 64) if self.address else 0
        if not 0 <= index * self.item_bytes <= n_bytes - self.item_bytes:
            raise IndexError(f"item {index} of a block with {n_bytes // self.item_bytes}")
        return self.address + index * self.item_bytes
