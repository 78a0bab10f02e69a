"""Making the shipped files: sizes, reproducibility, and what lies in the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import llmask.defaults
from llmask.defaults.ngram import NgramModel
from tools.training import make

PACKAGE = Path(llmask.defaults.__file__).parent


def test_the_shipped_tokenizer_is_as_described(default_tokenizer):
    assert default_tokenizer.vocab_size == make.VOCAB_SIZE == 32_768
    assert default_tokenizer.encoder_name == "bpe"
    assert default_tokenizer.eos_ids == [32_767]
    assert default_tokenizer.special_ids == [32_767]
    assert default_tokenizer.token_name(32_767) == make.END_NAME
    assert [default_tokenizer.token_bytes(token) for token in range(256)] == [bytes([byte]) for byte in range(256)]
    assert len(default_tokenizer._parts.trie.duplicates) == 0
    merges = default_tokenizer._parts.vocabulary.encoder.merges
    assert merges.n_strings == 32_768 - 257


def test_both_files_have_at_most_four_megabytes():
    assert sum((PACKAGE / name).stat().st_size for name in ("tokenizer.gguf", "ngrams.npz")) <= 4 * 2**20


SMALL = """
import sys
from pathlib import Path
from tools.training import corpus, make
texts = list(corpus.generate_documents(7, 120_000))
small = corpus.Corpus(texts[:30], [], texts)
make.VOCAB_SIZE = 700
make.gather = lambda: small
make.make(Path(sys.argv[1]))
"""


@pytest.mark.long
def test_the_same_texts_give_the_same_bytes(tmp_path):
    written = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-c", SMALL, str(folder)],
            check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}, cwd=PACKAGE.parent.parent,
        )  # fmt: skip
        written.append([(folder / name).read_bytes() for name in ("tokenizer.gguf", "ngrams.npz")])
    assert written[0] == written[1]


def test_too_little_text_is_an_error():
    with pytest.raises(RuntimeError, match=r"^the texts yield only 2\d\d tokens; is the standard library complete\?$"):
        make.make_vocabulary(make.Corpus(["a few words"], [], []))


def test_arrays_are_saved_as_numpy_reads_them(tmp_path):
    make.save_arrays(tmp_path / "a.npz", {"b": np.arange(3), "a": np.array(2)})
    with np.load(tmp_path / "a.npz") as file:
        assert file["b"].tolist() == [0, 1, 2]
        assert int(file["a"]) == 2


@pytest.mark.slow
def test_the_package_can_be_made_anew(tmp_path, monkeypatch):
    make.make(tmp_path)
    monkeypatch.setattr("llmask.defaults.ngram.FILE", tmp_path / "ngrams.npz")
    assert NgramModel.load_default().vocab_size == 32_768
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 4 * 2**20
