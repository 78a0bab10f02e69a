"""Anchors at the ends of alternatives are taken off; everything else stays."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.ecma_syntax import EcmaParser
from llmask.frontends.regex.ends import ANY_TEXT, search, whole_match
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.tree import Alternatives, Edge, Sequence, Tree
from tests.reference.json_spellings import spell
from tests.unit.frontends.regex.test_meaning import WORDS, random_pattern


def edges(tree: Tree) -> int:
    """Number of anchors left."""
    if isinstance(tree, Edge):
        return 1
    if isinstance(tree, Sequence):
        return sum(edges(part) for part in tree.parts)
    return sum(edges(option) for option in tree.options) if isinstance(tree, Alternatives) else 0


def shape(pattern: str) -> list[tuple[bool, bool]]:
    """For each group of alternatives: any text before, any text behind."""
    tree = search(EcmaParser(pattern).parse())
    assert isinstance(tree, Alternatives)
    return [(option.parts[0] == ANY_TEXT, option.parts[-1] == ANY_TEXT) for option in tree.options]


def test_search_allows_any_text_where_no_anchor_stands() -> None:
    assert shape("a") == [(True, True)]
    assert shape("^a$") == [(False, False)]
    assert shape("^a|b") == [(False, True), (True, True)]
    assert shape("a$") == [(True, False)]


def test_alternatives_with_the_same_ends_stay_together() -> None:
    assert shape("^a$|^b$|c|d") == [(False, False), (True, True)]


def test_anchors_at_the_ends_are_gone_and_others_stay() -> None:
    assert edges(search(EcmaParser("^^a$|^b$").parse())) == 0
    assert edges(search(EcmaParser("^a^b$").parse())) == 1
    assert edges(whole_match(PythonParser(r"\A^a$\Z|b").parse())) == 0


def test_anchors_of_lines_say_nothing_about_the_text() -> None:
    assert shape("(?m)^a$") == [(True, True)]
    assert edges(search(EcmaParser("(?m)^a$").parse())) == 2
    assert edges(whole_match(PythonParser("(?m)^a$").parse())) == 0


@pytest.mark.long
def test_a_negated_pattern_is_of_all_other_texts(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    patterns = ["a", "^a", "a$", "^a$", "^a$|b", "", "^", "$", "(?!)", "^(?=a)[^]*"]
    patterns += [random_pattern(rng, 3) for _ in range(scaled(80))]
    for pattern in patterns:
        for dialect in ("ecma", "python"):
            try:
                node = compile_pattern(nodes, pattern, dialect, json_string=True)
            except GrammarError:  # Python's syntax has more than ECMA's, and less
                continue
            negated = compile_pattern(nodes, pattern, dialect, json_string=True, is_negated=True)
            for word in rng.sample(WORDS, 25):
                text = spell(rng, word)
                assert nodes.matches(node, text) != nodes.matches(negated, text), (pattern, dialect, word)


def test_a_negated_search_is_empty_once_the_pattern_was_found(nodes: Any) -> None:
    node = compile_pattern(nodes, "^a|bc", "ecma", json_string=True, is_negated=True)
    assert nodes.derivative(node, ord("a")) == nodes.EMPTY
    for byte in b"xbc":
        assert node != nodes.EMPTY
        node = nodes.derivative(node, byte)
    assert node == nodes.EMPTY


def test_of_a_negated_pattern_only_text_is_left(nodes: Any) -> None:
    node = compile_pattern(nodes, "^a$", "ecma", is_negated=True)
    assert [text for text in (b"\xff", b"\xc3", b"\xed\xa0\x80") if nodes.matches(node, text)] == []
    assert all(nodes.matches(node, text.encode()) for text in ("", "b", "aa", "é"))
