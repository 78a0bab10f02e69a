"""Lexemes byte by byte: the same strings, in rows where there is one way on."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.grammar.exact.spelled import spelled
from llmask.grammar.expressions import Grammar, Reference, Sequence, leaves, sequence
from llmask.grammar.lower import lower
from llmask.grammar.tails import join_tails
from tests.reference.definition import all_strings
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes

PATTERNS = (
    "if", "a*b", "(ab|ba)*", "a{2,3}", "a?b?", "(a|b)*abb", "(a|b)*a(a|b)", "((ab)*a)*", "(?=.*b)a*.{2}", "é|ab", "b",
    "(?!ab)[ab]{2}", "a(b(ab?)*)?",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_matches_the_same(pattern: str) -> None:
    nodes = RegexNodes()
    node = compile_pattern(nodes, pattern)  # type: ignore[arg-type]
    found = spelled(nodes, node)  # type: ignore[arg-type]
    for leaf in [*leaves(found.start), *(leaf for rule in found.rules.values() for leaf in leaves(rule))]:
        assert isinstance(leaf, Reference) or nodes.extensions(leaf.node, leaf.node)[0] == 0, "more than one byte"
    grammar = Grammar({**found.rules, "start": found.start})
    rules = join_tails(lower(nodes, grammar).rules)  # type: ignore[arg-type]
    engine = Engine(rules, nodes.expressions)
    for string in [*all_strings(b"ab", 6), "é".encode(), b"\xc3"]:
        assert engine.accepts(string) == nodes.matches(node, string), string


def test_words_are_rows() -> None:
    nodes = RegexNodes()
    found = spelled(nodes, nodes.literal(b"while"))  # type: ignore[arg-type]
    assert not found.rules
    assert isinstance(found.start, Sequence)
    assert len(found.start.parts) == 5


@pytest.mark.long
def test_random_patterns_match_the_same(rng: random.Random, scaled: Callable[[int], int]) -> None:
    def pattern(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            return rng.choice("ab")
        if kind < 0.6:
            return pattern(depth - 1) + pattern(depth - 1)
        if kind < 0.8:
            return f"(?:{pattern(depth - 1)}|{pattern(depth - 1)})"
        return f"(?:{pattern(depth - 1)}){rng.choice('*+?')}"

    for _ in range(scaled(60)):
        test_it_matches_the_same(pattern(4))


def test_nothing_and_the_empty_string() -> None:
    nodes: Any = RegexNodes()
    assert spelled(nodes, nodes.EPSILON).start == sequence([])
    assert list(spelled(nodes, nodes.literal(b"a")).rules) == []


@pytest.mark.long
def test_large_automata_are_refused() -> None:
    nodes: Any = RegexNodes()
    letters = nodes.repeat(nodes.byte_set(6), 0, 2000)
    with pytest.raises(LimitExceeded, match="more than 1000 states"):
        spelled(nodes, letters)
