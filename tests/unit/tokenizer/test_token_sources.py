"""Every source gives a tokenizer of the class that was asked, and what is no source is named."""

from __future__ import annotations

import pytest

from bench.sentencepiece_files import model_bytes
from llmask.errors import VocabularyError
from llmask.tokenizer.token_sources import DEFAULT_FILE
from llmask.tokenizer.tokenizer import Tokenizer

from ..vocabulary.test_sentencepiece import PIECES


class OwnTokenizer(Tokenizer):
    """What a caller may derive."""


def test_sources_make_the_class_that_was_asked(tmp_path):
    (tmp_path / "m.model").write_bytes(model_bytes(PIECES, 1))
    (tmp_path / "r50k_base.tiktoken").write_bytes(b"YQ== 0\nYg== 1\n")
    made = [
        OwnTokenizer.default(),
        OwnTokenizer.from_gguf(DEFAULT_FILE),
        OwnTokenizer.from_bytes([b"a", b""], eos=1),
        OwnTokenizer.from_sentencepiece(tmp_path / "m.model"),
        OwnTokenizer.from_tiktoken(tmp_path / "r50k_base.tiktoken", special={"<|endoftext|>": 2}),
    ]
    assert [type(tok) for tok in made] == [OwnTokenizer] * len(made)
    assert [tok.encoder_name for tok in made] == ["bpe", "bpe", "greedy", "ugm", "bpe"]


@pytest.mark.parametrize("name", ["from_gguf", "from_sentencepiece"])
def test_what_is_no_path_is_named(name):
    with pytest.raises(VocabularyError, match="int is not a path"):
        getattr(Tokenizer, name)(3)


def test_a_saved_tokenizer_is_the_same(tmp_path):
    tok = Tokenizer.from_bytes([b"a", b"b", b"ab", b""], eos=3)
    tok.save_gguf(tmp_path / "v.gguf")
    same = Tokenizer.from_gguf(tmp_path / "v.gguf")
    assert same.encode("abba") == tok.encode("abba") == [2, 1, 0]
    assert (same.eos_ids, same.encoder_name) == ([3], "greedy")
