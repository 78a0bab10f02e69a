"""A Llama run by NumPy: its logits beside the definition, token by token and together, and damaged files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.samplers.numpy_llama import NumpyLlama
from tests.generators.tiny_llama import BASE, BLOCKS, EPSILON, HEADS, SHARED, SIZE, write_tiny_llama

TOKENS = [5, 77, 256, 5, 9, 200, 31]


def defined(weights: Any, tokens: list[int]) -> Any:
    """Logits of the last token by the definition: loops over positions and heads, nothing kept, float64."""
    w = {name: values.astype(float) for name, values in weights.items()}
    size = SIZE // HEADS

    def normed(x: Any, weight: Any) -> Any:
        return x / np.sqrt((x**2).mean() + EPSILON) * weight

    def turned(vector: Any, position: int) -> Any:
        found = vector.copy()
        for pair in range(size // 2):
            z = complex(vector[2 * pair], vector[2 * pair + 1]) * np.exp(1j * position * BASE ** (-2 * pair / size))
            found[2 * pair], found[2 * pair + 1] = z.real, z.imag
        return found

    xs = [w["token_embd"][token] for token in tokens]
    for i in range(BLOCKS):
        blk = {name.split(".")[2]: values for name, values in w.items() if name.startswith(f"blk.{i}.")}
        ys = [normed(x, blk["attn_norm"]) for x in xs]
        added = []
        for here in range(len(tokens)):
            gathered = []
            for head in range(HEADS):
                own, shared = slice(head * size, (head + 1) * size), head // (HEADS // SHARED)
                of = slice(shared * size, (shared + 1) * size)
                query = turned((blk["attn_q"] @ ys[here])[own], here)
                keys = [turned((blk["attn_k"] @ y)[of], position) for position, y in enumerate(ys[: here + 1])]
                scores = np.exp([query @ key / size**0.5 for key in keys])
                parts = [score * (blk["attn_v"] @ y)[of] for score, y in zip(scores, ys, strict=False)]
                gathered.append(sum(parts) / scores.sum())
            added.append(blk["attn_output"] @ np.concatenate(gathered))
        xs = [x + more for x, more in zip(xs, added, strict=True)]
        for here, x in enumerate(xs):
            y = normed(x, blk["ffn_norm"])
            gate = blk["ffn_gate"] @ y
            xs[here] = x + blk["ffn_down"] @ (gate / (1 + np.exp(-gate)) * (blk["ffn_up"] @ y))
    return w.get("output", w["token_embd"]) @ normed(xs[-1], w["output_norm"])


@pytest.mark.parametrize("kind", ["F32", "Q4_1", "Q8_0"])
@pytest.mark.parametrize("has_output", [False, True])
def test_logits_are_those_of_the_definition(tmp_path: Path, kind: str, has_output: bool) -> None:
    weights = write_tiny_llama(tmp_path / "m.gguf", has_output=has_output, kind=kind)
    together, apart = NumpyLlama(tmp_path / "m.gguf"), NumpyLlama(tmp_path / "m.gguf")
    found = together.read(TOKENS)
    np.testing.assert_allclose(found, defined(weights, TOKENS), atol=2e-4)
    for n, token in enumerate(TOKENS, 1):
        np.testing.assert_allclose(apart.read([token]), defined(weights, TOKENS[:n]), atol=2e-4)
    assert together.n_tokens == apart.n_tokens == len(TOKENS)


def test_tokens_are_taken_back(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "m.gguf")
    model = NumpyLlama(tmp_path / "m.gguf")
    expected = model.read(TOKENS)
    model.read([1, 2])
    model.forget(len(TOKENS) - 1)
    np.testing.assert_allclose(model.read(TOKENS[-1:]), expected, atol=1e-5)
    model.begin()
    np.testing.assert_allclose(model.read(TOKENS), expected, atol=1e-5)


def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "m.gguf")
    model = NumpyLlama(tmp_path / "m.gguf")
    model.read(TOKENS)
    for tokens in ([], [1] * 64):
        with pytest.raises(ValueError, match="the context takes 1 to 64"):
            model.read(tokens)
    assert model.n_tokens == len(TOKENS)


def test_files_that_it_cannot_run_say_why(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    write_tiny_llama(path, architecture="mamba")
    with pytest.raises(llmask.VocabularyError, match="architecture mamba"):
        NumpyLlama(path)
    write_tiny_llama(path, missing="blk.1.ffn_up")
    with pytest.raises(llmask.VocabularyError, match=r"the tensor is missing\n.*blk.1.ffn_up"):
        NumpyLlama(path)
    write_tiny_llama(path)
    data = path.read_bytes()
    for n in (len(data) - 40, len(data) // 2):
        path.write_bytes(data[:n])
        with pytest.raises(llmask.VocabularyError, match=r"ends inside of the tensor|damaged|does not fit|ends after"):
            NumpyLlama(path)
    llmask.Tokenizer.default().save_gguf(path)
    with pytest.raises(llmask.VocabularyError, match=r"the field is missing\n.*llama.block_count"):
        NumpyLlama(path)
