"""Masks of lexer states that have those of others: of repetitions whose bound no token reaches."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.kernels.tables.store_layout import STORE
from tests.reference.definition import read_mask

LONGEST = 6
ENDS = ["", "x", "a", "[ab]", "(x|ab)", "a{0,3}", "b*", '"']


@pytest.fixture
def tokenizer(rng: random.Random) -> llmask.Tokenizer:
    tokens = {"".join(rng.choices('aaabbx"', k=rng.randint(2, LONGEST))).encode() for _ in range(300)}
    tokens |= {b"a" * n for n in range(2, LONGEST + 1)}
    listed = [*(bytes([byte]) for byte in range(256)), *sorted(tokens), b""]
    return llmask.Tokenizer.from_bytes(listed, eos=len(listed) - 1, special=[])


@pytest.mark.long
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("unit", ["a", "[ab]", "(a|bb)", "(ab?)"])
def test_bounds_that_no_token_reaches_and_those_that_it_does(
    tokenizer: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int], unit: str, end: str
) -> None:
    compiler = llmask.Compiler(tokenizer)
    n_tokens = tokenizer.vocab_size
    for high in (*range(LONGEST - 1, LONGEST + 4), 1000):
        matcher = compiler.regex(f"{unit}{{0,{high}}}{end}").matcher()
        for _ in range(scaled(4)):
            allowed = read_mask(matcher, n_tokens)
            possible = {token for token in range(n_tokens) if matcher.validate_tokens([token])}
            assert allowed == possible, (high, matcher.text())
            if not allowed:
                break
            matcher.accept_token(rng.choice(sorted(allowed)))
            if matcher.is_terminated():
                break


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_of_a_string_of_bounded_length_exactly_the_longer_tokens_are_refused(tiny_tokenizer: Any, most: int) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).json_schema({"type": "string", "maxLength": most}).matcher()
    for text in (b'"', b"a"):
        matcher.accept_bytes(text)
        possible = {token for token in range(tiny_tokenizer.vocab_size) if matcher.validate_tokens([token])}
        assert read_mask(matcher, tiny_tokenizer.vocab_size) == possible


def test_bounds_share_a_mask_and_walk_once(default_tokenizer: llmask.Tokenizer) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    array = compiler._newest_store().table.slots
    walked: list[Any] = []
    for most in (2000, 3000, 4000):
        matcher = compiler.json_schema({"type": "string", "maxLength": most}).matcher()
        for text in (b'"', b"a", b"b"):
            matcher.accept_bytes(text)
            array[STORE.walked] = 0
            read_mask(matcher, default_tokenizer.vocab_size)
            walked.append(int(array[STORE.walked]))
    assert max(walked[1:]) < 1000
