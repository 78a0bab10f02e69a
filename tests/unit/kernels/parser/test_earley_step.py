"""The Earley step takes, of lexemes that end together, those of the highest priority."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.store.store import Store
from tests.exhaustive.grammars import ranked_world
from tests.exhaustive.test_reference_engine import Ranked
from tests.reference.definition import all_strings, read_mask

LETTERS = b"abc "
TOKENS = [b"</s>", *(bytes([letter]) for letter in LETTERS)]


def test_of_lexemes_that_end_together_the_highest_are_taken(rng: random.Random, scaled: Callable[[int], int]) -> None:
    """As in tests/exhaustive/test_reference_engine.py, which asks the engine in plain Python."""
    tokenizer: Any = llmask.Tokenizer.from_bytes(TOKENS, eos=0)
    n_live = n_stay = 0
    for _ in range(scaled(60)):
        store = Store(tokenizer, llmask.Limits())
        world = ranked_world(store.nodes, rng)
        ranked = Ranked(world)
        if ranked.network is None:
            with pytest.raises(llmask.GrammarError):
                MadeGrammar(store, world.rules)
            continue
        grammar = MadeGrammar(store, world.rules)
        for data in all_strings(LETTERS, 3):
            runs, matcher = ranked.start, grammar.matcher()
            for number in range(len(data)):
                runs = ranked.step(runs, data[number : number + 1])
            if not runs:
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_bytes(data)
                continue
            matcher.accept_bytes(data)
            wanted = {number for number, token in enumerate(TOKENS) if number and ranked.step(runs, token)}
            wanted |= {0} if ranked.is_document(runs) else set()
            assert read_mask(matcher, len(TOKENS)) == wanted, (data, world)
            n_live += 1
            n_stay += data.endswith(b"c")
    assert n_live > scaled(60) * 10
    assert n_stay > scaled(60)
