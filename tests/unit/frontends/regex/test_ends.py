"""Anchors at the ends of alternatives are taken off; everything else stays."""

from __future__ import annotations

from llmask.frontends.regex.ecma_syntax import EcmaParser
from llmask.frontends.regex.ends import ANY_TEXT, search, whole_match
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.tree import Alternatives, Edge, Sequence, Tree


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
