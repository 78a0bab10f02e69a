"""llama.cpp reads the same vocabulary files: the same bytes for every token, the same ids for texts."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import pytest

from llmask.tokenizer import Tokenizer

from .strange_texts import strange_text

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

PIECES = (
    "a", "b", " ", "  ", "\n", "\t", "'s", "'LL", "1", "234", "é", "e\u0301", "日本", "😀", "<s>", "<|im_end|>", "\r\n",
    "\u00a0", "\u3000", "!", "...", '{"', "ﬁ", "İ", "ß", "\u200d", "The end of ", "def f(x):", "null,",
)  # fmt: skip


def load(path: str) -> Any:
    return llama_cpp.Llama(path, vocab_only=True, verbose=False)


@pytest.mark.parametrize("name", ["llama-bpe", "gpt-2", "deepseek-llm", "llama-spm", "phi-3", "bert-bge"])
def test_every_token_has_the_same_bytes(shared_dir, name):
    path = str(shared_dir / "data" / "vocab" / f"{name}.gguf")
    model, tok = load(path), Tokenizer.from_gguf(path)
    buffer = ctypes.create_string_buffer(4096)
    different = []
    for token in range(tok.vocab_size):
        # special=False: control tokens give nothing
        n_bytes = llama_cpp.llama_token_to_piece(model._model.vocab, token, buffer, len(buffer), 0, False)
        if buffer.raw[:n_bytes] != tok.token_bytes(token):
            different.append(token)
    assert different == []
    model.close()


@pytest.mark.parametrize("name", ["llama-bpe", "gpt-2", "qwen2", "falcon", "starcoder", "llama-spm"])
def test_random_texts_have_the_same_ids(shared_dir, name, scaled):
    path = str(shared_dir / "data" / "vocab" / f"{name}.gguf")
    model, tok = load(path), Tokenizer.from_gguf(path)
    rng = random.Random(3)
    for _ in range(scaled(300)):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(14)))
        text += "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xA0, 0x2000)))) for _ in range(5))
        for parse_special in (False, True):
            expected = model.tokenize(text.encode(), add_bos=False, special=parse_special)
            assert tok.encode(text, parse_special=parse_special) == expected, text
    model.close()


@pytest.mark.parametrize(("name", "n_texts"), [("nomic-bert-moe", 20_000), ("llama-spm", 5000)])
def test_strange_texts_have_the_same_ids(shared_dir, name, n_texts, rng, scaled):
    path = str(shared_dir / "data" / "vocab" / f"{name}.gguf")
    model, tok = load(path), Tokenizer.from_gguf(path)
    for _ in range(scaled(n_texts)):
        text = strange_text(rng)
        assert tok.encode(text) == model.tokenize(text.encode(), add_bos=False, special=False), text
    model.close()


@pytest.mark.parametrize("name", ["llama-bpe", "llama-spm", "nomic-bert-moe", "bert-bge"])
def test_llama_cpp_reads_the_files_that_we_write(shared_dir, name, tmp_path):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    tok.save_gguf(tmp_path / "v.gguf")
    model = load(str(tmp_path / "v.gguf"))
    for text in ("Hello, wörld! 12345", "def f(x):\n\treturn 1", "日本語 <s> ﬁ"):
        assert tok.encode(text) == model.tokenize(text.encode(), add_bos=False, special=False)
    model.close()
