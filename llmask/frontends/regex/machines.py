"""Machines over code points: in minimal form, and as automata over bytes.

Rules about characters and their neighbours are one small machine (`tests/reference/machines.py` makes the one of host
names). Intersected look-arounds say the same and are found out while masks are made: a host name beyond ASCII took
100 ms a mask. Source for the minimal form: E. F. Moore, "Gedanken-experiments on sequential machines", 1956.

As automata over the bytes of JSON spellings: the spellings of one character are opened into *parts*, what of a
character may follow after some of its bytes. A part is the same for all states of the machine; what it leads to is not.
So each part is entered once for all states between which it makes a difference, which for most parts is one: after the
first byte of a letter that a machine forgets what was before it does not matter.

    part      code of every byte: DEAD, a part, or WHOLE - c: a character of class c is complete
    automaton rows 0 .. n - 1 are the machine's states before a character, the others are parts

In: a `Machine`. Out: an `Automaton` and its node. Cost: about 50 us a part, once a process and style, then a few ms a
store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from llmask.frontends.regex.json_strings import (
    HEX,
    LOW_TOP,
    ONLY_UNICODE,
    RAW,
    SHORT_ESCAPES,
    SINGLE,
    StringStyle,
    is_short,
)
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from llmask.regex.utf8 import LENGTHS

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes
    from llmask.regex.utf8 import Position

DEAD = -1

Accepting = TypeVar("Accepting", bound=np.generic)
Pieces = tuple[tuple[int, int, int], ...]
WHOLE = DEAD - 1
ENTRIES_A_UNIT = 32  # of the table of a machine, whose automaton over bytes is some twenty times as large
Digits = tuple[tuple[bytes, ...], ...]  # bytes of each value of each digit, most significant digit first


class Machine:
    """A deterministic automaton over classes of code points; state 0 starts.

    Attributes
    ----------
    pieces : (first, last, class) of every run of code points that may occur, ascending.
    next_state : int32[n_states, n_classes], DEAD where a character is refused.
    accepting : bool[n_states].
    """

    def __init__(self, pieces: Pieces, next_state: npt.NDArray[np.int32], accepting: npt.NDArray[np.bool_]) -> None:
        self.pieces = pieces
        self.next_state = next_state
        self.accepting = accepting


def merged(pieces: Iterable[tuple[int, int, int]]) -> Pieces:
    """Ascending pieces, those that touch and have the same value made one."""
    found: list[tuple[int, int, int]] = []
    for low, high, value in pieces:
        if found and found[-1][1] == low - 1 and found[-1][2] == value:
            found[-1] = (found[-1][0], high, value)
        else:
            found.append((low, high, value))
    return tuple(found)


def minimal(
    table: npt.NDArray[np.int32], accepting: npt.NDArray[Accepting]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Accepting]]:
    """States that no text tells apart made one: split by what they accept until nothing splits.

    `accepting` is whether each accepts, or a number where there are several ways to; state 0 stays the first.
    """
    blocks = accepting.astype(np.int32)
    n_blocks = 0
    while True:
        seen = np.append(blocks, DEAD)  # the last item is what DEAD, -1, finds
        blocks, first = _numbered(np.column_stack([blocks, seen[table]]))
        if len(first) == n_blocks:
            break
        n_blocks = len(first)
    return np.append(blocks, np.int32(DEAD))[table[first]], accepting[first]


def _numbered(rows: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
    """A number for each row, the same for equal ones, in the order of their first places, which come second.

    `np.unique` of rows sorts them, field by field: it took half of the time of patterns with many look-arounds.
    """
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    found: dict[bytes, int] = {}
    numbers = (found.setdefault(data[at : at + width], len(found)) for at in range(0, len(data), width))
    places = np.fromiter(numbers, np.int32, len(rows))
    return places, np.unique(places, return_index=True)[1]


class Automaton(NamedTuple):
    """An automaton over bytes, its next states in as few columns as parts have codes.

    With a column for each class of bytes the next states of idn-hostname take 21 MB, this way 1 MB.

    class_of_byte  uint8[256]
    blocks         of rows that follow each other: the column of each class of bytes, uint8[n_classes], and their next
                   states by column, int32[n_rows, n_columns]
    accepting      bool[n_rows of all blocks]
    """

    class_of_byte: npt.NDArray[np.uint8]
    blocks: list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]]
    accepting: npt.NDArray[np.bool_]


def node_of(nodes: RegexNodes, made: Automaton) -> int:
    """Node of the texts that an automaton accepts."""
    table = np.concatenate([rows[:, place] for place, rows in made.blocks])
    return nodes.dfa(made.class_of_byte, table, made.accepting)


@cache
def automaton(machine: Machine, style: StringStyle) -> Automaton:
    """The automaton of a machine, kept for the next store."""
    parts = Parts()
    root = parts.spellings(tuple((low, high, WHOLE - c) for low, high, c in machine.pieces), style)
    codes, class_of_byte = _distinct(np.array(parts.rows, np.int32))
    n_states, n_classes = machine.next_state.shape
    n_rows = n_states
    blocks: list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]] = []
    numbers: dict[bytes, int] = {}
    # state after each code, for each state before the character
    after: dict[int, npt.NDArray[np.int32]] = {WHOLE - c: machine.next_state[:, c] for c in range(n_classes)}
    after[DEAD] = np.full(n_states, DEAD, np.int32)
    for part in range(root + 1):
        distinct, place = np.unique(codes[part], return_inverse=True)
        place = place.reshape(-1)
        columns = np.stack([after[code] for code in distinct.tolist()])
        if part == root:
            blocks.insert(0, (place.astype(np.uint8), columns.T.copy()))
            break
        if (columns == columns[:, :1]).all():
            columns, state_of = columns[:, :1], np.zeros(n_states, np.intp)
        else:
            columns, state_of = _distinct(columns)
        found: list[int] = []
        new: list[int] = []
        is_dead = (columns == DEAD).all(axis=0).tolist()
        for column, data in enumerate(_as_bytes(columns.T[:, place])):
            number = numbers.get(data)
            if number is None:
                number = DEAD
                if not is_dead[column]:
                    number = n_rows + len(new)
                    new.append(column)
                numbers[data] = number
            found.append(number)
        n_rows += len(new)
        blocks.append((place.astype(np.uint8), columns.T[new]))
        after[part] = np.array(found, np.int32)[state_of]
    accepting = np.zeros(n_rows, np.bool_)
    accepting[:n_states] = machine.accepting
    return Automaton(class_of_byte.astype(np.uint8), blocks, accepting)


def _distinct(columns: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
    """Columns without repetition, and which of them each is; sorting them takes three times as long."""
    number_of: dict[bytes, int] = {}
    which = [number_of.setdefault(row, len(number_of)) for row in _as_bytes(columns.T)]
    return np.frombuffer(b"".join(number_of), np.int32).reshape(-1, len(columns)).T, np.array(which, np.intp)


def _as_bytes(rows: npt.NDArray[np.int32]) -> list[bytes]:
    found: list[bytes] = np.ascontiguousarray(rows).view(f"V{4 * rows.shape[1]}").ravel().tolist()
    return found


class Parts:
    """The parts of the spellings of characters, each after those that it leads to.

    Attributes
    ----------
    rows : 256 codes a part.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._digits: dict[tuple[Pieces, Digits], int] = {}

    def spellings(self, pieces: Pieces, style: StringStyle) -> int:
        """Part before a character; `pieces` says, by code point, in which code the character ends."""
        codes = [DEAD] * 256
        raw = _within(pieces, TEXT if style.is_raw else RAW)
        for low, high, positions in LENGTHS:
            inside = _within(raw, CodePointSet((low, high + 1)))
            if inside:
                first = self.rows[self.digits(inside, _digits_of(positions))]
                codes = [max(pair, key=DEAD.__ne__) for pair in zip(codes, first, strict=True)]
        if not style.is_raw:
            codes[ord("\\")] = self._escaped(pieces, style.escapes)
        return self._add(codes, is_new=True)

    def digits(self, pieces: Pieces, digits: Digits) -> int:
        """Code before the digits of a number; `pieces` says in which code the number ends."""
        if not pieces:
            return DEAD
        if not digits:
            return pieces[0][2]
        key = pieces, digits
        found = self._digits.get(key)
        if found is None:
            size = 1
            for values in digits[1:]:
                size *= len(values)
            codes = [DEAD] * 256
            for block, inside in _blocks(pieces, size).items():
                code = self.digits(inside, digits[1:])
                for byte in digits[0][block]:
                    codes[byte] = code
            found = self._digits[key] = self._add(codes)
        return found

    def _escaped(self, pieces: Pieces, escapes: str) -> int:
        r"""Part after a backslash."""
        codes = [DEAD] * 256
        for character, letter in SHORT_ESCAPES.items():
            if is_short(escapes, character):
                inside = _within(pieces, CodePointSet.of(character))
                codes[ord(letter)] = inside[0][2] if inside else DEAD
        if "u" in escapes:
            single = TEXT.intersect(CodePointSet((0, 0x10000)))
            units = [*_within(pieces, single), *self._high_surrogates(pieces)]
            codes[ord("u")] = self.digits(merged(sorted(units)), _digits_of(SINGLE))
        else:
            small = tuple(values[-1:] if values[0] >= 0x41 else values for values in _digits_of((HEX,))[0])
            inside = _within(pieces, CodePointSet.from_ranges((code, code) for code in ONLY_UNICODE))
            codes[ord("u")] = self.digits(inside, (small,) * 4)
        return self._add(codes)

    def _high_surrogates(self, pieces: Pieces) -> list[tuple[int, int, int]]:
        """The code after each of them: a low surrogate follows."""
        beyond = _within(pieces, CodePointSet((0x10000, MAX_CODE_POINT + 1)))
        found = []
        for high, inside in _blocks(tuple((a - 0x10000, b - 0x10000, code) for a, b, code in beyond), 1024).items():
            low = self.digits(inside, _digits_of((LOW_TOP, HEX, HEX)))
            for mask in reversed(LOW_TOP.before):
                codes = [DEAD] * 256
                for byte in _bytes_of(mask):
                    codes[byte] = low
                low = self._add(codes)
            found.append((0xD800 + high, 0xD800 + high, low))
        return found

    def _add(self, codes: Sequence[int], is_new: bool = False) -> int:
        row = tuple(codes)
        found = self._numbers.get(row)
        if found is None or is_new:
            found = self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return found


@cache
def _bytes_of(mask: int) -> bytes:
    return bytes(byte for byte in range(256) if mask >> byte & 1)


@cache
def _digits_of(positions: tuple[Position, ...]) -> Digits:
    return tuple(tuple(_bytes_of(mask) for mask in position.masks) for position in positions)


def _within(pieces: Pieces, members: CodePointSet) -> Pieces:
    """Pieces cut to a set."""
    found = []
    ranges = members.ranges()
    at = 0
    for low, high, code in pieces:
        while at < len(ranges) and ranges[at][1] < low:
            at += 1
        i = at
        while i < len(ranges) and ranges[i][0] <= high:
            found.append((max(low, ranges[i][0]), min(high, ranges[i][1]), code))
            i += 1
    return tuple(found)


def _blocks(pieces: Pieces, size: int) -> dict[int, Pieces]:
    """Pieces cut into blocks of `size` numbers, counted from the start of each."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for low, high, code in pieces:
        for block in range(low // size, high // size + 1):
            start = max(low - block * size, 0)
            found.setdefault(block, []).append((start, min(high - block * size, size - 1), code))
    return {block: tuple(inside) for block, inside in found.items()}
