"""Split states: what follows what, by the splitter and by merges."""

from __future__ import annotations

import numpy as np
import pytest

import llmask
from llmask.canonical.states import SplitStates, split_states_of
from llmask.kernels.canonical.slots import REFUSED_SPLIT
from llmask.vocabulary.patterns import PATTERNS
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.reference.definition import read_mask
from tests.unit.canonical.test_neighbours import step


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


def after(states: SplitStates, text: str) -> int:
    """State after the encoding of a text."""
    state, before, tok = states.start, None, llmask.Tokenizer.default()
    for token in tok.encode(text):
        state, before = step(tok, states, state, before, token), token
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
    state = step(tok, states, states.start, None, three)
    state = step(tok, states, state, three, one)
    assert state != REFUSED_SPLIT
    assert step(tok, states, state, one, tok.encode("1")[0]) != REFUSED_SPLIT
    assert step(tok, states, state, one, one) == REFUSED_SPLIT
    assert not states.may_end[state]


def test_masks_are_what_the_tables_say(states: SplitStates) -> None:
    state = after(states, "name")
    states.make_masks(state)
    lone, fitting = states._kept[-2:]
    of_token = states.kinds.of_token
    for mask, table in ((fitting, states.tables(state).fitting), (lone, states.tables(state).breaking)):
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(of_token)].astype(bool)
        expected = (table != REFUSED_SPLIT)[of_token]
        expected[llmask.Tokenizer.default().eos_ids] = True
        assert (bits == expected).all()


@pytest.mark.parametrize("text", ["name", "1", " ", "\n", '"', "    ", "é"])
def test_first_bytes_of_the_tokens_that_may_follow(states: SplitStates, text: str) -> None:
    tok, state = llmask.Tokenizer.default(), after(states, text)
    made, kinds = states.tables(state), states.kinds.of_token
    expected = {
        tok.token_bytes(token)[0]
        for token in range(tok.vocab_size)
        if tok.token_bytes(token)
        and min(int(made.fitting[kinds[token]]), int(made.breaking[kinds[token]])) != REFUSED_SPLIT
    }
    bits = np.unpackbits(states.starts[state].view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(bits).tolist()) == expected
    assert (len(expected) < 100) == (text == "    ")  # one blank of many belongs to the next word


def test_states_are_those_of_the_tokenizer_and_tables_those_of_a_store() -> None:
    tokenizer = llmask.Tokenizer.default()
    assert split_states_of(tokenizer) is split_states_of(tokenizer)
    stores = [llmask.Compiler(tokenizer, canonical=True)._newest_store() for _ in range(2)]
    assert stores[0].canonical_table is not stores[1].canonical_table


def test_states_outside_of_characters_are_made_at_once(states: SplitStates) -> None:
    n_rows = len(states.automaton.rows)
    seen, waiting = {states.start}, [states.start]
    while waiting:
        for table in states._built[waiting.pop()]:
            fresh = {number for number in np.unique(table).tolist() if number < n_rows} - seen
            seen |= fresh
            waiting += fresh
    assert len(seen) > 10
    assert all(states._keys[number] == (number, 0, 0, 0) for number in seen)


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
        return states._partial_like(int.from_bytes(data, "little"), len(data))[0]

    broken = like(b"\xf0\x8c\x80")
    assert like(b"\xf0\xa2\x85") == like(b"\xf0\xa2\x86") != broken
    assert like(b"\xe0\x80") != like(b"\xe4\xb8") == like(b"\xe4\xb9")
    assert like(b"\xed\xa0") != like(b"\xed\x90")


def test_a_character_that_cannot_come_does_not_begin() -> None:
    """Behind a token of two no-break spaces a letter cannot come: it would take the last space for a word of its own.

    So neither can F0, which begins no space. The search behind it was given up and the token stood.
    """
    space = "\u00a0".encode()
    tokens = [*(bytes([byte]) for byte in range(256)), space, space * 2, b"<end>"]
    data = EncoderData(kind="ranks", patterns=PATTERNS["gpt-2"], ignore_merges=True)
    tok = llmask.Tokenizer(from_bytes(tokens, eos=258, encoder=data))
    matcher = llmask.Compiler(tok, canonical=True).regex(r"(.|\n)*").matcher()
    matcher.accept_tokens([ord("a"), 257])
    assert tok.encode("a\u00a0\u00a0") == matcher.tokens
    allowed = read_mask(matcher, tok.vocab_size)
    assert not allowed & {0xF0, 0xF2, 0xF4, 0xE9, ord("b")}
    assert {ord(" "), ord("\n"), 0xC2, 0xE2, 0xE3, 258} <= allowed
    assert matcher.grammar.n_cut == 0


def test_a_character_that_can_be_completed_in_one_way_only() -> None:
    """Behind E3 80 nothing but 81 may come, which is one token with it; E3 81 and others can be completed freely."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"\xe3\x80", b"\xe3\x80\x81", b"\xe4\xb8", b"<end>"]
    tok = llmask.Tokenizer(from_bytes(tokens, eos=259, encoder=EncoderData(kind="ranks", patterns=PATTERNS["gpt-2"])))
    compiler = llmask.Compiler(tok, canonical=True)
    for pattern, can_come in ((r"(.|\n)*", True), (r"[^\u3000\u3002-\u303f]*", False)):
        matcher = compiler.regex(pattern).matcher()
        for text in ("", "a", "\u4e01"):
            matcher.accept_tokens(tok.encode(text))
            allowed = read_mask(matcher, tok.vocab_size)
            assert (256 in allowed) == can_come, (pattern, text)
            assert {0xE3, 257, 258} <= allowed, (pattern, text)
        assert matcher.grammar.n_cut == 0


def test_bytes_that_are_no_tokens_prove_nothing() -> None:
    """Behind "[5" a dot could come, but no token spells it; and "]" merges with the digit."""
    data = EncoderData(kind="bpe", merges=make_table([b"5 ]"]), patterns=(r"[0-9]?[\[\]]+|[0-9]+",))
    tokenizer = llmask.Tokenizer(from_bytes([b"[", b"5", b"]", b"5]", b"<end>"], eos=4, encoder=data))
    assert tokenizer.encode("[5]") == [0, 3]
    matcher = llmask.Compiler(tokenizer, canonical=True).regex(r"\[5(\.0)?\]").matcher()
    matcher.accept_token(0)
    assert read_mask(matcher, 5) == {3}
