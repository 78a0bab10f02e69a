r"""Sets of characters as patterns name them: general categories, white space, ranges, and their complements.

All sets are over *runs*: stretches of neighbouring code points with one category each, about 4,100 of them, cut further
where a pattern's own ranges begin and end. A set is then a boolean array with one entry a run, and joining, taking away
and comparing sets costs microseconds where a set of 1,114,112 code points costs milliseconds.

Categories follow Unicode 16, the version that tiktoken and Hugging Face tokenizers split by. The running Python knows
another version (3.10: 13, 3.11: 14, 3.13: 15.1), and a newer letter, such as U+1C8A, would not be split as a letter:
ids must not depend on the version of Python. `\s` is the set White_Space: Python's own `\s` also has U+001C to U+001F.

In: set descriptions. Out: boolean arrays over runs. Cost: 1 ms once for the categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
    "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
)  # fmt: skip
FILE = Path(__file__).with_name("unicode_16.npz")
N_CODE_POINTS = 0x110000
WHITE_SPACE = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
SPACES = "".join(chr(c) for low, high in WHITE_SPACE for c in range(low, high + 1))
# the script Han of Unicode 15; `unicodedata` knows no scripts
HAN = (
    (0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029),
    (0x3038, 0x303B), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FE2, 0x16FE3),
    (0x16FF0, 0x16FF1), (0x20000, 0x2A6DF), (0x2A700, 0x2B739), (0x2B740, 0x2B81D), (0x2B820, 0x2CEA1),
    (0x2CEB0, 0x2EBE0), (0x2F800, 0x2FA1D), (0x30000, 0x3134A), (0x31350, 0x323AF),
)  # fmt: skip

Ranges = tuple[tuple[int, int], ...]


@cache
def category_runs() -> tuple[np.ndarray, np.ndarray]:
    """First code point of each run, ascending from 0, and the number of its category in CATEGORIES."""
    with np.load(FILE) as kept:
        return kept["firsts"].astype(np.int64), kept["kinds"]


class CharacterSet:
    """A set of characters, described: categories and ranges, perhaps with sets inside, perhaps negated.

    Attributes
    ----------
    categories : names such as "L" or "Lu".
    ranges : pairs (first, last) of code points.
    parts : sets that belong to this one.
    is_negated : all other characters.
    """

    __slots__ = ("categories", "is_negated", "parts", "ranges")

    def __init__(
        self,
        categories: Sequence[str] = (),
        ranges: Iterable[tuple[int, int]] = (),
        parts: Sequence[CharacterSet] = (),
        is_negated: bool = False,
    ) -> None:
        self.categories = tuple(categories)
        self.ranges = tuple(ranges)
        self.parts = tuple(parts)
        self.is_negated = is_negated

    def all_ranges(self) -> Ranges:
        """Ranges of this set and of its parts."""
        return self.ranges + tuple(pair for part in self.parts for pair in part.all_ranges())


def one_character(code_point: int) -> CharacterSet:
    """The set of one character."""
    return CharacterSet(ranges=((code_point, code_point),))


class Partition:
    """The classes of characters that some sets tell apart.

    Attributes
    ----------
    n_classes : classes, numbered from 0.
    members : for each set, in order, a bit mask of its classes.
    """

    def __init__(self, sets: Sequence[CharacterSet]) -> None:
        firsts, kinds = category_runs()
        cuts = {bound for entry in sets for low, high in entry.all_ranges() for bound in (low, high + 1)}
        bounds = np.union1d(firsts, np.array(sorted(cuts | {0}), np.int64))
        bounds = bounds[bounds < N_CODE_POINTS]
        kind_of_run = kinds[np.searchsorted(firsts, bounds, side="right") - 1]
        member = np.stack([_evaluate(entry, bounds, kind_of_run) for entry in sets] or [np.zeros(len(bounds), bool)])
        classes: dict[bytes, int] = {}
        columns = np.packbits(member, axis=0).T
        self._class_of_run = np.array([classes.setdefault(column.tobytes(), len(classes)) for column in columns])
        self.n_classes = len(classes)
        run_of_class = np.unique(self._class_of_run, return_index=True)[1]
        self.members = [
            sum(1 << number for number, is_member in enumerate(row[run_of_class]) if is_member)
            for row in member[: len(sets)]
        ]
        self._lengths = np.diff(bounds, append=N_CODE_POINTS)

    def class_of_code_point(self) -> np.ndarray:
        """uint8[N_CODE_POINTS]: class of every code point."""
        return np.repeat(self._class_of_run.astype(np.uint8), self._lengths)


def _evaluate(entry: CharacterSet, bounds: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    member = np.zeros(len(bounds), bool)
    for name in entry.categories:
        member |= np.isin(kinds, [i for i, category in enumerate(CATEGORIES) if category.startswith(name)])
    for low, high in entry.ranges:
        member[np.searchsorted(bounds, low) : np.searchsorted(bounds, high + 1)] = True
    for part in entry.parts:
        member |= _evaluate(part, bounds, kinds)
    return ~member if entry.is_negated else member


def two_level(class_of_code_point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Table of 256 code points a block, equal blocks once: uint16 number of each block, and uint8 blocks.

    Block 0 has the first 256 code points, so the class of an ASCII character is one look-up.
    """
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(row.tobytes(), len(numbers)) for row in class_of_code_point.reshape(-1, 256)]
    return np.array(index, np.uint16), np.frombuffer(b"".join(numbers), np.uint8)
