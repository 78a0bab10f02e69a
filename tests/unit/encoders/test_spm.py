"""SentencePiece ids equal those that llama.cpp gives; bytes, unknown characters, special names."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.encoders.spm import SpmEncoder
from llmask.errors import VocabularyError
from llmask.tokenizer import Tokenizer
from llmask.vocabulary.vocabulary import EncoderData, from_bytes

from .samples import llama_cpp_samples


@pytest.mark.parametrize("name", ["llama-spm", "phi-3"])
def test_ids_equal_those_of_llama_cpp(shared_dir, name):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert tok.encoder_name == "spm"
    for text, expected in llama_cpp_samples(shared_dir, name):
        assert tok.encode(text) == expected, text
        assert tok.decode(expected) == text


def test_special_names_stay_text(llama_spm_tokenizer):
    assert 2 not in llama_spm_tokenizer.encode("a</s>")
    assert llama_spm_tokenizer.encode("a</s>b", parse_special=True)[1] == 2


def encoder(tokens: list[bytes], scores: list[float], unknown_id: int = -1) -> SpmEncoder:
    data = EncoderData(kind="spm", scores=np.array([*scores, 0.0], np.float32), unknown_id=unknown_id)
    return SpmEncoder(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data))


def test_the_highest_score_goes_first():
    tokens = [b"a", b"b", b"c", b"ab", b"bc"]
    assert encoder(tokens, [0, 0, 0, -2, -1]).encode("abc") == [0, 4]
    assert encoder(tokens, [0, 0, 0, -1, -2]).encode("abc") == [3, 2]
    assert encoder(tokens, [0, 0, 0, -1, -1]).encode("abc") == [3, 2]  # leftmost among equals


def test_what_no_token_spells_is_unknown_or_an_error():
    assert encoder([b"a", b"?"], [0, 0], unknown_id=1).encode("aé") == [0, 1]
    with pytest.raises(VocabularyError) as error:
        encoder([b"a"], [0]).encode("aé")
    assert str(error.value) == "no token spells byte 0xC3, so the text cannot be encoded"
