"""BPE ids equal those of tiktoken and of Hugging Face tokenizers, on mixed text and on random strings."""

from __future__ import annotations

import json
import random

import pytest

from bench.tokenizers import peers, texts
from llmask import Tokenizer

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")


def assert_equal(ids: list[int], expected: list[int], text: str) -> None:
    """Equal ids; names the first difference, for the texts are long."""
    if ids != expected:
        place = next(i for i, pair in enumerate(zip([*ids, -1], [*expected, -1], strict=False)) if pair[0] != pair[1])
        found, wanted = ids[place : place + 5], expected[place : place + 5]
        raise AssertionError(f"token {place}: {found} is not {wanted}; {text[:200]!r}")


@pytest.mark.parametrize("name", ["llama-bpe", "qwen2", "gpt-2", "starcoder", "falcon", "deepseek-llm"])
def test_random_strings(shared_dir, name, costly, rng):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    peer = peers.hugging_face(tok)
    judges = {"tokenizers": lambda text: peer.encode(text, add_special_tokens=False).ids}
    if name == "llama-bpe":
        judges["tiktoken"] = peers.tiktoken_encoding(tok).encode_ordinary
    user_defined = [tok.token_name(t) for t in range(tok.vocab_size) if tok._parts.vocabulary.types[t] == 4]
    for _ in range(costly(250)):
        text = texts.random_text(rng, rng.randrange(1, 12))
        if any(found in text for found in user_defined):
            continue  # the peers are made without added tokens
        for judge in judges.values():
            assert_equal(tok.encode(text), judge(text), text)


def test_mixed_text(llama3_tokenizer, costly):
    tok = llama3_tokenizer
    judges = [peers.tiktoken_encoding(tok).encode_ordinary]
    peer = peers.hugging_face(tok)
    judges.append(lambda text: peer.encode(text, add_special_tokens=False).ids)
    for seed in range(costly(2)):
        text = texts.many_kinds(200_000, seed)
        ids = tok.encode(text)
        for judge in judges:
            assert_equal(ids, judge(text), text)
        for method in ("table", "heap"):
            assert_equal(tok.encode(text, method=method), ids, text)
        assert tok.count(text) == len(ids)
        assert tok.decode(ids) == text


def test_dropout_is_between_bytes_and_exact(llama3_tokenizer):
    text = texts.english()[:20_000]
    tok, n_exact = llama3_tokenizer, llama3_tokenizer.count(text)
    assert tok.encode(text, method="dropout", dropout=0.0) == tok.encode(text)
    assert len(tok.encode(text, method="dropout", dropout=1.0)) == len(text.encode())
    lengths = [len(tok.encode(text, method="dropout", dropout=p, seed=3)) for p in (0.0, 0.1, 0.3, 0.6, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[0] == n_exact
    some = tok.encode(text, method="dropout", seed=1)
    assert some == tok.encode(text, method="dropout", seed=1) != tok.encode(text, method="dropout", seed=2)
    assert tok.decode(some) == text
    # the share of tokens is that of the library's own dropout
    document = json.loads(peers.hugging_face(tok).to_str())
    document["model"]["dropout"] = 0.1
    peer = tokenizers.Tokenizer.from_str(json.dumps(document))
    expected = len(peer.encode(text, add_special_tokens=False).ids)
    assert abs(lengths[1] / expected - 1) < 0.02


def test_fewest_tokens_are_not_more_than_exact_ones(llama3_tokenizer, scaled):
    rng = random.Random(2)
    for _ in range(scaled(100)):
        text = texts.random_text(rng, 8)
        fewest = llama3_tokenizer.encode(text, method="minimal")
        assert len(fewest) <= min(llama3_tokenizer.count(text), len(llama3_tokenizer.encode(text, method="greedy")))
        assert llama3_tokenizer.decode(fewest) == text
