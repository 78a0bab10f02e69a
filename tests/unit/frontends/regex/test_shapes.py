"""What trees look like."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import (
    character_sets,
    looks_ahead,
    may_be_empty,
    rounds_in,
    single_character,
    takes_one_character,
)
from llmask.regex.code_points import CodePointSet


def test_a_choice_of_characters_is_one_set() -> None:
    assert single_character(PythonParser("(?:a|[bc])").parse()) == CodePointSet.of("abc")
    assert single_character(PythonParser("a|bc").parse()) is None


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("(?!--).", True), ("a|(?=b)[bc]", True), ("ab", False), ("(?=a)", False), ("a?", False), (r"\b(?:a)$", True)],
)
def test_some_trees_take_one_character(pattern: str, expected: bool) -> None:
    assert takes_one_character(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^a", False),
        ("a$", True),
        (r"\b", True),
        ("(?<=a)", False),
        ("(?<=a(?=b))", True),
        ("(?>a|ab)", True),
        ("a*", False),
    ],
)
def test_some_trees_ask_what_follows(pattern: str, expected: bool) -> None:
    assert looks_ahead(PythonParser(pattern).parse()) == expected


def test_every_set_of_a_tree_is_found() -> None:
    sets = character_sets(PythonParser("a(?=[bc])|(?>d|e*)$").parse())
    assert {CodePointSet.of(one) for one in ("a", "bc", "d", "e", "\n")} <= set(sets)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a*+|b", True),
        ("(?>ab|c)", False),
        ("(?>a?)", True),
        ("(?=a)", True),
        ("a|(?=a)b", False),
        ("(?:a?b?){3}", True),
    ],
)
def test_some_trees_may_match_nothing(pattern: str, expected: bool) -> None:
    assert may_be_empty(PythonParser(pattern).parse()) == expected


def test_rounds_of_a_long_row() -> None:
    assert rounds_in("x" * 100) == [(0, 100, 1)]
    assert rounds_in("x" * 1000) == [(0, 1, 1000)]
    assert rounds_in("a" + "xy" * 100 + "b") == [(0, 1, 1), (1, 3, 100), (201, 202, 1)]
    assert rounds_in("ab" * 50 + "xyz" * 40 + "c") == [(0, 2, 50), (100, 103, 40), (220, 221, 1)]


def test_pieces_of_a_row_give_the_row(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_counted = 0
    for _ in range(scaled(200)):
        row = ""
        while len(row) < 200:
            unit = "".join(rng.choice("ab") for _ in range(rng.choice((1, 2, 3, 7, 20))))
            row += unit * rng.choice((1, 1, 2, 5, 16, 17, 40)) + rng.choice(("", "a", "c"))
        pieces = rounds_in(row)
        assert "".join(row[first:end] * n for first, end, n in pieces) == row
        places = [0]
        for first, end, n in pieces:
            assert first == places[-1] < end
            places.append(first + (end - first) * n)
            n_counted += n > 1
    assert n_counted > 0
