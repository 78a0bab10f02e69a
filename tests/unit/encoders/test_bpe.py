"""BPE ids equal those that llama.cpp gives for the vocabularies beside the project."""

from __future__ import annotations

import pytest

from llmask.encoders.bpe import BpeEncoder
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.patterns import LLAMA3
from llmask.vocabulary.vocabulary import EncoderData, from_bytes

from .samples import llama_cpp_samples


@pytest.mark.parametrize("name", ["llama-bpe", "gpt-2", "qwen2", "falcon", "starcoder", "deepseek-llm"])
def test_ids_equal_those_of_llama_cpp(shared_dir, name):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert tok.encoder_name == "bpe"
    for text, expected in llama_cpp_samples(shared_dir, name):
        assert tok.encode(text) == expected, text
        assert tok.decode(expected) == text


def ranks_encoder(tokens: list[bytes]) -> BpeEncoder:
    vocabulary = from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=EncoderData(kind="ranks"))
    return BpeEncoder(vocabulary, (LLAMA3,))


def test_words_of_any_length():
    encoder = ranks_encoder([b"a", b"b", b"ab"])
    assert encoder.encode("ab") == encoder.encode("ab") == [2]
    assert encoder.encode("b" * 100) == [1] * 100


def test_a_byte_without_a_token_is_named():
    with pytest.raises(VocabularyError) as error:
        ranks_encoder([b"a", b"b"]).encode("abé")
    assert str(error.value) == (
        "no token spells byte 0xC3, so the text cannot be encoded\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_every_text_comes_back(default_tokenizer, rng):
    for _ in range(200):
        text = "".join(
            chr(rng.choice((rng.randrange(0xD800), rng.randrange(128), 0x1F600))) for _ in range(rng.randrange(40))
        )
        assert default_tokenizer.decode(default_tokenizer.encode(text)) == text
