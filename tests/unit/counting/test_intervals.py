"""Intervals: what is refused. That they count right: tests/properties/test_counting.py."""

from __future__ import annotations

import pytest

from llmask import IntervalCounter, Tokenizer
from llmask.errors import VocabularyError


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
