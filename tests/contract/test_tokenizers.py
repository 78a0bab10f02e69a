"""The tokenizers library gives the same ids for tokenizer.json files of words, pieces and merges."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from llmask.tokenizer.tokenizer import Tokenizer

from .strange_texts import strange_text, training_lines

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
normalizers, pre_tokenizers = tokenizers.normalizers, tokenizers.pre_tokenizers

LETTERS = "abcdefghijklmnopqrstuvwxyz Größeétinavproclmu日本東京한국어"


def lines(project_root) -> list[str]:
    source = (project_root / "llmask" / "tokenizer" / "tokenizer.py").read_text("utf-8")
    return [line[:200] for line in training_lines(random.Random(1), source, 500)]


def metaspace_bpe(**options: Any) -> Any:
    model = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True))
    model.pre_tokenizer = pre_tokenizers.Metaspace(**options)
    return model


def prepending_bpe() -> Any:
    model = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True))
    model.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return model


@pytest.mark.parametrize("name", ["metaspace", "metaspace in one", "prepend"])
def test_merges_of_pieces(name, project_root, tmp_path, rng, scaled):
    model = {
        "metaspace": metaspace_bpe, "metaspace in one": lambda: metaspace_bpe(split=False), "prepend": prepending_bpe,
    }[name]()  # fmt: skip
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<unk>", "</s>"], show_progress=False, max_token_length=20
    )
    model.train_from_iterator(lines(project_root), trainer)
    model.save(str(tmp_path / "tokenizer.json"))
    tok = Tokenizer.from_huggingface(tmp_path)
    assert tok.encoder_name == "spm"
    for _ in range(scaled(1000)):
        text = strange_text(rng)
        assert tok.encode(text, parse_special=True) == model.encode(text, add_special_tokens=False).ids, text


@pytest.mark.parametrize("splits", [True, False])
@pytest.mark.parametrize("byte_fallback", [True, False])
def test_unigram_pieces(splits, byte_fallback, tmp_path, rng, scaled):
    pieces = [("<unk>", 0.0), ("</s>", 0.0), *((f"<0x{byte:02X}>", 0.0) for byte in range(256))]
    words = {"".join(rng.choices(LETTERS, k=rng.randrange(1, 6))).replace(" ", "▁") for _ in range(1500)}
    # float32, as trained models have them: with more digits rounding would decide between cuts of equal sums
    pieces += [
        (word, float(np.float32(-rng.uniform(1, 20)))) for word in sorted(words | {"▁", *LETTERS.replace(" ", "")})
    ]
    model = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, 0, byte_fallback=byte_fallback))
    model.add_special_tokens(["<unk>", "</s>"])
    model.pre_tokenizer = pre_tokenizers.Metaspace(split=splits)
    model.save(str(tmp_path / "tokenizer.json"))
    tok = Tokenizer.from_huggingface(tmp_path)
    assert tok.encoder_name == "ugm"
    for _ in range(scaled(1000)):
        text = strange_text(rng).replace("<0x41>", "")  # the library takes the name of a byte for the byte
        assert tok.encode(text, parse_special=True) == model.encode(text, add_special_tokens=False).ids, text


@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"strip_accents": False}])
def test_words(options, project_root, tmp_path, rng, scaled):
    model = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    model.normalizer = normalizers.BertNormalizer(**options)
    model.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=1000, special_tokens=["[UNK]", "[SEP]", "</s>"], show_progress=False
    )
    model.train_from_iterator(lines(project_root), trainer)
    model.save(str(tmp_path / "tokenizer.json"))
    tok = Tokenizer.from_huggingface(tmp_path)
    assert tok.encoder_name == "wpm"
    for _ in range(scaled(1000)):
        text = only_old_characters(strange_text(rng))
        assert tok.encode(text, parse_special=True) == model.encode(text, add_special_tokens=False).ids, text


def only_old_characters(text: str) -> str:
    """A text of characters that every version of Unicode in use knows: the two libraries have different ones."""
    old = [(0x20, 0x250), (0x300, 0x36F), (0x391, 0x3C9), (0x400, 0x480), (0x5D0, 0x5EA), (0x621, 0x64A)]
    old += [(0x2010, 0x2030), (0x3041, 0x3096), (0x4E00, 0x9FA0), (0xAC00, 0xD7A3), (0x1F600, 0x1F640), (9, 14)]
    return "".join(c for c in text if any(low <= ord(c) <= high for low, high in old))
