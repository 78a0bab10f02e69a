r"""Sets of Unicode code points, the alphabet of patterns, and their nodes over UTF-8 bytes.

A set is kept as the sorted places where membership changes: (97, 123, 128, 129) holds a-z and U+0080. That form is
canonical, so equal sets compare and hash equal, complement is one step, and a whole-Unicode class such as `\w` takes
about 1,500 numbers. Surrogates U+D800-U+DFFF are never members: they are no text and have no UTF-8.

Only well-formed sequences exist in a node: the shortest form of each code point and no surrogates. Source: The Unicode
Standard 16.0, section 3.9, table 3-7. UTF-8 writes a code point in digits of six bits, `\uXXXX` in hexadecimal, a
surrogate pair in digits of 2, 4, 4, 2, 4, 4 bits with fixed bytes between. All three are one job, that of
`digits_node`: given ranges of numbers and the digits' spellings, make the node of exactly those spellings. Digits after
which the same may follow share one node, so the result is deterministic (each byte leads to one place) and as small as
the ranges allow: a block that is covered whole is never opened.

In: ranges of code points. Out: immutable sets, nodes. Cost: O(ranges log ranges) for a union, O(ranges) otherwise; of a
node about a microsecond a range and byte, remembered in `nodes.memo`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE = 0xD800
LAST_SURROGATE = 0xDFFF
# One character, spelled by two: `re` finds them nowhere in text, other languages read the character.
SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
JOIN_SURROGATES = 'join them: text.encode("utf-16", "surrogatepass").decode("utf-16")'


class CodePointSet:
    """An immutable set of code points.

    Attributes
    ----------
    bounds : strictly increasing; members are bounds[0] <= c < bounds[1], bounds[2] <= c < bounds[3], ...

    Examples
    --------
    >>> CodePointSet.from_ranges([(0x61, 0x7A), (0x30, 0x39)]).ranges()
    [(48, 57), (97, 122)]
    """

    __slots__ = ("_hash", "bounds")

    def __init__(self, bounds: tuple[int, ...]) -> None:
        self.bounds = bounds
        self._hash = hash(bounds)

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]]) -> CodePointSet:
        """Members of all ranges (first, last), in any order; surrogates among them are left out."""
        bounds: list[int] = []
        for low, high in sorted(ranges):
            if bounds and low <= bounds[-1]:
                bounds[-1] = max(bounds[-1], high + 1)
            elif low <= high:
                bounds += (low, high + 1)
        found = cls(tuple(bounds))
        if bounds and bounds[0] <= LAST_SURROGATE and bounds[-1] > FIRST_SURROGATE:
            return found.intersect(TEXT)
        return found

    @classmethod
    def of(cls, characters: str) -> CodePointSet:
        """The characters of a string."""
        return cls.from_ranges((ord(character), ord(character)) for character in characters)

    def ranges(self) -> list[tuple[int, int]]:
        """Disjoint ranges (first, last), ascending, none touching the next."""
        return [(low, end - 1) for low, end in zip(self.bounds[::2], self.bounds[1::2], strict=True)]

    def union(self, *others: CodePointSet) -> CodePointSet:
        """Members of any."""
        return CodePointSet.from_ranges(pair for one in (self, *others) for pair in one.ranges())

    def intersect(self, other: CodePointSet) -> CodePointSet:
        """Members of both."""
        bounds: list[int] = []
        mine, theirs = self.bounds, other.bounds
        i = j = 0
        while i < len(mine) and j < len(theirs):
            low, end = max(mine[i], theirs[j]), min(mine[i + 1], theirs[j + 1])
            if low < end:
                bounds += (low, end)
            if mine[i + 1] < theirs[j + 1]:
                i += 2
            else:
                j += 2
        return CodePointSet(tuple(bounds))

    @lru_cache(maxsize=256)  # noqa: B019
    def complement(self) -> CodePointSet:
        """Every other code point that may stand in text."""
        bounds = self.bounds
        bounds = bounds[1:] if bounds[:1] == (0,) else (0, *bounds)
        bounds = bounds[:-1] if bounds[-1:] == (MAX_CODE_POINT + 1,) else (*bounds, MAX_CODE_POINT + 1)
        return CodePointSet(bounds).intersect(TEXT)

    def subtract(self, other: CodePointSet) -> CodePointSet:
        """Members that `other` does not have."""
        return self.intersect(other.complement())

    def __contains__(self, code_point: int) -> bool:
        return bisect_right(self.bounds, code_point) % 2 == 1

    def __iter__(self) -> Iterator[int]:
        for low, high in self.ranges():
            yield from range(low, high + 1)

    def __len__(self) -> int:
        return sum(self.bounds[1::2]) - sum(self.bounds[::2])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodePointSet) and self.bounds == other.bounds

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"CodePointSet({', '.join(f'{low:X}-{high:X}' for low, high in self.ranges())})"


NO_TEXT = CodePointSet(())
TEXT = CodePointSet((0, FIRST_SURROGATE, LAST_SURROGATE + 1, MAX_CODE_POINT + 1))


Ranges = tuple[tuple[int, int], ...]


class Position(NamedTuple):
    """One digit of a numeral.

    masks   one 256-bit mask a digit value: the bytes that spell it (two for a hexadecimal letter)
    before  bytes masks that stand before the digit in every spelling
    """

    masks: tuple[int, ...]
    before: tuple[int, ...] = ()


ASCII = Position(tuple(1 << byte for byte in range(0x80)))
CONTINUATION = Position(tuple(1 << byte for byte in range(0x80, 0xC0)))
LENGTHS = (
    (0x00, 0x7F, (ASCII,)),
    (0x80, 0x7FF, (Position(tuple(1 << 0xC0 + digit for digit in range(32))), CONTINUATION)),
    (0x800, 0xFFFF, (Position(tuple(1 << 0xE0 + digit for digit in range(16))), CONTINUATION, CONTINUATION)),
    (
        0x10000,
        MAX_CODE_POINT,
        (Position(tuple(1 << 0xF0 + digit for digit in range(8))), CONTINUATION, CONTINUATION, CONTINUATION),
    ),
)


def digits_node(nodes: RegexNodes, ranges: Ranges, positions: tuple[Position, ...]) -> int:
    """Node of the spellings of every number in `ranges` (first, last; ascending, disjoint, not touching).

    Examples
    --------
    >>> decimal = Position(tuple(1 << byte for byte in b"0123456789"))
    >>> node = digits_node(nodes, ((7, 42),), (decimal, decimal))
    >>> nodes.matches(node, b"07"), nodes.matches(node, b"43")
    (True, False)
    """
    if not positions:
        return nodes.EPSILON
    key = (__name__, ranges, positions)
    found = nodes.memo.get(key)
    if found is not None:
        return int(found)
    first, *rest = positions
    block_size = 1
    for position in rest:
        block_size *= len(position.masks)
    parts: dict[int, list[tuple[int, int]]] = {}
    for low, high in ranges:
        low_block, high_block = low // block_size, high // block_size
        for block in range(low_block, high_block + 1):
            start = low - block * block_size if block == low_block else 0
            end = high - block * block_size if block == high_block else block_size - 1
            parts.setdefault(block, []).append((start, end))
    blocks: dict[Ranges, int] = {}
    for block, pieces in parts.items():
        inside = tuple(pieces)
        blocks[inside] = blocks.get(inside, 0) | first.masks[block]
    masks: dict[int, int] = {}
    for inside, mask in blocks.items():
        follow = digits_node(nodes, inside, tuple(rest))
        masks[follow] = masks.get(follow, 0) | mask
    before = [nodes.byte_set(mask) for mask in first.before]
    choices = [nodes.concat([*before, nodes.byte_set(mask), follow]) for follow, mask in masks.items()]
    node = nodes.memo[key] = nodes.union(choices)
    return node


def utf8_char(nodes: RegexNodes, members: CodePointSet) -> int:
    """Node of the UTF-8 spelling of one code point of `members`; `nodes.EMPTY` when there is none.

    Examples
    --------
    >>> nodes.matches(utf8_char(nodes, CodePointSet.of("aé")), "é".encode())
    True
    """
    key = (__name__, members)
    found = nodes.memo.get(key)
    if found is None:
        parts = []
        for low, high, positions in LENGTHS:
            ranges = tuple(members.intersect(CodePointSet((low, high + 1))).ranges())
            if ranges:
                parts.append(digits_node(nodes, ranges, positions))
        found = nodes.memo[key] = nodes.union(parts)
        nodes.name_characters(found, members)
        if parts:
            nodes.mark_character(found)
    return int(found)


def utf8_literal(nodes: RegexNodes, text: str) -> int:
    """Node of a text without lone surrogates, as `utf8_char` is of a character."""
    data = text.encode()
    node = nodes.literal(data)
    nodes.memo[__name__, "word", node] = data
    return node


def literal_word(nodes: RegexNodes, node: int) -> bytes | None:
    """The text of a node that `utf8_literal` made."""
    return nodes.memo.get((__name__, "word", node))
