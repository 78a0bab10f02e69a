"""The schemas in `grammars/` and their samples."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

GRAMMARS = Path(__file__).resolve().parents[4] / "grammars"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in GRAMMARS.glob("*.schema.json"))


def read(name: str) -> Any:
    return json.loads((GRAMMARS / name).read_text(encoding="utf-8"))


def test_every_schema_has_samples() -> None:
    assert "person" in NAMES
    assert [name for name in NAMES if not (GRAMMARS / f"{name}.samples.json").exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_judged_as_their_file_says(judge: Any, name: str) -> None:
    schema, samples = read(f"{name}.schema.json"), read(f"{name}.samples.json")
    grammar = judge.grammar(schema)
    for value in samples["accept"]:
        assert judge.is_valid(schema, value, formats=True), value
        assert judge.accepts(grammar, value), value
    for value in samples["reject"]:
        assert not judge.is_valid(schema, value, formats=True), value
        assert not judge.accepts_in_some_order(grammar, value), value


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_under_the_mask_is_valid(judge: Any, name: str, rng: random.Random) -> None:
    schema = read(f"{name}.schema.json")
    grammar = judge.grammar(schema)
    for _ in range(5):
        text = judge.walk(grammar, rng)
        assert not text or judge.is_valid(schema, json.loads(text), formats=True), text
