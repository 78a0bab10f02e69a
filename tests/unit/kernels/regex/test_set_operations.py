"""Unions and intersections keep their language, whatever is made one of."""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import Any

import pytest

import llmask
from llmask.frontends.regex import compile_pattern


@pytest.mark.parametrize("text", ["(?:a|ab|)", "(?:a|bc)*", "(?:uü|é?)", "b{0,3}"])
def test_text_before_any_text_is_any_text(store: Any, text: str) -> None:
    def node(pattern: str) -> int:
        return compile_pattern(store.nodes, pattern, json_string=True)

    anything = node("(?s:.*)x")
    assert node(f"{text}(?s:.*)x") == anything
    assert store.nodes.union([node(f"{text}c(?s:.*)x"), anything]) == anything
    n_nodes = store.nodes.n_nodes
    assert store.nodes.is_empty(store.nodes.without(node(f"(?:c|{text}d)(?s:.*)x"), [anything]))
    assert store.nodes.n_nodes - n_nodes < 40  # it took a search through all derivatives


BOUNDS = [(0, 1), (1, 2), (2, 2), (3, 4), (4, 4), (5, None)]


@pytest.mark.parametrize("tail", ["", "b"])
def test_repetitions_become_one_only_where_no_number_is_left_out(byte_tokenizer: Any, store: Any, tail: str) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    for character, bounds in ("c", "1,2 3,4"), ("d", "3,4 1,2"):  # the node that is made first comes first
        parts = [compile_pattern(store.nodes, f"{character}{{{some}}}{tail}") for some in bounds.split()]
        assert store.nodes.union(parts) == compile_pattern(store.nodes, f"{character}{{1,4}}{tail}")
    for pairs in [pair for n in (2, 3) for pair in combinations(BOUNDS, n)]:
        pattern = "|".join(f"a{{{low},{'' if high is None else high}}}{tail}" for low, high in pairs)
        grammar, judge = compiler.regex(pattern), re.compile(pattern)
        for n, end in product(range(8), ("", "b")):
            text = "a" * n + end
            assert grammar.accepts(text) == (judge.fullmatch(text) is not None), (pattern, text)
