"""Keyword by keyword: the same values are valid for the grammar and for `jsonschema`."""

from __future__ import annotations

import json
from typing import Any

import pytest

ANYTHING = [None, True, False, 0, -1, 1.5, "", "text", [], [1, "a", [None]], {}, {"a": {"b": [1]}}]

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("true", True, ANYTHING, []),
    ("empty", {}, ANYTHING, []),
    ("annotations", {"title": "t", "default": 3, "x-mine": [1], "$comment": "c"}, ANYTHING, []),
    ("lengths", {"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "éé", "😀😀😀"], ["a", "abcd", "😀"]),
    ("length 1.0", {"type": "string", "maxLength": 1.0}, ["", "a"], ["ab"]),
    ("lengths without type", {"minLength": 2}, ["ab", 1, None, []], ["a"]),
    ("pattern searches", {"type": "string", "pattern": "b+"}, ["b", "abbc"], ["", "ac"]),
    ("pattern with anchors", {"type": "string", "pattern": "^[a-c]{2}$"}, ["ab"], ["abc", "a"]),
    ("pattern and length", {"type": "string", "pattern": "^a*$", "minLength": 2}, ["aa"], ["a", "ab"]),
    ("minimum", {"type": "integer", "minimum": 3}, [3, 10, 400], [2, -5, 0]),
    ("maximum", {"type": "number", "maximum": 2.5}, [2.5, 0, -100.25, 2.49], [2.51, 3, 100]),
    ("exclusive bounds", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5, 0.001], [0, 1, -0.0]),
    ("bounds without type", {"minimum": 1}, ["a", 2, None], [0]),
    ("multipleOf", {"type": "integer", "multipleOf": 7, "minimum": -20}, [0, 7, -14, 7000], [1, -21, 8]),
    ("multipleOf without type", {"multipleOf": 2}, [4, "x"], [3]),
    ("anyOf", {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]}, [1, "ab"], ["abc", None]),
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
    ("oneOf of types", {"oneOf": [{"type": "integer"}, {"type": "string"}]}, [1, "a"], [None, 1.5]),
    (
        "oneOf with a discriminator",
        {
            "type": "object",
            "required": ["kind"],
            "oneOf": [
                {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}},
                {"properties": {"kind": {"enum": ["b", "c"]}, "n": {"type": "string"}}},
            ],
        },
        [{"kind": "a", "n": 1}, {"kind": "c", "n": "x"}, {"kind": "b"}],
        [{"kind": "a", "n": "x"}, {"kind": "d"}, {}],
    ),
    (
        "oneOf of ranges",
        {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "number", "maximum": 3}]},
        [5, 3, 0.5],
        [4],
    ),
    ("oneOf of lengths", {"type": "string", "oneOf": [{"maxLength": 2}, {"minLength": 4}]}, ["ab", "abcd"], ["abc"]),
    (
        "oneOf of closed objects",
        {
            "oneOf": [
                {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
                {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": False},
            ]
        },
        [{"a": 1}, {"b": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    ("not false", {"type": "null", "not": False}, [None], [1]),
    ("if alone", {"if": {"type": "string"}}, ANYTHING, []),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"), [case[1:] for case in CASES[::4]], ids=[c[0] for c in CASES[::4]]
)
def test_the_rules_mean_the_same_to_the_reference_engine(
    judge: Any, schema: Any, valid: list[Any], invalid: list[Any]
) -> None:
    engine = judge.reference(schema)
    for value in [*valid[:6], *invalid]:
        text = json.dumps(value, ensure_ascii=False).encode()
        assert engine.accepts(text) == judge.accepts(judge.grammar(schema), value)
