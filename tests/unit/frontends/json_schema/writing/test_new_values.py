"""How values that differ from earlier ones are called for."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.new_values import kind_of_place, kind_of_strings
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.grammar.kinds import CALL_NEW, CALL_OPEN, CALL_PLAIN

KINDS: list[tuple[Any, int]] = [
    ({"type": "string"}, CALL_OPEN),
    ({"type": "string", "minLength": 2}, CALL_OPEN),
    ({"type": "string", "pattern": "^[ab]*$"}, CALL_OPEN),
    ({"type": "string", "maxLength": 2}, CALL_PLAIN),
    ({"type": "string", "enum": ["a", "b"]}, CALL_PLAIN),
    ({"type": "string", "pattern": "^(?:a|b[^]*)$"}, CALL_PLAIN),  # nothing follows an a
    ({"type": "string", "anyOf": [{"pattern": "^a"}, {"enum": ["x", 1]}]}, CALL_PLAIN),
    ({"type": ["string", "null"]}, CALL_PLAIN),
    ({"type": "number"}, CALL_NEW),
    ({"oneOf": [{"type": "string"}, {"type": "string", "minLength": 2}]}, CALL_PLAIN),  # strings of one character
    ({"type": "array"}, CALL_OPEN),
    ({"type": "array", "maxItems": 2}, CALL_PLAIN),
    ({"type": "array", "items": False}, CALL_PLAIN),
    ({"type": "array", "items": {"enum": [1]}}, CALL_OPEN),
    ({"type": "array", "items": {"enum": [1]}, "uniqueItems": True}, CALL_PLAIN),
    ({"type": ["array", "null"]}, CALL_PLAIN),
    ({}, CALL_NEW),
    (False, CALL_NEW),
    ({"oneOf": [{"type": "string"}, {"type": "array"}]}, CALL_OPEN),
    ({"oneOf": [{"type": "string"}, {"type": "array"}, {"type": "integer"}]}, CALL_NEW),
    ({"type": "object"}, CALL_OPEN),
    ({"type": "object", "maxProperties": 2}, CALL_PLAIN),
    ({"type": "object", "additionalProperties": {"type": "number"}}, CALL_OPEN),
    ({"type": "object", "additionalProperties": {"type": "number", "minimum": 1}}, CALL_OPEN),
    ({"type": "object", "additionalProperties": {"type": "boolean"}}, CALL_OPEN),
    ({"type": "object", "propertyNames": {"maxLength": 2}}, CALL_PLAIN),
    ({"type": "object", "additionalProperties": False, "properties": {"a": {"type": "string"}}}, CALL_PLAIN),
    ({"type": "object", "additionalProperties": False, "properties": {"a": {"enum": ["x", "y"]}}}, CALL_PLAIN),
    ({"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1]}}, "required": ["b"]}, CALL_OPEN),
    (
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["b"]},
        CALL_OPEN,
    ),
    ({"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["b"]}]}, CALL_OPEN),
    (
        {"type": "object", "oneOf": [{"maxProperties": 2}, {"required": ["b"]}]},
        CALL_PLAIN,
    ),  # another key may be one too many
    ({"type": "object", "oneOf": [{"not": {"required": ["a"]}}, {"patternProperties": {"b": False}}]}, CALL_PLAIN),
    ({"type": "object", "anyOf": [{"required": ["a"]}, {"additionalProperties": {}, "required": ["b"]}]}, CALL_OPEN),
]


@pytest.mark.parametrize(("schema", "kind"), KINDS, ids=str)
def test_kinds_of_places(judge: Any, schema: Any, kind: int) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    assert kind_of_place(translation, [(schema, ROOT)]) == kind


def test_a_node_is_looked_at_once(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = judge.nodes
    node = nodes.concat([nodes.literal(b"x"), nodes.repeat(nodes.literal(b"y"), 0)])
    found = kind_of_strings(nodes, node)
    monkeypatch.setattr(nodes, "is_open", None)
    assert kind_of_strings(nodes, node) == found == CALL_OPEN


def test_what_two_alternatives_share_is_not_there_to_go_on_with(judge: Any) -> None:
    schema = {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "string", "minLength": 2}]}}
    matcher = judge.grammar({**schema, "uniqueItems": True}).matcher()
    matcher.accept_bytes(b'["a","')
    assert matcher.validate_tokens(list(b"a")) == 0  # it could not be ended
    assert matcher.validate_tokens(list(b"b")) == 1
