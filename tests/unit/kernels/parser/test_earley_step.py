"""The Earley step takes, of lexemes that end together, those of the highest priority."""

from __future__ import annotations

import random
from collections.abc import Callable

import llmask
from llmask.store.store import Store
from tests.exhaustive.test_grammars import EOS, SPECIAL, TOKENS, check_ranks


def test_of_lexemes_that_end_together_the_highest_are_taken(rng: random.Random, scaled: Callable[[int], int]) -> None:
    tokenizer = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=SPECIAL)
    check_ranks(Store(tokenizer, llmask.Limits()), rng, scaled(60))
