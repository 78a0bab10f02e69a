"""Kinds of tokens, and pairs that merging would break."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.canonical import neighbours
from llmask.canonical.neighbours import MERGED
from llmask.canonical.states import SplitStates, split_states_of
from llmask.kernels.canonical import split as canonical_split
from llmask.kernels.canonical.slots import CANON, REFUSED_SPLIT
from llmask.vocabulary.vocabulary import from_bytes
from tests.properties.test_healing import spaced_tokenizer
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


def step(tok: llmask.Tokenizer, states: SplitStates, state: int, before: int | None, token: int) -> int:
    """Split state after one more token."""
    tables = states.tables(state)
    kind = int(states.kinds.of_token[token])
    if kind >= len(tables.fitting):
        return REFUSED_SPLIT
    fitting, breaking = int(tables.fitting[kind]), int(tables.breaking[kind])
    if fitting == breaking or before is None:
        return fitting
    assert states.uses[before] == states.uses[token] == MERGED
    return fitting if stand_apart(tok, before, token) else breaking


def test_incompatible_tokens_are_those_of_every_pair(states: SplitStates) -> None:
    tok = llmask.Tokenizer.default()
    grammar = llmask.Compiler(tok, canonical=True).regex(r"(.|\n)*")
    merged = [token for token in range(300, 3000) if states.uses[token] == MERGED]
    for left in (tok.encode(text)[0] for text in ("na", "me", " the", "12", '"', " ")):
        matcher = grammar.matcher()
        matcher.accept_token(left)
        allowed = read_mask(matcher, tok.vocab_size)
        state = step(tok, states, states.start, None, left)
        assert {right for right in merged if step(tok, states, state, left, right) != REFUSED_SPLIT} == allowed & {
            *merged
        }


FILLERS = [bytes([byte]) for byte in range(33, 127) if byte not in b"ab"]


@pytest.mark.parametrize("letters", ["ab", "ab "])
def test_incompatible_tokens_of_merges_in_any_order(letters: str, scaled: Any, rng: random.Random) -> None:
    """Merges at random: many tokens are not made after their parts. With more than 64 tokens masks come from runs."""
    n_odd = n_refused = 0
    for _ in range(scaled(40)):
        vocabulary = spaced_tokenizer(rng, letters)._parts.vocabulary
        tokens, encoder = list(vocabulary.tokens.strings())[:-1], replace(vocabulary.encoder, ignore_merges=False)
        n, end = len(tokens), len(tokens) + len(FILLERS)
        tok = llmask.Tokenizer(from_bytes([*tokens, *FILLERS, b"<end>"], eos=end, encoder=encoder))
        states = split_states_of(tok)
        merged = np.flatnonzero(states.uses[:n] == MERGED).tolist()
        grammar = llmask.Compiler(tok, canonical=True).regex("[ -~]*")
        n_odd += len(np.unique(states._slots[CANON.odd]))
        for before in ([], [n]):
            for left in merged:
                matcher, state = grammar.matcher(), states.start
                for one, last in zip([*before, left], [None, *before], strict=False):
                    state = step(tok, states, state, last, one)
                if state == REFUSED_SPLIT:
                    continue
                matcher.accept_tokens([*before, left])
                expected = {right for right in merged if step(tok, states, state, left, right) != REFUSED_SPLIT}
                assert read_mask(matcher, tok.vocab_size) & {*merged} == expected, (tokens, left)
                n_refused += len(merged) - len(expected)
    assert n_odd > 20
    assert n_refused > 1000


def test_too_many_odd_tokens_say_so(rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MOST_ODD", 0)
    with pytest.raises(llmask.VocabularyError, match="made before their parts"):
        [SplitStates(spaced_tokenizer(rng, "ab")) for _ in range(60)]


def stand_apart(tok: llmask.Tokenizer, left: int, right: int) -> bool:
    """Whether merging the bytes of two tokens gives these two, whatever the splitter does."""
    encoder = tok._parts.word_encoder
    assert encoder is not None
    return encoder.merge_word(tok.token_bytes(left) + tok.token_bytes(right)) == [left, right]


def test_kinds_are_not_told_apart(states: SplitStates) -> None:
    """Tokens of a kind are read alike in every state that there is after some texts."""
    tok = llmask.Tokenizer.default()
    kinds = states.kinds
    assert len(kinds.samples) < tok.vocab_size // 10
    assert sorted(kinds.tokens.tolist()) == list(range(tok.vocab_size))
    everything = np.arange(tok.vocab_size, dtype=np.int32)
    samples = kinds.samples[kinds.of_token]
    for row in range(1, len(states.automaton.rows)):
        key = np.array((row, 0, 0, 0), np.int64)
        packed = np.empty((canonical_split.N_MARKS, tok.vocab_size), np.int64)
        canonical_split.split_tokens(states._splitter.ctypes.data, key.ctypes.data, everything, states.uses, packed)
        assert (packed == packed[:, samples]).all()
