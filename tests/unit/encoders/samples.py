"""Texts with the ids that llama.cpp gives (see README.md of the shared data)."""

from __future__ import annotations

from pathlib import Path

SEPARATOR = "\n__ggml_vocab_test__\n"


def llama_cpp_samples(shared_dir: Path, name: str) -> list[tuple[str, list[int]]]:
    """Pairs of text and ids of one vocabulary."""
    folder = shared_dir / "data" / "vocab"
    texts = (folder / f"{name}.inp").read_bytes().decode("utf-8").split(SEPARATOR)
    lines = (folder / f"{name}.out").read_text("utf-8").splitlines()
    assert len(texts) == len(lines) + 1  # the last separator ends the file
    assert texts[-1] == ""
    return [(text, [int(token) for token in line.split()]) for text, line in zip(texts, lines, strict=False)]
