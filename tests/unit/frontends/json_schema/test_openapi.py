"""`dialect="openapi-3.0"`: Schema Objects, beside the schema of draft 4 that says the same.

Source: OpenAPI Specification 3.0.3, "Schema Object", "Reference Object"; Proposal 2019-10-31, "Clarify Semantics of
`nullable` in OpenAPI 3.0", which 3.0.3 took over.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import llmask
from llmask.errors import GrammarError
from llmask.frontends.json_schema.reading.inputs import schema_of

VALUES: list[Any] = [
    *(None, True, 0, 1, 2, 3, 1.5, -1, "", "a", "ab", "abc", [], [1], ["a"], [None], [1, 1], [[None]]),
    *({}, {"a": 1}, {"a": None}, {"a": "a"}, {"b": None}, {"a": 1, "b": 2}, {"a": "x", "b": "y"}, {"c": None}),
]
PET = {"type": "object", "properties": {"name": {"type": "string", "nullable": True}}, "required": ["name"]}
TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    (
        "what stands around does not add null",
        {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Pet"}], "components": {"schemas": {"Pet": PET}}},
        [{"name": None}],
        [None],
    ),
    (
        "beside a reference nothing counts",
        {"$ref": "#/components/schemas/A", "maxLength": 1, "components": {"schemas": {"A": {"type": "string"}}}},
        ["ab"],
        [1],
    ),
    ("identifiers are none", {"id": "http://example.com/", "properties": {"a": {"$ref": "#/x"}}, "x": {"type": "null"}},
     [{"a": None}], [{"a": 1}]),
    ("data is no schema", {"enum": [{"type": "string", "nullable": True}]}, [{"type": "string", "nullable": True}],
     [{"type": ["string", "null"], "nullable": True}]),
    ("properties of these names", {"properties": {"type": {"type": "string"}, "nullable": {"type": "boolean"}}},
     [{"type": "a", "nullable": True}], [{"type": None}]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_schema_objects(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    grammar = judge.grammar(copy.deepcopy(schema), dialect="openapi-3.0")
    assert [value for value in valid if not judge.accepts(grammar, value)] == []
    assert [value for value in invalid if judge.accepts_in_some_order(grammar, value)] == []


def random_object(rng: random.Random, depth: int) -> dict[str, Any]:
    """A Schema Object of few keywords."""
    if rng.random() < 0.15:
        beside = {"nullable": True} if rng.random() < 0.3 else {}
        return {"$ref": f"#/components/schemas/{rng.choice('AB')}", **beside}
    schema: dict[str, Any] = {}
    if rng.random() < 0.8:
        kind = schema["type"] = rng.choice(["string", "integer", "number", "boolean", "array", "object"])
        if kind == "string" and rng.random() < 0.6:
            schema.update(rng.choice([{"maxLength": 1}, {"enum": ["a", "ab"]}, {"enum": ["a", None]}]))
        elif kind in ("integer", "number") and rng.random() < 0.6:
            schema.update({"minimum": rng.randrange(3), "exclusiveMinimum": rng.random() < 0.5})
        elif kind == "array":
            schema.update({"items": random_object(rng, depth - 1) if depth else {}, "uniqueItems": rng.random() < 0.3})
        elif kind == "object" and depth:
            names = rng.sample("abc", rng.randrange(3))
            schema["properties"] = {name: random_object(rng, depth - 1) for name in names}
            schema["additionalProperties"] = rng.choice([False, True, {"type": "string", "nullable": True}])
            schema["required"] = rng.choice([["a"], ["b"], ["a", "b"]])
    if rng.random() < 0.5:
        schema["nullable"] = rng.random() < 0.7
    if depth and rng.random() < 0.4:
        name = rng.choice(["allOf", "anyOf", "oneOf"])
        schema[name] = [random_object(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
    if depth and rng.random() < 0.1:
        schema["not"] = random_object(rng, depth - 1)
    return schema


def as_draft_4(schema: Any) -> Any:
    """The schema of draft 4 that says the same, from the definition of `nullable`."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    found = {}
    for key, value in schema.items():
        if key in ("allOf", "anyOf", "oneOf"):
            found[key] = [as_draft_4(member) for member in value]
        elif key in ("not", "items", "additionalProperties"):
            found[key] = as_draft_4(value)
        elif key == "properties":
            found[key] = {name: as_draft_4(member) for name, member in value.items()}
        elif key == "type":
            found[key] = [value, "null"] if schema.get("nullable") is True else value
        elif key != "nullable":
            found[key] = value
    return found


