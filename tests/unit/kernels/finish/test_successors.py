"""Where the tokens of a mask lead, of several tokens with the same bytes each of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

TOKENS = [b"</s>", b"a", b"b", b",", b"ab", b"ab", b"b,a", b"b,a", b"b,a"]


@pytest.mark.parametrize("text", ['start: W ("," W)*\nW: /[ab]+/', 'start: "ab" ",ab"*'])
def test_tokens_with_the_same_bytes_fit_the_same_budgets(text: str, rng: random.Random) -> None:
    tokenizer: Any = llmask.Tokenizer.from_bytes(TOKENS, eos=0)
    grammar = llmask.Compiler(tokenizer).lark(text)
    seen = set()
    for _ in range(20):
        matcher, budget = grammar.matcher(), rng.randrange(4, 8)
        while not matcher.is_terminated():
            allowed = read_mask(matcher, len(TOKENS), budget)
            assert allowed.isdisjoint({4, 5}) or allowed >= {4, 5}, matcher.text()
            assert allowed.isdisjoint({6, 7, 8}) or allowed >= {6, 7, 8}, matcher.text()
            seen |= allowed
            matcher.accept_token(rng.choice(sorted(allowed)))
            budget -= 1
    assert seen >= {4, 5, 6, 7, 8}
