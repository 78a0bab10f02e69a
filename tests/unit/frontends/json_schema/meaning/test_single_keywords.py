"""Keywords taken apart: each goes with what gives it a meaning; what holds below a place."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler
from llmask.frontends.json_schema.meaning.single_keywords import all_in_place, below, single_keywords
from llmask.frontends.json_schema.reading.options import SchemaOptions
from llmask.frontends.json_schema.reading.pointers import ROOT, pointer
from llmask.frontends.json_schema.writing.translation import Translation


@pytest.fixture(scope="module")
def nodes(byte_tokenizer: Any) -> Any:
    return Compiler(byte_tokenizer)._newest_store().nodes


@pytest.mark.parametrize(
    ("schema", "first", "singles"),
    [
        ({"type": "string", "maxLength": 3, "minimum": 2}, '"', [{"type": "string"}, {"maxLength": 3}]),
        (
            {"minimum": 2, "type": "integer", "maxLength": 3},
            "-",
            [{"type": "integer"}, {"minimum": 2, "type": "integer"}],
        ),
        ({"minimum": 2, "exclusiveMinimum": 3}, "1", [{"minimum": 2}, {"exclusiveMinimum": 3}]),
        (
            {"properties": {"a.": True, "b": False}, "patternProperties": {"^x": {}}, "additionalProperties": False},
            "{",
            [
                {"properties": {"b": False}},
                {"patternProperties": {r"^(?:a\.|b)$": {}, "^x": {}}, "additionalProperties": False},
            ],
        ),
        ({"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "null"}}, "{", []),
        (
            {"contains": True, "minContains": 2, "maxContains": 3},
            "[",
            [{"contains": True, "minContains": 2}, {"contains": True, "minContains": 0, "maxContains": 3}],
        ),
        ({"then": True}, "1", []),
        ({"if": True, "else": False}, "1", [{"if": True, "else": False}]),
        ({"prefixItems": [True, True], "items": False}, "[", [{"maxItems": 2}]),
        ({"allOf": [True], "title": "x"}, "1", []),
        (False, "1", [False]),
    ],
)
def test_keywords_alone(nodes: Any, schema: Any, first: str, singles: list[Any]) -> None:
    found = single_keywords(Translation(nodes, schema, SchemaOptions()), schema, ROOT, ord(first))
    assert [single.schema for single in found] == singles


def test_unevaluated_keywords_come_last_with_all_that_evaluates(nodes: Any) -> None:
    schema = {"unevaluatedProperties": False, "properties": {"a": True}, "minProperties": 1}
    found = [*single_keywords(Translation(nodes, schema, SchemaOptions()), schema, ROOT, ord("{"))]
    assert [single.keyword for single in found] == ["minProperties", "unevaluatedProperties"]
    assert found[-1].schema == schema


def pointers(found: list[Any]) -> list[str]:
    return [pointer(path) for _, path in found]


def test_references_and_all_of_hold_in_place(nodes: Any) -> None:
    schema = {"allOf": [{"$ref": "#/$defs/a"}, True], "$defs": {"a": {"allOf": [{"$ref": "#"}, {"type": "null"}]}}}
    context = Translation(nodes, schema, SchemaOptions())
    found = pointers(all_in_place(context, [(schema, ROOT)]))
    assert found == ["#", "#/allOf/0", "#/$defs/a", "#/$defs/a/allOf/0", "#/$defs/a/allOf/1"]


def test_what_holds_below(nodes: Any) -> None:
    schema = {
        "properties": {"ab": {"type": "null"}},
        "patternProperties": {"^a": {"const": 1}, "^b": {"const": 2}},
        "additionalProperties": {"const": 3},
        "allOf": [{"properties": {"c": {"const": 4}}}],
        "prefixItems": [{"const": 5}],
        "items": {"const": 6},
    }
    context = Translation(nodes, schema, SchemaOptions())
    at = [(schema, ROOT)]
    assert pointers(below(context, at, "ab")) == ["#/properties/ab", "#/patternProperties/^a"]
    assert pointers(below(context, at, "c")) == ["#/additionalProperties", "#/allOf/0/properties/c"]
    assert pointers(below(context, at, 0)) == ["#/prefixItems/0"]
    assert pointers(below(context, at, 1)) == ["#/items"]
