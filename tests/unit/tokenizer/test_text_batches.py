"""A batch of texts gives what the texts give one by one."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.text_batches import GROUP_SIZE
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, freeze_vocabulary


@pytest.fixture
def named() -> Tokenizer:
    """Bytes, and a user-defined token."""
    texts = [*(bytes([byte]) for byte in range(256)), b"ab", b"<tool>", b""]
    types = np.array([TokenType.NORMAL] * 257 + [TokenType.USER_DEFINED, TokenType.CONTROL], np.uint8)
    data = EncoderData(kind="ranks", pretokenizer="gpt-2")
    return Tokenizer(
        freeze_vocabulary(make_table(texts), make_table(texts), types, types == TokenType.CONTROL, (258,), data)
    )


def test_groups_with_and_without_names(named):
    texts = ["ab " * (GROUP_SIZE // 5)] * 4 + ["x<tool>ab"] + ["ab<tool" * GROUP_SIZE, "", ">"]
    expected = [named.encode(text) for text in texts]
    assert expected[4] == [120, 257, 256]
    for threads in (None, 1, 3):
        assert named.encode_batch(texts, threads=threads) == expected
    assert named.encode_batch([]) == []


@pytest.mark.long
@pytest.mark.parametrize("n_texts", [1, 7, 3_000, 40_000])
def test_every_text_is_in_one_group(named, n_texts):
    texts = ["ab " * (i % 23) + str(i) for i in range(n_texts)]
    expected = [named.encode(text) for text in texts]
    for threads in (1, 2, 7):
        assert named.encode_batch(texts, threads=threads) == expected


@pytest.mark.parametrize("texts", [["a", None], ["a", "\ud800"], "ab"])
def test_what_is_no_text_is_named(named, texts):
    with pytest.raises(VocabularyError):
        named.encode_batch(texts)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_of_several_reasons_the_first_is_named(named, threads):
    good = "ab " * GROUP_SIZE
    texts = [good, good + "\ud801", good, good, good + "\ud802", good]
    with pytest.raises(VocabularyError) as error:
        named.encode_batch(texts, threads=threads)
    assert "U+D801" in str(error.value)
