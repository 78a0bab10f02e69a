"""The sentencepiece library gives the same ids for models that its trainer makes on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.sentencepiece_files import field, model_of
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.gguf import read_gguf

from .strange_texts import strange_text, training_lines

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

OPTIONS: dict[str, dict[str, Any]] = {
    "identity": {"normalization_rule_name": "identity"},
    "nmt_nfkc": {"normalization_rule_name": "nmt_nfkc"},
    "identity, bytes": {"normalization_rule_name": "identity", "byte_fallback": True},
    "nmt_nfkc, bytes": {"normalization_rule_name": "nmt_nfkc", "byte_fallback": True},
    "user-defined": {"user_defined_symbols": ["<tool>", "▁▁", "ab", "\t"], "byte_fallback": True},
    "suffix": {"normalization_rule_name": "nmt_nfkc_cf", "treat_whitespace_as_suffix": True},
    "all blanks": {
        "normalization_rule_name": "nfkc", "remove_extra_whitespaces": False, "add_dummy_prefix": False,
        "split_by_whitespace": False, "allow_whitespace_only_pieces": True,
    },
    "no prefix": {"add_dummy_prefix": False, "character_coverage": 0.98},
    "no escape": {"normalization_rule_name": "identity"},
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, project_root) -> Path:
    import random

    path = tmp_path_factory.mktemp("corpus") / "lines.txt"
    folders = (project_root / "llmask", project_root / "llmask" / "compiling", project_root / "llmask" / "matching")
    source = "".join(file.read_text("utf-8") for folder in folders for file in sorted(folder.glob("*.py")))
    path.write_text("\n".join(training_lines(random.Random(1), source, 3000)), "utf-8")
    return path


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param(kind, options, marks=pytest.mark.slow if (kind, options) == ("unigram", "all blanks") else ())
        for kind in ("unigram", "bpe")
        for options in OPTIONS
    ],
)
def test_ids_are_those_of_the_library(kind, options, corpus, tmp_path, rng, costly):
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=1300, model_type=kind, num_threads=2,
        minloglevel=2, **OPTIONS[options],
    )  # fmt: skip
    path = tmp_path / "m.model"
    if options == "no escape":  # the trainer refuses it, but a file may say it: later fields count
        path.write_bytes(path.read_bytes() + field(3, field(5, 0)))
    model, tok = sentencepiece.SentencePieceProcessor(model_file=str(path)), Tokenizer.from_sentencepiece(path)
    assert tok.encoder_name == {"unigram": "ugm", "bpe": "spm"}[kind]
    texts = [strange_text(rng) for _ in range(costly(5000 if options != "no escape" else 500))]
    for text in [*texts, corpus.read_text("utf-8")]:
        expected = model.encode(text)
        assert tok.encode(text) == expected, text


@pytest.mark.parametrize("name", ["nomic-bert-moe", "llama-spm"])
def test_ids_of_real_vocabularies_are_those_of_the_library(shared_dir, name, tmp_path, rng, costly):
    path = tmp_path / "m.model"
    path.write_bytes(model_of(read_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")))
    model, tok = sentencepiece.SentencePieceProcessor(model_file=str(path)), Tokenizer.from_sentencepiece(path)
    for _ in range(costly(1250)):
        text = strange_text(rng)
        assert tok.encode(text) == model.encode(text), text
