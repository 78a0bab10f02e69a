"""Every source gives a tokenizer of the class that was asked, and what is no source is named."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from bench.sentencepiece_files import model_bytes
from llmask.errors import VocabularyError
from llmask.kernels.machine.constants import MAX_VOCAB_SIZE
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


@pytest.mark.long
def test_a_tokenizer_is_read_by_what_its_file_is(tmp_path: Path):
    gguf = tmp_path / "any.bin"
    Tokenizer.default().save_gguf(gguf)
    loaded = OwnTokenizer.load(gguf)
    assert type(loaded) is OwnTokenizer
    assert loaded.encode("Hello world") == Tokenizer.default().encode("Hello world")
    assert Tokenizer.load(str(gguf), eos=7).eos_ids == [7]

    document = tmp_path / "tokenizer.json"
    model = {"type": "WordPiece", "vocab": {"[UNK]": 0, "[SEP]": 1, "a": 2, "##b": 3}, "unk_token": "[UNK]"}
    added = [{"id": 1, "content": "[SEP]", "special": True}]
    steps = {"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    model["continuing_subword_prefix"] = "##"
    document.write_text(" " + json.dumps({"model": model, "added_tokens": added, **steps}))
    assert Tokenizer.load(document, 1).encode("ab") == Tokenizer.load(tmp_path, eos=1).encode("ab") == [2, 3]
    with pytest.raises(VocabularyError, match="names no end-of-sequence token"):
        Tokenizer.load(document)

    ranks = tmp_path / "r50k_base.tiktoken"
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab"] + [b"%d" % n for n in range(50_000, 99_999)]
    ranks.write_bytes(b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens)))
    assert Tokenizer.load(ranks).encode("abc") == [256, 99]

    pieces = tmp_path / "pieces"
    pieces.write_bytes(model_bytes(PIECES, 1))
    assert Tokenizer.load(pieces).encode("a") == Tokenizer.from_sentencepiece(pieces).encode("a")

    for path, options in ((gguf, {}), (document, {"eos": 1}), (ranks, {}), (pieces, {})):
        n_tokens = Tokenizer.load(path, **options).vocab_size
        assert Tokenizer.load(path, vocab_size=n_tokens + 3, **options).vocab_size == n_tokens + 3
        with pytest.raises(VocabularyError, match="vocab_size=0 is not between 1"):
            Tokenizer.load(path, vocab_size=0, **options)


def test_the_largest_vocabulary_is_mostly_padding():
    tok = Tokenizer.from_bytes([b"a", b""], eos=1, vocab_size=MAX_VOCAB_SIZE)
    assert tok.vocab_size == MAX_VOCAB_SIZE
    assert tok._parts.absent_ids == ((2, MAX_VOCAB_SIZE - 1),)
    assert tok.encode("aa") == [0, 0]


def test_an_encoding_is_cut_by_rank(tmp_path: Path):
    path = tmp_path / "own.tiktoken"
    tokens = [b"<", b"a", b"b", b"ab", b"abb"]
    path.write_bytes(b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens)))
    for size, ids in ((None, [4]), (9, [4]), (4, [3, 2]), (3, [1, 2, 2])):
        tok = Tokenizer.from_tiktoken(path, eos=0, pattern="[ab]+|<", special={}, vocab_size=size)
        assert (tok.encode("abb"), tok.vocab_size) == (ids, size or 5)
