"""Names for what lies in a table: one declaration for each of its slots.

    STORE = Slots(
        *("store", FIRST_FREE_SLOT),
        n_nodes="how many there are",                              a number
        transitions=Array(32, "rows of next states by class"),     a block of numbers
        nodes=Record("...", kind="a NodeKind", left="", flags=Flags(nullable="matches the empty string")),
        node_lists=Lists("operands of unions"),                    see interning.py
        derived=Map("row, lexeme set -> row"),
    )

    store.n_nodes += 1                  a kernel says `table.name` for a slot, `table.name[i]` for an item of its block,
    store.nodes[node].nullable = True   `table.name[i].field` for a field or a flag of a record; `STORE.n_nodes` is the
    STORE.n_nodes                       number of the slot

The declaration is the compiled access (machine/fields.py), the one of Python (machine/views.py), the list of blocks to
free, and the documentation. Nothing is left of it in machine code: a field is a load at a constant distance.

Memory that is no block of a table has records, too, as C has structs: arrays that Python made, memory that one call
borrows. `at` takes an address for the first record there; nothing is checked.

    SYMBOL = Record("a symbol of a word", id="", start="")
    symbols = SYMBOL.at(address)        symbols.start is that of the first, symbols[i].start of another,
                                        symbols[i] = symbols[j] copies

`Kind` is an enumeration whose members compiled code reads as numbers, too.

In: names. Out: numbers of slots, and `DECLARED`, which both ways of access look into. Cost: none.
"""

from __future__ import annotations

import ctypes
from enum import EnumMeta, IntEnum
from typing import Any, ClassVar

_NUMBERS = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_int32, 64: ctypes.c_int64}
_FLOATS = {32: ctypes.c_float, 64: ctypes.c_double}


def load(address: int, bits: int) -> int:
    """A number of some bits; 8 and 16 bits have no sign."""
    return _NUMBERS[bits].from_address(address).value


def store(address: int, bits: int, value: int) -> None:
    """Write a number; one that does not fit is an ArithmeticError."""
    low = -128 if bits == 8 else -(1 << 63) if bits == 64 else -(1 << 32)  # 32 bits with all above them alike
    if not low <= value < (256 if bits == 8 else -low):
        raise ArithmeticError(f"{value} does not fit into {bits} bits")
    _NUMBERS[bits].from_address(address).value = int(value)


class Flags:
    """Booleans in one field, each with what it means; the first is the lowest bit."""

    def __init__(self, **meanings: str) -> None:
        self.meanings = meanings


class Published(str):
    """What a field or number means that is read without the lock: whoever sees it also sees what was written before."""


class Also:
    """Another name of a field, for records of another kind."""

    def __init__(self, field: str, meaning: str) -> None:
        self.field, self.meaning = field, meaning


class Wide(str):
    """What a number of 64 bits means in a record of 32."""


class Float(str):
    """What a float32 means."""


class WideFloat(Wide, Float):
    """What a float64 means."""


class Declared:
    """What a slot holds that is no number.

    Attributes
    ----------
    meaning : what it is, for people.
    n_slots : how many slots it takes.
    blocks : those among them that hold addresses of blocks.
    """

    n_slots = 1
    blocks: tuple[int, ...] = (0,)
    slot = ""  # its name

    def __init__(self, meaning: str) -> None:
        self.meaning = meaning


class Array(Declared):
    """A block of numbers of `bits` bits; numbers of 8 bits have no sign."""

    def __init__(self, bits: int, meaning: str) -> None:
        super().__init__(meaning)
        self.bits, self.is_published = bits, isinstance(meaning, Published)


