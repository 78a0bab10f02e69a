"""The same weights in three runtimes write the same text under the same masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import llmask
from bench.quality.__main__ import encoded, write
from bench.quality.items import Item, classification_items, extraction_items, spread
from bench.quality.reading import Reading
from bench.quality.runtimes import LlamaCpp, Transformers, gap_between
from bench.quality.writers import writer

ROUNDING = 1e-3  # logits of float32 differ by less between runtimes; where two tokens are so close, texts may part


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return spread([*extraction_items()], 4) + spread([*classification_items()], 3)


@pytest.fixture(scope="module")
def texts(items: list[Item], reading: Reading, tokenizer: llmask.Tokenizer) -> list[list[int]]:
    """What the model writes by NumPy."""
    return written(items, reading, tokenizer)


def written(items: list[Item], reading: Reading, tokenizer: llmask.Tokenizer) -> list[list[int]]:
    by, found = writer("llmask", tokenizer), []
    for item in items:
        reading.begin(encoded(tokenizer, item))
        tokens, has_ended = write(reading, by, item, frozenset(tokenizer.eos_ids))
        assert has_ended
        found.append(tokens)
    return found


@pytest.mark.parametrize("name", ["transformers", "llama.cpp"])
def test_a_runtime_writes_what_numpy_writes(
    name: str,
    items: list[Item],
    texts: list[list[int]],
    reading: Reading,
    tokenizer: llmask.Tokenizer,
    path: Path,
    request: Any,
) -> None:
    if name == "transformers":
        for module in ("torch", "transformers", "accelerate"):
            pytest.importorskip(module, reason=f"{module} is not installed")
        other = Reading(Transformers(path))
    else:
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
        other = Reading(LlamaCpp(request.getfixturevalue("float32")))
    for item, one, two in zip(items, texts, written(items, other, tokenizer), strict=True):
        if one != two:
            place, gap = gap_between(reading, encoded(tokenizer, item), one, two, min(tokenizer.eos_ids))
            assert abs(gap) < ROUNDING, (
                f"{item.id}, token {place}: {tokenizer.decode(one)!r}, {tokenizer.decode(two)!r}"
            )
