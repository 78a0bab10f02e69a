"""The vocabularies beside the project: sizes, end-of-sequence ids, loading time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from llmask.trie.layout import build_trie, check
from llmask.vocabulary.gguf import read_gguf

FACTS = {
    "llama-bpe": (128256, (128001, 128009), 256),
    "gpt-2": (50257, (50256,), 1),
    "qwen2": (151936, (151643, 151645), 3),
    "deepseek-llm": (102400, (100001,), 2),
    "falcon": (65024, (11,), 12),
    "starcoder": (49152, (0,), 38),
    "llama-spm": (32000, (2,), 3),
    "phi-3": (32064, (32000, 32007), 66),
    "nomic-bert-moe": (250048, (2,), 51),
    "bert-bge": (30522, (102,), 5),
}


@pytest.mark.parametrize("name", FACTS)
def test_sizes_and_special_ids(shared_dir, name):
    vocabulary = read_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    n_tokens, eos_ids, n_special = FACTS[name]
    assert vocabulary.tokens.n_strings == n_tokens
    assert vocabulary.eos_ids == eos_ids
    assert len(vocabulary.special_ids) == n_special
    lengths = np.diff(vocabulary.tokens.offsets)
    assert (lengths[vocabulary.special_ids] == 0).all()
    trie = build_trie(*vocabulary.tokens)
    check(trie)
    assert (trie.token >= 0).sum() + len(trie.duplicates) == (lengths > 0).sum()


def test_a_vocabulary_of_128256_tokens_loads_in_half_a_second(shared_dir):
    path = shared_dir / "data" / "vocab" / "llama-bpe.gguf"
    build_trie(*read_gguf(path).tokens)  # the first call compiles or loads kernels
    started = time.perf_counter()
    build_trie(*read_gguf(path).tokens)
    assert time.perf_counter() - started < 0.5
