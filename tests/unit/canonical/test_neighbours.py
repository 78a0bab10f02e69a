"""Kinds of tokens, and pairs that merging would break."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.canonical import neighbours
from llmask.canonical.neighbours import MERGED
from llmask.canonical.states import SplitStates
from llmask.encoders.tables import address_of
from llmask.kernels.canonical import pairs as canonical_pairs
from llmask.kernels.canonical import split as canonical_split
from llmask.kernels.canonical.slots import CANON, REFUSED_SPLIT
from tests.properties.test_healing import spaced_tokenizer


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


def incompatible(table: Any, token: int, split: int = canonical_pairs.ANY_SPLIT) -> set[int]:
    found = np.empty(10_000_000, np.int32)
    return set(found[: canonical_pairs.find_incompatible(table.address, split, token, found)].tolist())


def test_incompatible_tokens_are_those_of_every_pair(states: SplitStates) -> None:
    tok = llmask.Tokenizer.default()
    table = states.new_table()
    for left in (tok.encode(text)[0] for text in ("na", "me", " the", "12", '"', " ")):
        found = incompatible(table, left)
        assert found
        for right in range(300, 3000):
            if states.uses[right] == MERGED:
                assert (right in found) == (not stand_apart(tok, left, right)), (left, right)


@pytest.mark.parametrize("letters", ["ab", "ab "])
def test_incompatible_tokens_of_merges_in_any_order(letters: str, scaled: Any, rng: random.Random) -> None:
    """Merges at random: many tokens are not made after their parts."""
    n_odd = n_found = n_spared = 0
    for _ in range(scaled(60)):
        tok = spaced_tokenizer(rng, letters)
        states = SplitStates(tok)
        merged = np.flatnonzero(states.uses == MERGED).tolist()
        table = states.new_table()
        n_odd += len(np.unique(states._slots[CANON.odd]))
        for left in merged:
            found = incompatible(table, left) & set(merged)
            assert found == {right for right in merged if not stand_apart(tok, left, right)}, (left, found)
            n_found += len(found)
            for split in states._built:  # where it does not matter a token need not be found
                matters = {right for right in found if has_effect(states, split, right)}
                some = incompatible(table, left, split) & set(merged)
                assert matters <= some <= found
                n_spared += len(found - some)
    assert n_odd > 20
    assert n_found > 1000
    assert n_spared > 100


def has_effect(states: SplitStates, split: int, token: int) -> bool:
    """Whether a split state tells apart if a token is compatible with the one before."""
    made, kind = states.tables(split), states.kinds.of_token[token]
    return bool(made.fitting[kind] not in (REFUSED_SPLIT, made.breaking[kind]))


def test_too_many_odd_tokens_say_so(rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MOST_ODD", 0)
    with pytest.raises(llmask.VocabularyError, match="made before their parts"):
        [SplitStates(spaced_tokenizer(rng, "ab")) for _ in range(60)]


def stand_apart(tok: llmask.Tokenizer, left: int, right: int) -> bool:
    """Whether merging the bytes of two tokens gives these two, whatever the splitter does."""
    word = tok.token_bytes(left) + tok.token_bytes(right)
    encoder = tok._parts.word_encoder
    assert encoder is not None
    encoder.tables.add_merges()
    out = np.empty(len(word) + 1, np.int32)
    ends = np.array([len(word)], np.int32)
    dropout = 2  # merges at random, here none left out: a word that is a token is merged all the same
    n = encoder.tables.doors.encode_text_otherwise(
        encoder.tables.address, address_of(word), len(word), ends, dropout, 0, 0, out
    )
    return bool(out[:n].tolist() == [left, right])


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
