"""Split states: what follows what, by the splitter and by merges."""

from __future__ import annotations

import numpy as np
import pytest

import llmask
from llmask.canonical.neighbours import MERGED
from llmask.canonical.states import SplitStates, split_states_of
from llmask.kernels import canonical_split
from llmask.kernels.canonical_fill import REFUSED_SPLIT
from tests.unit.canonical.test_neighbours import stand_apart


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


def step(states: SplitStates, state: int, before: int | None, token: int) -> int:
    """State after one more token."""
    tok = llmask.Tokenizer.default()
    tables = states.tables(state)
    kind = int(states.kinds.of_token[token])
    if kind >= len(tables.fitting):
        return REFUSED_SPLIT
    fitting, breaking = int(tables.fitting[kind]), int(tables.breaking[kind])
    if fitting == breaking or before is None:
        return fitting
    assert states.uses[before] == states.uses[token] == MERGED
    return fitting if stand_apart(tok, before, token) else breaking


def after(states: SplitStates, text: str) -> int:
    """State after the encoding of a text."""
    state, before = states.start, None
    for token in llmask.Tokenizer.default().encode(text):
        state, before = step(states, state, before, token), token
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
    tok = llmask.Tokenizer.default()
    three, one = tok.encode("   ")[0], tok.encode(" ")[0]
    state = step(states, states.start, None, three)
    state = step(states, state, three, one)
    assert state != REFUSED_SPLIT
    assert step(states, state, one, tok.encode("1")[0]) != REFUSED_SPLIT
    assert step(states, state, one, one) == REFUSED_SPLIT
    assert not states.may_end[state]


def test_masks_are_what_the_tables_say(states: SplitStates) -> None:
    state = after(states, "name")
    states.make_masks(state)
    lone, fitting = states._masks[-2:]
    of_token = states.kinds.of_token
    for mask, table in ((fitting, states.tables(state).fitting), (lone, states.tables(state).breaking)):
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(of_token)].astype(bool)
        expected = (table != REFUSED_SPLIT)[of_token]
        expected[llmask.Tokenizer.default().eos_ids] = True
        assert (bits == expected).all()


def test_states_are_those_of_the_tokenizer_and_tables_those_of_a_store() -> None:
    tokenizer = llmask.Tokenizer.default()
    stores = [llmask.Compiler(tokenizer, canonical=True).store() for _ in range(2)]
    assert stores[0].split_states is stores[1].split_states is split_states_of(tokenizer)
    assert stores[0].canonical_table is not stores[1].canonical_table


def test_states_outside_of_characters_are_made_at_once(states: SplitStates) -> None:
    missing = [key for number, key in enumerate(states._keys) if number not in states._built]
    assert states._built
    assert all(key[canonical_split.N_PARTIAL] for key in missing)


def test_other_vocabularies_are_refused() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    with pytest.raises(llmask.VocabularyError, match="is not byte-pair encoding"):
        llmask.Compiler(tokenizer, canonical=True)


def test_too_many_states_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.canonical.states.MOST_STATES", 5)
    with pytest.raises(llmask.LimitExceeded, match="more than 5 split states"):
        SplitStates(llmask.Tokenizer.default())


def test_bytes_that_begin_no_character_are_like_no_others() -> None:
    """F0 8C 80 stood for all blocks of letters, and F0 A2 85 A0, a letter, was read as something else."""
    states = SplitStates(llmask.Tokenizer.default())

    def like(data: bytes) -> int:
        return states._partial_like(int.from_bytes(data, "little"), len(data))

    broken = like(b"\xf0\x8c\x80")
    assert like(b"\xf0\xa2\x85") == like(b"\xf0\xa2\x86") != broken
    assert like(b"\xe0\x80") != like(b"\xe4\xb8") == like(b"\xe4\xb9")
    assert like(b"\xed\xa0") != like(b"\xed\x90")