def test_random_schema_objects_beside_draft_4(judge: Any, rng: random.Random, scaled: Any) -> None:
    for _ in range(scaled(60)):
        schema = random_object(rng, 2)
        schemas = {name: {"type": rng.choice(["string", "object"]), "nullable": rng.random() < 0.5} for name in "AB"}
        whole = {**schema, "components": {"schemas": schemas}}
        same = {**as_draft_4(schema), "components": {"schemas": {name: as_draft_4(schemas[name]) for name in schemas}}}
        validator = jsonschema.Draft4Validator(same)
        try:
            grammar = judge.grammar(copy.deepcopy(whole), dialect="openapi-3.0", property_order="any", unique_keys=True)
        except llmask.UnsatisfiableSchema:
            grammar = None
        for value in VALUES:
            accepted = grammar is not None and judge.accepts(grammar, value)
            assert accepted == validator.is_valid(value), (whole, value)


def test_documents_of_a_registry_are_schema_objects_where_they_declare_no_draft(judge: Any) -> None:
    nullable = {"type": "string", "nullable": True}
    declared = {"$schema": "https://json-schema.org/draft/2020-12/schema", **nullable}
    registry = Registry().with_resources([
        ("urn:opaque", Resource.opaque(nullable)),
        ("urn:specified", DRAFT202012.create_resource(nullable)),
        ("urn:declared", DRAFT202012.create_resource(declared)),
    ])  # fmt: skip
    for uri, is_null in (("urn:opaque", True), ("urn:specified", True), ("urn:declared", False)):
        grammar = judge.grammar({"$ref": uri}, dialect="openapi-3.0", registry=registry)
        assert judge.accepts(grammar, None) == is_null, uri
    assert nullable["type"] == "string", "the registry's own document is as it was"


def test_the_callers_schema_is_as_it_was(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    schema = {"type": "string", "nullable": True}
    grammar = compiler.json_schema(schema, dialect="openapi-3.0")
    assert schema == {"type": "string", "nullable": True}
    assert compiler.json_schema(schema, dialect="openapi-3.0") is grammar
    assert compiler.json_schema(schema) is not grammar


def test_the_ledger_names_nullable(judge: Any) -> None:
    schema = schema_of({"properties": {"a": {"type": "string", "nullable": True}, "b": {"nullable": True}}}, 1)
    ledger = judge.translate(schema, dialect="openapi-3.0").ledger
    assert [fate for _, keyword, fate in ledger if keyword == "nullable"] == [
        "enforced",
        'annotation: there is no "type" beside it',
    ]


def test_keywords_of_later_drafts_are_annotations_and_warned_of(judge: Any) -> None:
    made = judge.translate({"type": "string", "const": "a"}, dialect="openapi-3.0")
    assert made.warnings == [
        '"const" at #/const is not enforced: the declared draft does not know it, so it is an annotation'
    ]


def test_a_type_that_is_none_is_shown_as_it_was_written(judge: Any) -> None:
    with pytest.raises(GrammarError, match="not 'text'"):
        judge.translate({"type": "text", "nullable": True}, dialect="openapi-3.0")


@pytest.mark.parametrize("nullable", [5, None, "true", []])
def test_nullable_is_a_boolean(judge: Any, nullable: Any) -> None:
    with pytest.raises(GrammarError, match='"nullable" must be true or false') as caught:
        judge.translate({"type": "string", "nullable": nullable}, dialect="openapi-3.0")
    assert caught.value.where == "#/nullable"
    judge.translate({"type": "string", "nullable": nullable})  # elsewhere it is no keyword
    judge.translate({"$ref": "#/a", "a": {}, "nullable": nullable}, dialect="openapi-3.0")


@pytest.mark.parametrize("dialect", ["openapi-3.1", "", 3, True, []])
def test_other_dialects_are_refused(judge: Any, dialect: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        judge.translate({}, dialect=dialect)
    assert caught.value.message == f'the option dialect must be None or "openapi-3.0", not {dialect!r}'


def test_the_text_of_a_grammar_reads_back(byte_tokenizer: Any) -> None:
    # the notation has no dialects: null is written out
    compiler = llmask.Compiler(byte_tokenizer)
    grammar = compiler.json_schema(json.dumps({"type": "string", "nullable": True}), dialect="openapi-3.0")
    assert compiler.lark(str(grammar)).accepts(b"null")
