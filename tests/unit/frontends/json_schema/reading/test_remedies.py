"""Remedies of values that are of the wrong kind; whole messages are in ../test_errors.py."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.reading.keywords import KEYWORDS
from llmask.frontends.json_schema.reading.remedies import schema_help, value_help


@pytest.mark.parametrize("keyword", [name for name in KEYWORDS if isinstance(name, str) and name != "const"])
@pytest.mark.parametrize("value", ["3", "true", "x", 3, -1, 2.5, True, None, [], [3], {}, {1: 2}, str, {"a": 1}])
def test_every_keyword_has_a_remedy_for_every_value(keyword: str, value: Any) -> None:
    assert value_help(keyword, value)


@pytest.mark.parametrize(
    ("keyword", "value", "said"),
    [
        ("minimum", "5", "write it without quotes: 5"),
        ("minimum", "1e3", "write it without quotes: 1e3"),
        ("minimum", "five", "write a number, such as 3 or 0.5"),
        ("maxItems", "-5", "write a whole number from 0 on, such as 3"),
        ("maxItems", "nan", "write a whole number from 0 on, such as 3"),
        ("uniqueItems", "false", "write it without quotes: false"),
        ("uniqueItems", "no", "write true or false"),
        ("additionalProperties", "false", "write it without quotes: false"),
        ("items", "str", 'write {"type": "string"}'),
        ("items", None, 'write {} for any value, or {"type": "null"} for null'),
        ("not", [{}], 'give one of them, or {"anyOf": [...]} where any may hold'),
        ("required", True, 'name the property in the schema of the object: "required": ["name"]'),
        ("required", "name", 'write a list: ["name"]'),
        ("$ref", {}, 'write its keywords here, without "$ref"'),
        ("$ref", 3, "write a text, in quotes"),
        ("properties", {1: {}}, "write its names as texts, in quotes"),
        ("properties", ["a"], 'write each name with its schema: {"name": {"type": "string"}}'),
        ("type", "int", 'did you mean "integer"?'),
        ("type", int, 'did you mean "integer"?'),
        ("type", "function", "Compiler.tools reads documents of this type"),
        ("type", "json_schema", "Compiler.response_format reads documents of this type"),
    ],
)
def test_remedies(keyword: str, value: Any, said: str) -> None:
    assert value_help(keyword, value) == said


@pytest.mark.parametrize("value", ["", "x" * 10_000, "1" * 10_000, "\ud800", "9" * 5000 + ".5", "١"])
def test_odd_texts_are_no_trouble(value: str) -> None:
    assert value_help("minimum", value)
    assert schema_help(value) == 'write an object such as {"type": "string"}, or true for any value'
