"""Rules that are written mean the same to the reference engine; that values are valid is for test_small_worlds.py."""

from __future__ import annotations

import json
from typing import Any

import pytest

ANYTHING = [None, True, False, 0, -1, 1.5, "", "text", [], [1, "a", [None]], {}, {"a": {"b": [1]}}]

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("true", True, ANYTHING, []),
    ("length 1.0", {"type": "string", "maxLength": 1.0}, ["", "a"], ["ab"]),
    ("pattern and length", {"type": "string", "pattern": "^a*$", "minLength": 2}, ["aa"], ["a", "ab"]),
    ("bounds without type", {"minimum": 1}, ["a", 2, None], [0]),
    (
        "anyOf beside properties",
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{}, {"c": 1}, {"a": "x"}],
    ),
    ("oneOf of lengths", {"type": "string", "oneOf": [{"maxLength": 2}, {"minLength": 4}]}, ["ab", "abcd"], ["abc"]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_rules_mean_the_same_to_the_reference_engine(
    judge: Any, schema: Any, valid: list[Any], invalid: list[Any]
) -> None:
    engine = judge.reference(schema)
    for value in [*valid[:6], *invalid]:
        text = json.dumps(value, ensure_ascii=False).encode()
        assert engine.accepts(text) == judge.accepts(judge.grammar(schema), value)
