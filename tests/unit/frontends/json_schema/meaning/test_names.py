"""Languages of strings and keys."""

from __future__ import annotations

import json
from typing import Any

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.names import exactly_one, name_language
from llmask.frontends.json_schema.writing.translation import Translation


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
