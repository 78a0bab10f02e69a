"""Growing texts and intervals: what is refused. That they count right: tests/properties/test_counting.py."""

from __future__ import annotations

import pytest

from llmask import AppendableEncoder, IntervalCounter, PrependableEncoder, Tokenizer
from llmask.errors import LlmaskError, VocabularyError


@pytest.mark.parametrize("kind", [AppendableEncoder, PrependableEncoder])
def test_arguments_are_checked(kind, default_tokenizer):
    encoder = kind(default_tokenizer)
    encoder.push("ab")
    with pytest.raises(VocabularyError, match="only str and bytes can be pushed, not int"):
        encoder.push(1)
    with pytest.raises(VocabularyError, match=r"lone surrogate U\+D83D"):
        encoder.push("\ud83d")
    with pytest.raises(VocabularyError, match=r"rollback\(2\), but 1 texts were pushed"):
        encoder.rollback(2)
    with pytest.raises(LlmaskError, match="a number of pushes is an integer, not str"):
        encoder.rollback("1")
    assert encoder.count() == default_tokenizer.count("ab")
    encoder.rollback()
    assert (encoder.text(), encoder.count(), encoder.tokens()) == (b"", 0, [])
    with pytest.raises(VocabularyError, match="a Tokenizer is wanted, not str"):
        kind("tokenizer")


def test_bytes_without_tokens_are_named():
    tok = Tokenizer.from_bytes([b"a", b"b", b""], eos=2)
    encoder = AppendableEncoder(tok)
    encoder.push("abc")
    with pytest.raises(VocabularyError, match="no token spells byte 0x63"):
        encoder.count()
    encoder.rollback()
    encoder.push(b"a\xff")
    with pytest.raises(VocabularyError, match="not UTF-8 at byte 1"):
        encoder.count()
    with pytest.raises(VocabularyError, match="no token spells byte 0x63"):
        IntervalCounter(tok, "abc")


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
