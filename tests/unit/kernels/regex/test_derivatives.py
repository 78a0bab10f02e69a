"""Derivatives as they are remembered; tests/exhaustive and tests/unit/regex compare what they mean with a twin."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.frontends.regex import compile_pattern
from llmask.store.store import Store

PATTERNS = ["(ab|ac)*d", "a{2,5}b?", "[a-c]+(?!x)d", "(a|b){3}|c*"]


@pytest.fixture(scope="module")
def nodes(tiny_tokenizer: Any) -> Any:
    return Store(tiny_tokenizer, llmask.Limits()).nodes


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_left_after_a_text_matches_the_rest_of_it(
    nodes: Any, pattern: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    node = compile_pattern(nodes, pattern)
    for _ in range(scaled(200)):
        text = "".join(rng.choices("abcdx", k=rng.randrange(8)))
        left = node
        for byte in text.encode():
            left = nodes.derivative(left, byte)
        assert nodes.is_nullable(left) == (re.fullmatch(pattern, text) is not None), text


def test_a_derivative_is_made_once(nodes: Any) -> None:
    node = compile_pattern(nodes, "(abc|abd|x[0-9]+)*")
    first = [nodes.derivative(node, byte) for byte in range(256)]
    n_nodes = nodes.n_nodes
    assert [nodes.derivative(node, byte) for byte in range(256)] == first
    assert nodes.n_nodes == n_nodes


def test_what_nothing_can_complete_is_the_empty_node(nodes: Any) -> None:
    """So no text is begun that has no end: `a.*b` and "no b" have nothing in common, though each has a text with a."""
    both = nodes.intersect([compile_pattern(nodes, "a.*b"), compile_pattern(nodes, "[^b]*")])
    assert nodes.is_empty(both)
    assert not nodes.is_empty(compile_pattern(nodes, "a.*b"))
