"""Pairs that merging would break, and words that are tokens."""

from __future__ import annotations

import numpy as np
import pytest

import llmask
from llmask.canonical.neighbours import NO_CHAIN
from llmask.canonical.states import SplitStates
from llmask.encoders.tables import address_of
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def states() -> SplitStates:
    return SplitStates(llmask.Tokenizer.default())


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
    encoder = tok.word_encoder
    assert encoder is not None
    encoder.tables.add_merges()
    out = np.empty(len(word) + 1, np.int32)
    ends = np.array([len(word)], np.int32)
    heap = 1
    n = encoder.tables.doors.encode_text_otherwise(
        encoder.tables.address, address_of(word), len(word), ends, heap, 0, 0, out
    )
    is_whole = n == 1 and tok.vocabulary.encoder.ignore_merges
    return bool(out[:n].tolist() == [left, right]) and not is_whole


def test_chains_of_words_that_are_tokens() -> None:
    vocabulary = llmask.Tokenizer.default().vocabulary
    assert vocabulary.encoder.ignore_merges
    states = SplitStates(llmask.Tokenizer.default())
    assert states.chain_ends(NO_CHAIN) == []
    assert states.chain_after(NO_CHAIN, states.start, states.tokenizer.encode("a")[0]) == NO_CHAIN


def test_a_word_that_is_a_token_is_not_spelled_otherwise() -> None:
    """Merging makes "ab" + "c" of "abc", which is a token: the two must be followed by more of the word."""
    merges = make_table([b"a b"])
    data = EncoderData(kind="bpe", merges=merges, patterns=(r"[a-z]+|[^a-z]+",), ignore_merges=True)
    tokens = [b"a", b"b", b"c", b"ab", b"abc", b" "]
    tokenizer = llmask.Tokenizer(from_bytes([*tokens, b"<end>"], eos=6, encoder=data))
    assert tokenizer.encode("abc") == [4]
    assert tokenizer.encode("abcc") == [3, 2, 2]
    compiler = llmask.Compiler(tokenizer, canonical=True)
    matcher = compiler.choice(["abc", "abcc", "abc a"]).matcher()
    assert read_mask(matcher, 7) == {3, 4}
    matcher.accept_token(3)
    assert read_mask(matcher, 7) == {2}
    matcher.accept_token(2)
    assert read_mask(matcher, 7) == {2}
    assert not matcher.is_accepting()
    matcher.rollback(2)
    matcher.accept_token(4)
    assert read_mask(matcher, 7) == {5, 6}


def test_a_chain_that_the_look_ahead_does_not_know_is_counted() -> None:
    """The search knows no chains: "ab" is allowed where only "c" and the end can follow, and the next mask is cut."""
    merges = make_table([b"a b"])
    data = EncoderData(kind="bpe", merges=merges, patterns=(r"[a-z]+|[^a-z]+",), ignore_merges=True)
    tokens = [b"a", b"b", b"c", b"ab", b"abc", b" "]
    tokenizer = llmask.Tokenizer(from_bytes([*tokens, b"<end>"], eos=6, encoder=data))
    grammar = llmask.Compiler(tokenizer, canonical=True).choice(["abc", "abc a"])
    matcher = grammar.matcher()
    assert 4 in read_mask(matcher, 7)
    assert grammar.n_cut == 0
    matcher.accept_token(3)
    assert read_mask(matcher, 7) == {2}
    assert grammar.n_cut == 1
