"""Split states: what follows what, by the splitter and by merges."""

from __future__ import annotations

import pytest

import llmask
from llmask.canonical.states import NO_CHAIN, NO_TOKEN, SplitStates
from llmask.kernels.canonical_fill import REFUSED_SPLIT


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


def after(states: SplitStates, text: str) -> int:
    """State after the encoding of a text."""
    state, before = states.start, NO_TOKEN
    for token in states.tokenizer.encode(text):
        state, before = states.after(state, before, token), token
        assert state != REFUSED_SPLIT
    return state


@pytest.mark.parametrize(
    "text", ["a b", "it's", "x\n   1", "\n \n  y", "12345", "é語😀", '{"a": [1, 2]}', "   ", " \t z"]
)
def test_every_encoding_has_states(states: SplitStates, text: str) -> None:
    assert states.may_end[after(states, text)]


@pytest.mark.parametrize(("text", "ends"), [("name", ' "1.\n'), ("12", 'a"'), (" ", "1"), ("'", " 1")])
def test_characters_that_end_the_word(states: SplitStates, text: str, ends: str) -> None:
    low, high = (int(word) & (1 << 64) - 1 for word in states.ends[after(states, text)])
    bits = high << 64 | low
    for byte in ends.encode():
        assert bits >> byte & 1, chr(byte)
    assert not bits >> ord("e") & 1 or text == "12"


def test_incompatible_tokens_are_those_of_every_pair(states: SplitStates) -> None:
    tok = states.tokenizer
    for left in (tok.encode(text)[0] for text in ("na", "me", " the", "12", '"', " ")):
        found = set(states.incompatible(left).tolist())
        assert found
        for right in range(300, 3000):
            if states.has_neighbours(right):
                word = tok.token_bytes(left) + tok.token_bytes(right)
                assert (right in found) == (not is_merged_apart(tok, word, left, right)), (left, right)


def is_merged_apart(tok: llmask.Tokenizer, word: bytes, left: int, right: int) -> bool:
    """Whether merging a word of two tokens gives these two, whatever the splitter does."""
    from llmask.kernels.jit import make_ready

    make_ready("encoders")
    import numpy as np

    encoder = tok.word_encoder
    assert encoder is not None
    encoder.tables.add_merges()
    from llmask.encoders.tables import address_of

    out = np.empty(len(word) + 1, np.int32)
    ends = np.array([len(word)], np.int32)
    heap = 1
    n = encoder.tables.doors.encode_text_otherwise(
        encoder.tables.address, address_of(word), len(word), ends, heap, 0, 0, out
    )
    is_whole = n == 1 and tok.vocabulary.encoder.ignore_merges
    return bool(out[:n].tolist() == [left, right]) and not is_whole


def test_a_pair_that_must_be_split(states: SplitStates) -> None:
    tok = states.tokenizer
    three, one = tok.encode("   ")[0], tok.encode(" ")[0]
    state = states.after(states.start, NO_TOKEN, three)
    state = states.after(state, three, one)
    assert state != REFUSED_SPLIT
    assert states.after(state, one, tok.encode("1")[0]) != REFUSED_SPLIT
    assert states.after(state, one, one) == REFUSED_SPLIT
    assert not states.may_end[state]


def test_tables_are_dropped_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.canonical.states.MOST_TABLES", 3)
    monkeypatch.setattr("llmask.canonical.states.MOST_LISTS", 3)
    states = SplitStates(llmask.Tokenizer.default())
    for text in ("a b", "it's", "x\n   1", '{"a": [1, 2]}'):
        assert states.may_end[after(states, text)]
    assert len(states._built) <= 3
    assert len(states._lists) <= 3


def test_chains_of_words_that_are_tokens() -> None:
    vocabulary = llmask.Tokenizer.default().vocabulary
    assert vocabulary.encoder.ignore_merges
    states = SplitStates(llmask.Tokenizer.default())
    assert states.chain_ends(NO_CHAIN) == []
    assert states.chain_after(NO_CHAIN, states.start, states.tokenizer.encode("a")[0]) == NO_CHAIN


def test_other_vocabularies_are_refused() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    with pytest.raises(llmask.VocabularyError, match="is not byte-pair encoding"):
        llmask.Compiler(tokenizer, canonical=True)


def test_too_many_states_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.canonical.states.MOST_STATES", 5)
    states = SplitStates(llmask.Tokenizer.default())
    with pytest.raises(llmask.LimitExceeded, match="more than 5 split states"):
        states.table(states.start)
