"""Unions and intersections keep their language, whatever is made one of."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest

import llmask

BOUNDS = [(0, 1), (1, 2), (2, 2), (3, 4), (4, 4), (5, None)]


@pytest.mark.parametrize("tail", ["", "b"])
def test_repetitions_become_one_only_where_no_number_is_left_out(byte_tokenizer: llmask.Tokenizer, tail: str) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    for pairs in [pair for n in (2, 3) for pair in combinations(BOUNDS, n)]:
        pattern = "|".join(f"a{{{low},{'' if high is None else high}}}{tail}" for low, high in pairs)
        grammar, judge = compiler.regex(pattern), re.compile(pattern)
        for n, end in product(range(8), ("", "b")):
            text = "a" * n + end
            assert grammar.accepts(text) == (judge.fullmatch(text) is not None), (pattern, text)
