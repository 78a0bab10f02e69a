"""WordPiece ids equal those that llama.cpp gives for an uncased BERT."""

from __future__ import annotations

import pytest

from llmask.encoders.wordpiece import WordPieceEncoder, split_bert_words
from llmask.errors import VocabularyError
from llmask.tokenizer import Tokenizer
from llmask.vocabulary.vocabulary import EncoderData, from_bytes

from .samples import llama_cpp_samples


def test_ids_equal_those_of_llama_cpp(shared_dir):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "bert-bge.gguf")
    assert tok.encoder_name == "wpm"
    for text, expected in llama_cpp_samples(shared_dir, "bert-bge"):
        assert tok.encode(text) == expected, text
    assert tok.decode(tok.encode("hello world")) == "hello world"


def test_words():
    assert split_bert_words("It's  Zoë\u00a0№5\t日本\0\u200b$x") == [
        "it", "'", "s", "zoe", "№5", "日", "本", "$", "x",
    ]  # fmt: skip


def test_a_word_with_an_unknown_part_is_unknown_as_a_whole():
    tokens = [b" un", b"able", b"<unk>", b"<end>"]
    encoder = WordPieceEncoder(from_bytes(tokens, eos=3, encoder=EncoderData(kind="wpm", unknown_id=2)))
    assert encoder.encode("Unable unx able") == [0, 1, 2, 2]
    strict = WordPieceEncoder(from_bytes(tokens, eos=3, encoder=EncoderData(kind="wpm")))
    with pytest.raises(VocabularyError) as error:
        strict.encode("unable unx")
    assert str(error.value) == 'no tokens spell "unx", so the text cannot be encoded'
