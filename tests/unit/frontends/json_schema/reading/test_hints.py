"""What is said of a schema whose author hardly means it; nothing of others."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from tests.generators.schemas import random_schema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TABLE: list[tuple[str, Any, list[str]]] = [
    (
        "a misspelled keyword",
        {"propertys": {"a": {}}, "items": {"requird": ["a"]}},
        [
            '"propertys" at #/propertys is no keyword and asks nothing: did you mean "properties"?',
            '"requird" at #/items/requird is no keyword and asks nothing: did you mean "required"?',
        ],
    ),
    ("a name of a property", {"properties": {"requird": {}, "nullable": {}, "propertys": {}}}, []),
    ("data", {"enum": [{"requird": 1}], "default": {"nullable": True}, "examples": [{"propertys": 1}]}, []),
    ("what nothing refers to", {"$defs": {"a": {"requird": ["a"]}}}, []),
    ("beside a reference of draft 7", {"$schema": DRAFT_7, "$ref": "#/definitions/a", "requird": ["a"],
                                       "definitions": {"a": {"type": "null"}}}, []),
    (
        "nullable",
        {"properties": {"a": {"type": "string", "nullable": True}, "b": {"nullable": True}, "c": {"nullable": False}}},
        [
            '"nullable" at #/properties/a/nullable is no keyword of JSON Schema and adds nothing: did you mean "type": '
            '["string", "null"], or dialect="openapi-3.0"?',
            '"nullable" at #/properties/b/nullable is no keyword of JSON Schema and adds nothing: did you mean a type '
            '"null", or dialect="openapi-3.0"?',
        ],
    ),
    (
        "properties without their keyword",
        {"items": {"name": "str", "age": 3}, "additionalProperties": {"a": {}}},
        [
            f'no key at #/{key} is a keyword, so it allows any value: if these are names of properties, write '
            '{"properties": {...}}'
            for key in ("additionalProperties", "items")
        ],
    ),
    (
        "an if alone, beside what may be its then",
        {"if": {"type": "null"}, "than": {}, "anyOf": [{"if": {}, "a": 1, "b": 2, "x-c": 3}]},
        [
            '"if" at #/if asks nothing: there is no "then" or "else" beside it, and "than" is no keyword',
            '"if" at #/anyOf/0/if asks nothing: there is no "then" or "else" beside it, and "a", "b" are no keywords',
        ],
    ),
    ("an if alone", {"if": {"properties": {"a": {}}}, "unevaluatedProperties": False, "x-a": 1, "title": "a"}, []),
    (
        "an if whose then is misspelled, beside an else",
        {"if": {"type": "null"}, "else": {}, "than": {}},
        ['"if" at #/if has no "then" beside it: is it meant by "than"?'],
    ),
    (
        "a then whose if is misspelled",
        {"when": {"type": "null"}, "then": {}},
        ['"then" at #/then asks nothing: there is no "if" beside it, and "when" is no keyword'],
    ),
    ("an if that is not alone", {"if": {"type": "null"}, "else": {}, "errorMessage": {}}, []),
    (
        "a schema within what holds it",
        {"name": "n", "strict": True, "schema": {"type": "integer"}},
        ["no key at # is a keyword, so it allows any value: the schema is in #/schema"],
    ),
    (
        "a tool",
        {"name": "n", "parameters": {"type": "object"}},
        ["no key at # is a keyword, so it allows any value: the schema is in #/parameters"],
    ),
    ("nothing but annotations", {"items": {"markdownDescription": "a", "x": [3]}, "contains": {}}, []),
    ("annotations", {"title": "a", "x-requird": 1, "discriminator": {}, "markdownDescription": "", "type": "null"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "warnings"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_said(judge: Any, schema: Any, warnings: list[str]) -> None:
    assert judge.translate(schema).warnings == warnings


def test_a_schema_that_is_compiled_again_is_warned_of_again(judge: Any) -> None:
    for _ in range(2):
        assert len(judge.translate({"requird": ["a"]}).warnings) == 1


def test_a_hint_changes_no_fate_in_the_ledger(judge: Any) -> None:
    made = judge.translate({"pattern": "[[:alpha:]]", "requird": ["a"]})
    assert made.ledger == [("#", "pattern", "enforced"), ("#", "requird", "annotation: unknown keyword")]


OPENAPI: list[tuple[Any, list[str]]] = [
    ({"type": "string", "nullable": True}, []),
    ({"nullable": True}, ['"nullable" at #/nullable adds nothing where no "type" stands beside it']),
    ({"nullable": False}, []),
]


@pytest.mark.parametrize(("schema", "warnings"), OPENAPI)
def test_what_is_said_of_nullable_in_its_own_dialect(judge: Any, schema: Any, warnings: list[str]) -> None:
    assert judge.translate(copy.deepcopy(schema), dialect="openapi-3.0").warnings == warnings


def test_random_schemas_are_not_warned_of(judge: Any, rng: Any, scaled: Any) -> None:
    for _ in range(scaled(30)):
        try:
            made = judge.translate(random_schema(rng), unsupported="ignore")
        except (GrammarError, LimitExceeded):
            continue
        assert [said for said in made.warnings if "did you mean" in said] == []
