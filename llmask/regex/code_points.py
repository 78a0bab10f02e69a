r"""Sets of Unicode code points, the alphabet of patterns before they become bytes.

A set is kept as the sorted places where membership changes: (97, 123, 128, 129) holds a-z and U+0080. That form is
canonical, so equal sets compare and hash equal, complement is one step, and a whole-Unicode class such as `\w` takes
about 1,500 numbers. Surrogates U+D800-U+DFFF are never members: they are no text and have no UTF-8.

In: ranges of code points. Out: immutable sets. Cost: O(ranges log ranges) for a union, O(ranges) otherwise.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

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
