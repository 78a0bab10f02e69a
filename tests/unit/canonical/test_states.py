"""Split states: what follows what, by the splitter and by merges."""

from __future__ import annotations

import pytest

import llmask
from llmask.canonical.neighbours import NO_TOKEN
from llmask.canonical.states import SplitStates
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
    monkeypatch.setattr("llmask.canonical.neighbours.MOST_LISTS", 3)
    states = SplitStates(llmask.Tokenizer.default())
    for text in ("a b", "it's", "x\n   1", '{"a": [1, 2]}'):
        assert states.may_end[after(states, text)]
    assert len(states._built) <= 3
    assert len(states._lists) <= 3


def test_other_vocabularies_are_refused() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    with pytest.raises(llmask.VocabularyError, match="is not byte-pair encoding"):
        llmask.Compiler(tokenizer, canonical=True)


def test_too_many_states_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.canonical.states.MOST_STATES", 5)
    states = SplitStates(llmask.Tokenizer.default())
    with pytest.raises(llmask.LimitExceeded, match="more than 5 split states"):
        states.table(states.start)
