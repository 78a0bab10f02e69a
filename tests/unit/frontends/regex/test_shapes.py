"""What trees look like."""

from __future__ import annotations

import pytest

from llmask.derivatives.code_points import CodePointSet
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import character_sets, looks_ahead, single_character, takes_one_character


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
