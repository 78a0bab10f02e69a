"""Which `oneOf` is proved to be exclusive, and which is refused."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import UnsatisfiableSchema, UnsupportedSchema

KIND = {"type": "object", "required": ["kind"]}

EXCLUSIVE: list[list[Any]] = [
    [{"type": "string"}, {"type": "null"}, {"type": "number"}],
    [{"const": 1}, {"const": 2}, {"enum": ["a"]}],
    [{"const": {"a": 1}}, {"type": "object", "required": ["b"]}],
    [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}],
    [{"type": "string", "format": "date"}, {"type": "string", "maxLength": 9}],
    [{"type": "integer", "maximum": 0}, {"type": "number", "exclusiveMinimum": 0}],
    [{"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 6, "minimum": 1, "maximum": 11}],
    [{**KIND, "properties": {"kind": {"const": "a"}}}, {**KIND, "properties": {"kind": {"const": "b"}}}],
    [{**KIND, "properties": {"kind": {"const": "a"}}}, {"type": "object", "properties": {"kind": {"type": "null"}}}],
    [{**KIND}, {"type": "object", "properties": {"a": {}}, "additionalProperties": False}],
    [{**KIND}, {"type": "object", "properties": {"kind": False}}],
    [{"type": "object", "required": ["a", "b"]}, {"type": "object", "maxProperties": 1}],
    [{"type": "array", "minItems": 2}, {"type": "array", "maxItems": 1}],
    [
        {"type": "array", "minItems": 1, "items": {"type": "null"}},
        {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1},
    ],
    [{"anyOf": [{"type": "null"}, {"type": "boolean"}]}, {"type": ["string", "integer"]}],
    [
        {"type": "object", "required": ["p"], "properties": {"p": {**KIND, "properties": {"kind": {"const": 1}}}}},
        {"type": "object", "required": ["p"], "properties": {"p": {**KIND, "properties": {"kind": {"const": 2}}}}},
    ],
    [{"type": "string"}, False],
]

NOT_PROVED: list[list[Any]] = [
    [{"type": "integer"}, {"type": "number"}],
    [{"required": ["a"]}, {"required": ["b"]}],
    [{"const": 1}, {"enum": [1.0, 2]}],
    [{"type": "array"}, {"type": "array", "minItems": 3}],
    [{"type": "null"}, {}],
    [{"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}}}],
]


@pytest.mark.parametrize("members", EXCLUSIVE, ids=str)
def test_exclusive_schemas_are_accepted(judge: Any, members: list[Any]) -> None:
    judge.grammar({"oneOf": members})
    judge.grammar({"oneOf": list(reversed(members))})


@pytest.mark.parametrize("members", NOT_PROVED, ids=str)
def test_others_are_refused(judge: Any, members: list[Any]) -> None:
    with pytest.raises(UnsupportedSchema, match="exclude each other"):
        judge.grammar({"oneOf": members})


def test_strings_that_fulfil_exactly_one_schema(judge: Any) -> None:
    overlapping = [
        {"type": "string", "pattern": "^a"},
        {"type": ["string", "null"], "maxLength": 2},
        {"enum": ["abc", 5]},
    ]
    judge.agrees({"oneOf": overlapping}, ["abcd", "b", "", None, 5], ["a", "ab", "abc", "bcd", 4])
    schema = {
        "type": "object",
        "properties": {"host": {"oneOf": [{"format": "hostname"}, {"format": "ipv4"}], "type": "string"}},
    }
    grammar = judge.grammar(schema)
    assert judge.accepts(grammar, {"host": "example.org"})
    assert not judge.accepts(grammar, {"host": "127.0.0.1"})  # also a host name
    with pytest.raises(UnsatisfiableSchema, match="exactly one schema"):
        judge.grammar({"oneOf": [{"type": "string"}, {"type": "string"}]})


def test_what_stands_beside_helps_the_proof(judge: Any) -> None:
    schema = {"oneOf": [{"minLength": 2}, {"maximum": 3}], "type": ["string", "integer"]}
    with pytest.raises(UnsupportedSchema):
        judge.grammar(schema)
    judge.agrees(
        {**schema, "oneOf": [{"minLength": 2, "type": "string"}, {"maximum": 3, "type": "integer"}]},
        ["ab", 3],
        ["a", 4],
    )