class Record(Declared):
    """A block of records: fields of 32 bits, or of 64, one after the other, each with what it means.

    Attributes
    ----------
    names, n_fields : of the fields, without other names of them.
    places : number of each field, by all of its names.
    widths : bits of each field that is no integer of `bits`, and whether it is a float.
    n_bytes : size of a record.
    flags : of each flag its field's number and its bit.
    published : fields that are read without the lock.
    limits : of fields whose meaning begins with "< n_rows" the slot of the number that they are below.
    """

    def __init__(self, meaning: str, /, bits: int = 32, **fields: str | Flags | Also) -> None:
        super().__init__(meaning)
        self.bits, self.fields = bits, fields
        self.names = [name for name, said in fields.items() if not isinstance(said, Also)]
        self.n_fields = len(self.names)
        self.places = {name: place for place, name in enumerate(self.names)}
        self.places |= {name: self.places[said.field] for name, said in fields.items() if isinstance(said, Also)}
        self.flags = {
            flag: (self.places[name], 1 << bit)
            for name, said in fields.items()
            if isinstance(said, Flags)
            for bit, flag in enumerate(said.meanings)
        }
        self.widths = {
            name: (64 if isinstance(said, Wide) else 32, isinstance(said, Float))
            for name, said in fields.items()
            if isinstance(said, (Wide, Float))
        }
        self._ends = [0]
        for name in self.names:
            self._ends.append(self._ends[-1] + self.width(name)[0] // 8)
        self.n_bytes = self._ends[-1]
        self.published = {name for name, said in fields.items() if isinstance(said, Published)}
        self.limits = {
            name: said[2:].partition(":")[0]
            for name, said in fields.items()
            if isinstance(said, str) and said.startswith("< n_")
        }
        assert not self.flags.keys() & fields.keys(), "a name is a field or a flag"

    def width(self, field: str) -> tuple[int, bool]:
        """Bits of a field, and whether it is a float."""
        return self.widths.get(field, (self.bits, False))

    def offset(self, field: str) -> int:
        """Where a field lies in a record, in bytes."""
        return self._ends[self.places[field]]

    def at(self, address: int) -> Any:
        """The records at an address, for interpreted kernels and for Python."""
        return RecordView(None, self, 0, address)


class RecordView:
    """One record; fields and flags by their names. Without a table others that follow it by their numbers, too."""

    def __init__(self, table: Any, declared: Record, number: int, address: int) -> None:
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
        return int(self.address + self._declared.offset(name))

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)}" for name in self._declared.names)
        flags = (name for name in self._declared.flags if getattr(self, name))
        return f"{self._declared.slot}[{self._number}]({', '.join([*fields, *flags])})"


class Family(Declared):
    """Several slots that belong together.

    Attributes
    ----------
    parts : of each name the place among the slots, and what is there.
    """

    parts: ClassVar[dict[str, tuple[int, Array | Record | None]]]


LIST = Record("a list", offset="into the pool", length="", next="see linear_hash.py", hash="")
ENTRY = Record("", key="", high="of the key", value="", unused="", next="see linear_hash.py", hash="")


class Lists(Family):
    """Lists with numbers, see interning.py."""

    n_slots, blocks = 4, (0, 1, 2)
    parts: ClassVar[dict[str, tuple[int, Array | Record | None]]] = {
        "records": (0, LIST),
        "pool": (1, Array(32, "the lists back to back")),
        "heads": (2, Array(64, "see linear_hash.py")),
        "count": (3, None),
    }


class Map(Family):
    """A map from one number to another, see interning.py."""

    n_slots, blocks = 3, (0, 1)
    parts: ClassVar[dict[str, tuple[int, Array | Record | None]]] = {
        "entries": (0, ENTRY),
        "heads": (1, Array(64, "see linear_hash.py")),
        "count": (2, None),
    }


for _family in (Lists, Map):
    for _name, (_, _part) in _family.parts.items():
        if _part is not None:
            _part.slot = _name


DECLARED: dict[str, tuple[int, Declared | None]] = {}  # of each name its slot; None: a number


class Slots:
    """The slots of one kind of table, whose numbers are its attributes.

    Attributes
    ----------
    title : what its tables are.
    n_slots : how many they are.
    blocks : those that hold addresses of blocks, which have to be given back with the table.
    """

    def __init__(self, title: str, first: int, /, **slots: str | Declared) -> None:
        self.title = title
        self.numbers: dict[str, int] = {}
        blocks = []
        for name, given in slots.items():
            assert name not in DECLARED, f"two slots have the name {name}"
            declared = given if isinstance(given, Declared) else None
            DECLARED[name] = first, declared
            self.numbers[name] = first
            if declared is not None:
                declared.slot = name
                blocks += [first + i for i in declared.blocks]
            first += declared.n_slots if declared else 1
        self.n_slots, self.blocks = first, tuple(blocks)
        assert not self.numbers.keys() & dir(self), "a slot has the name of an attribute"
        self.__dict__.update(self.numbers)

    def record(self, name: str) -> Record:
        """The records that a slot holds."""
        declared = DECLARED[name][1]
        assert isinstance(declared, Record)
        return declared

    def __getattr__(self, name: str) -> int:
        raise AttributeError(f"no slot has the name {name!r}")


class KindMeta(EnumMeta):
    """The type of enumerations that kernels name."""


class Kind(IntEnum, metaclass=KindMeta):
    """Numbers with names, which compiled code reads as numbers."""
