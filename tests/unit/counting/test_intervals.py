"""Intervals: what is refused. That they count right: tests/properties/test_counting.py."""

from __future__ import annotations

import pickle

import pytest

from llmask import IntervalCounter, Tokenizer
from llmask.errors import LlmaskError, VocabularyError


def test_intervals_are_checked(default_tokenizer):
    counter = IntervalCounter(default_tokenizer, "aé日")
    assert counter.count(1, 3) == default_tokenizer.count("é日")
    assert counter.count(3, 3) == 0
    with pytest.raises(VocabularyError) as error:
        counter.count(2, 4)
    assert str(error.value) == (
        "count(2, 4), but 0 <= start <= end <= 3 is wanted\n  indices count characters from the beginning of the text"
    )
    with pytest.raises(VocabularyError, match="only strings are counted, not bytes"):
        IntervalCounter(default_tokenizer, b"a")
    assert IntervalCounter(default_tokenizer, "").count(0, 0) == 0


def test_bytes_without_tokens_are_named():
    tok = Tokenizer.from_bytes([b"a", b"b", b""], eos=2)
    with pytest.raises(VocabularyError, match="no token spells byte 0x63"):
        IntervalCounter(tok, "abc")


def test_words_that_are_long_are_counted_at_their_borders(default_tokenizer):
    text = "a " + "ab" * 5000 + " b" * 40 + "\u65e5" * 3000
    counter = IntervalCounter(default_tokenizer, text)
    for start, end in ((0, len(text)), (1, 5000), (3000, 3001), (3000, 10_050), (9990, 12_000), (10_100, 13_000)):
        assert counter.count(start, end) == default_tokenizer.count(text[start:end])


def test_what_comes_out_of_a_pickle_counts_the_same(default_tokenizer):
    counter = pickle.loads(pickle.dumps(IntervalCounter(default_tokenizer, "What a wonderful world")))
    assert counter.count(5, 16) == default_tokenizer.count("a wonderful")


@pytest.mark.parametrize("border", [0.5, "1", None])
def test_borders_are_integers(border: object) -> None:
    counter = IntervalCounter(Tokenizer.default(), "a text")
    with pytest.raises(LlmaskError, match="is an integer"):
        counter.count(0, border)  # type: ignore[arg-type]
