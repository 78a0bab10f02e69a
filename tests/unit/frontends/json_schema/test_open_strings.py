"""Strings of which there is always another one."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.open_strings import are_open, is_open
from llmask.frontends.json_schema.pointers import ROOT
from llmask.frontends.json_schema.translation import Translation

OPEN: list[Any] = [
    {"type": "string"},
    {"type": "string", "minLength": 2},
    {"type": "string", "pattern": "^a"},
    {"type": "string", "pattern": "^[ab]*$"},
]
CLOSED: list[Any] = [
    {"type": "string", "maxLength": 2},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "pattern": "^(?:a|b[^]*)$"},  # nothing follows an a
    {"type": "string", "pattern": "^a{3}$"},
    {"type": ["string", "null"]},
    {"type": "integer"},
    {"type": "string", "minLength": 2, "maxLength": 1},
    {},
    False,
]


@pytest.mark.parametrize(("schema", "expected"), [*((one, True) for one in OPEN), *((one, False) for one in CLOSED)])
def test_places(judge: Any, schema: Any, expected: bool) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    assert is_open(translation, [(schema, ROOT)]) == expected


def test_a_node_is_looked_at_once(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    node = judge.nodes.concat([judge.nodes.literal(b"x"), judge.nodes.repeat(judge.nodes.literal(b"y"), 0)])
    assert are_open(judge.nodes, node)
    monkeypatch.setattr(judge.nodes, "derivative", None)
    assert are_open(judge.nodes, node)
