"""Schemas that hold together: order, recursion and names; which values are valid is for test_small_worlds.py."""

from __future__ import annotations

import json
from typing import Any

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.conjunction import exactly_one, name_language
from llmask.frontends.json_schema.writing.translation import Translation


def test_properties_of_combined_schemas_keep_the_order_of_the_text(judge: Any) -> None:
    schema = {
        "type": "object",
        "allOf": [{"properties": {"a": {}}}, {"anyOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]}],
        "properties": {"d": {}},
        "oneOf": [{"properties": {"e": {"const": 1}}, "required": ["e"]}, {"properties": {"f": {}, "e": False}}],
        "required": ["z"],
    }
    grammar = judge.grammar(schema)
    assert judge.accepts(grammar, {"a": 1, "b": 1, "d": 1, "e": 1, "z": 1, "free": 1})
    assert judge.accepts(grammar, {"a": 1, "c": 1, "d": 1, "f": 1, "z": 1})
    for first, second in ("ba", "da", "db", "ed", "fd", "ze"):
        names = dict.fromkeys((first, second, "z"), 1)
        assert judge.is_valid(schema, names) == judge.accepts_in_some_order(grammar, names)
        assert not judge.accepts(grammar, names), names


def test_recursion_through_merged_schemas_ends(judge: Any) -> None:
    schema = {
        "$defs": {
            "base": {"type": "object", "properties": {"next": {"$ref": "#/$defs/base"}, "n": {"type": "integer"}}},
            "node": {
                "allOf": [
                    {"$ref": "#/$defs/base"},
                    {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["n"]},
                ]
            },
        },
        "$ref": "#/$defs/node",
    }
    judge.agrees(schema, [{"n": 1}, {"next": {"next": {"n": 3}, "n": 2}, "n": 1}], [{}, {"next": {}, "n": 1}])


def test_a_schema_referring_to_itself_through_allof_ends(judge: Any) -> None:
    schema = {
        "$defs": {
            "foo": {"type": "object", "properties": {"more": {"allOf": [{"$ref": "#/$defs/foo"}, {"type": "object"}]}}}
        },
        "$ref": "#/$defs/foo",
    }
    judge.agrees(schema, [{}, {"more": {"more": {}}}], [{"more": 1}])


def language(judge: Any, schema: Any) -> int:
    return name_language(Translation(judge.nodes, schema, SchemaOptions()), [(schema, ())])


def test_languages_of_names_combine_keywords(judge: Any) -> None:
    nodes = judge.nodes
    schema = {"anyOf": [{"enum": ["a", "bb", 3]}, {"pattern": "^x"}], "maxLength": 2, "type": ["string", "null"]}
    node = language(judge, schema)
    assert [text for text in ("a", "bb", "x", "xy", "xyz", "b") if nodes.matches(node, json.dumps(text).encode())] == [
        "a",
        "bb",
        "x",
        "xy",
    ]
    assert language(judge, {"type": "integer"}) == nodes.EMPTY
    assert language(judge, {"const": 3}) == nodes.EMPTY
    assert language(judge, {"oneOf": [{"minLength": 2}, {"maxLength": 3}], "pattern": "^.{2}$"}) == nodes.EMPTY


def test_exactly_one_of_languages(judge: Any) -> None:
    nodes = judge.nodes
    translation = Translation(nodes, True, SchemaOptions())
    languages = [nodes.repeat(nodes.literal(b"a"), 0, 2), nodes.repeat(nodes.literal(b"a"), 1, 3)]
    node = exactly_one(translation, languages, languages)
    assert [n for n in range(5) if nodes.matches(node, b"a" * n)] == [0, 3]
