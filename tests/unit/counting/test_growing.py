"""Growing texts: what is refused. That they count right: tests/properties/test_counting.py."""

from __future__ import annotations

import copy
import pickle

import pytest

from llmask import AppendableEncoder, PrependableEncoder, Tokenizer
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


@pytest.mark.parametrize("kind", [AppendableEncoder, PrependableEncoder])
def test_copies_go_their_own_way(kind, default_tokenizer):
    # a copy kept the addresses of the first one's memory and wrote there
    encoder = kind(default_tokenizer)
    for text in ("Hello", " wörld", "!"):
        encoder.push(text)
    encoder.count()
    for copied in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        assert (copied.text(), copied.count()) == (encoder.text(), encoder.count())
        copied.rollback(2)
        copied.push("b" * 1000)
        assert copied.count() == len(copied.tokens())
    assert encoder.count() == len(encoder.tokens())
