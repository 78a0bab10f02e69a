"""Tokens that merges with the last byte refuse: masks shared by all tokens that end with it, and what lies behind."""

from __future__ import annotations

import random

import pytest

import llmask
from llmask.canonical.neighbours import MERGED
from llmask.canonical.states import split_states_of
from llmask.kernels.canonical.slots import CANON
from llmask.kernels.machine.records import Map
from tests.reference.definition import read_mask

COUNT = Map.parts["count"][0]


@pytest.mark.slow
def test_masks_inside_of_a_word_are_those_of_every_pair(rng: random.Random) -> None:
    """Letters alone are one word, so that the merges decide."""
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    tok, grammar = compiler.tokenizer, compiler.regex("[a-z]*")
    uses = split_states_of(tok).uses
    letters = [token for token in range(tok.vocab_size) if uses[token] == MERGED and is_word(tok.token_bytes(token))]
    before = [token for token in letters if tok.token_bytes(token)[-1:] in b"nts"]
    spread = set()
    for left in rng.sample(before, 40):
        matcher = grammar.matcher()
        matcher.accept_token(left)
        found = read_mask(matcher, tok.vocab_size) - set(tok.eos_ids)
        assert found == {right for right in letters if tok.compatible(left, right)}, tok.token_bytes(left)
        spread.add(len(found))
    assert len(spread) > 10
    table = matcher._sequence.store.canonical_table
    assert table is not None
    assert 3 < table.slots[CANON.profiles + COUNT] < 150
    assert table.slots[CANON.byte_masks + COUNT] > 0


def is_word(data: bytes) -> bool:
    return data.isalpha() and data.islower() and data.isascii()
