"""Sets of code points against Python's sets."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmask.regex.code_points import NO_TEXT, TEXT, CodePointSet

SURROGATES = set(range(0xD800, 0xE000))
WORLD = set(range(0xD7F0, 0xE010))  # small sets around the surrogates, where it is easiest to go wrong


def random_pair(rng: random.Random) -> tuple[CodePointSet, set[int]]:
    ranges = []
    for _ in range(rng.randrange(6)):
        low = rng.choice([rng.randrange(0xD7F0, 0xE010), 0xD7FF, 0xE000])
        ranges.append((low, min(low + rng.randrange(40), 0xE00F)))
    return CodePointSet.from_ranges(ranges), {c for low, high in ranges for c in range(low, high + 1)} - SURROGATES


def test_operations_agree_with_python_sets(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(500)):
        (one, mine), (other, theirs) = random_pair(rng), random_pair(rng)
        assert set(one) == mine
        assert set(one.union(other)) == mine | theirs
        assert set(one.intersect(other)) == mine & theirs
        assert set(one.subtract(other)) == mine - theirs
        assert set(one.complement().intersect(CodePointSet.from_ranges([(0xD7F0, 0xE00F)]))) == (
            WORLD - SURROGATES - mine
        )
        assert len(one) == len(mine)
        assert all((c in one) == (c in mine) for c in WORLD)


def test_equal_sets_compare_and_hash_equal_however_they_were_made() -> None:
    one = CodePointSet.from_ranges([(0x61, 0x7A)])
    other = CodePointSet.from_ranges([(0x70, 0x7A), (0x61, 0x6F), (0x65, 0x68)])
    assert one == other
    assert hash(one) == hash(other)
    assert one.complement().complement() == one
    assert repr(one) == "CodePointSet(61-7A)"


def test_surrogates_are_never_members() -> None:
    assert len(TEXT) == 0x110000 - 0x800
    assert NO_TEXT.complement() == TEXT
    assert CodePointSet.from_ranges([(0xD800, 0xDFFF)]) == NO_TEXT
    assert 0xD800 not in TEXT
    assert 0xDFFF not in CodePointSet.of("a").complement()


def test_ranges_that_touch_are_one() -> None:
    assert CodePointSet.from_ranges([(1, 2), (3, 4)]).ranges() == [(1, 4)]
    assert CodePointSet.from_ranges([(5, 4)]) == NO_TEXT
