"""Which keyword refuses a document: each of them, at the value that it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmask import Compiler
from llmask.explaining.refusals import Refusals, Source, relaxed_options
from llmask.explaining.values import Text

OBJECT = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 5},
        "n": {"type": "integer", "minimum": 3},
        "list": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True, "maxItems": 2},
    },
    "required": ["title"],
    "additionalProperties": False,
}
SHAPES = {
    "anyOf": [
        {"type": "object", "properties": {"kind": {"const": "c"}, "r": {"minimum": 0}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "s"}, "w": {"type": "number"}}, "required": ["kind"]},
    ]
}
IF = {
    "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
    "then": {"required": ["b"]},
    "else": {"maxProperties": 1},
}
BRANCHES = {
    "if": {"properties": {"k": {"const": "a"}}, "required": ["k"]},
    "then": {"properties": {"v": {"type": "string"}}},
    "else": {"properties": {"k": {"const": "c"}}},
}
LINKED = {"$defs": {"x": {"multipleOf": 3}}, "items": {"allOf": [{"$ref": "#/$defs/x"}, {"type": "integer"}]}}
DRAFT_4, DRAFT_7 = (f"http://json-schema.org/draft-{number}/schema#" for number in ("04", "07"))
CASES: list[tuple[Any, Any, str, str]] = [
    (OBJECT, {"title": "abcdef"}, "/title", "#/properties/title/maxLength"),
    (OBJECT, {"title": 1}, "/title", "#/properties/title/type"),
    (OBJECT, {"title": "a", "n": 2}, "/n", "#/properties/n/minimum"),
    (OBJECT, {"title": "a", "n": 2.5}, "/n", "#/properties/n/type"),
    (OBJECT, {"n": 4}, "", "#/required"),
    (OBJECT, {"title": "a", "x": 1}, "", "#/additionalProperties"),
    (OBJECT, {"title": "a", "list": ["a", "a"]}, "/list", "#/properties/list/uniqueItems"),
    (OBJECT, {"title": "a", "list": ["c"]}, "/list/0", "#/properties/list/items/enum"),
    (OBJECT, [], "", "#/type"),
    (SHAPES, {"kind": "c", "r": -1}, "/r", "#/anyOf/0/properties/r/minimum"),
    (SHAPES, {"kind": "c"}, "", "#/anyOf/0/required"),
    (SHAPES, {"kind": "s", "w": "q"}, "/w", "#/anyOf/1/properties/w/type"),
    (SHAPES, {"kind": "x"}, "", "#/anyOf"),
    (SHAPES, 3, "", "#/anyOf"),
    (IF, {"a": 1}, "", "#/then/required"),
    (IF, {"a": 2, "b": 1}, "", "#/else/maxProperties"),
    (BRANCHES, {"v": 5, "k": "a"}, "/v", "#/then/properties/v/type"),
    (BRANCHES, {"k": "a", "v": 5}, "/v", "#/then/properties/v/type"),
    (BRANCHES, {"v": "x", "k": "b"}, "/k", "#/else/properties/k/const"),
    (BRANCHES, {"v": 5, "k": "d"}, "/k", "#/else/properties/k/const"),
    ({"items": BRANCHES}, [{"v": 5, "k": "a", "w": 1}], "/0/v", "#/items/then/properties/v/type"),
    ({"if": {"required": ["k"]}, "else": {"properties": {"v": {"items": {"type": "null"}}}}}, {"v": [1]}, "/v/0",
     "#/else/properties/v/items/type"),
    ({"$schema": DRAFT_4, "if": {"required": ["k"]}, "then": False, "items": {"type": "null"}}, [1], "/0",
     "#/items/type"),
    (LINKED, [3, 4], "/1", "#/$defs/x/multipleOf"),
    (LINKED, ["x"], "/0", "#/items/allOf/1/type"),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 4, "", "#/oneOf"),
    ({"not": {"type": "integer"}}, 4, "", "#/not"),
    ({"propertyNames": {"pattern": "^a"}}, {"ab": 1, "b": 2}, "", "#/propertyNames/pattern"),
    ({"patternProperties": {"^x": {"maximum": 1}}}, {"x/y": 2}, "/x~1y", "#/patternProperties/^x/maximum"),
    ({"patternProperties": {"^x": False}}, {"xy": 2}, "", "#/patternProperties"),
    ({"properties": {"x": False}}, {"x": 1}, "/x", "#/properties/x"),
    ({"additionalProperties": {"type": "null"}}, {"x": 1}, "/x", "#/additionalProperties/type"),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "", "#/dependentRequired"),
    ({"dependencies": {"a": ["b"]}}, {"a": 1}, "", "#/dependencies"),
    ({"dependentSchemas": {"a": {"minProperties": 2}}}, {"a": 1}, "", "#/dependentSchemas/a/minProperties"),
    ({"minItems": 2, "maxItems": 3}, [1], "", "#/minItems"),
    ({"prefixItems": [{"type": "null"}], "items": False}, [None, 1], "", "#/items"),
    ({"items": [True], "additionalItems": False}, [1, 2], "", "#/additionalItems"),
    ({"prefixItems": [True, False]}, [1, 2], "", "#/prefixItems"),
    ({"contains": {"type": "null"}}, [1], "", "#/contains"),
    ({"contains": {"type": "null"}, "minContains": 2}, [None], "", "#/minContains"),
    ({"contains": {"type": "null"}, "maxContains": 1}, [None, None], "", "#/maxContains"),
    ({"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}, {"b": 1}, "", "#/unevaluatedProperties"),
    ({"prefixItems": [True], "unevaluatedItems": False}, [1, 2], "", "#/unevaluatedItems"),
    ({"$schema": DRAFT_4, "properties": {"a/$|b": {}}, "additionalProperties": False}, {"b": 1}, "",
     "#/additionalProperties"),
    ({"properties": {}, "additionalProperties": False}, {"": 1}, "", "#/additionalProperties"),
    ({"$schema": DRAFT_4, "maximum": 5, "exclusiveMaximum": True}, 5, "", "#/maximum"),
    ({"$schema": DRAFT_7, "items": {"$ref": "#/definitions/a", "type": "null"},
      "definitions": {"a": {"format": "date"}}}, ["x"], "/0", "#/definitions/a/format"),
    ({"const": {"a": [1]}}, {"a": [2]}, "", "#/const"),
    (False, 1, "", "#"),
]  # fmt: skip


def reason(compiler: Compiler, schema: Any, text: bytes, has_ended: bool = True) -> Any:
    try:
        grammar = compiler.json_schema(schema)
        source = Source(grammar._loaded.store, grammar._loaded.recipe.source, grammar._loaded.recipe.options)  # type: ignore[union-attr]
    except ValueError:  # no document fulfils it
        options = compiler.json_schema(True)._loaded.recipe.options  # type: ignore[union-attr]
        source = Source(compiler._newest_store(), schema, options)
    return Refusals(source).reason(Text(text, has_ended))


@pytest.mark.parametrize(("schema", "document", "pointer", "keyword"), CASES)
def test_each_keyword_is_told(compiler: Compiler, schema: Any, document: Any, pointer: str, keyword: str) -> None:
    found = reason(compiler, schema, json.dumps(document).encode())
    assert (found.instance_pointer, found.schema_pointer) == (pointer, keyword)
    if found.keyword:
        assert keyword.endswith("/" + found.keyword)


@pytest.mark.parametrize("document", [{"title": "a"}, {"list": ["a"], "title": "abcde", "n": 3}])
def test_what_is_valid_in_any_order_has_no_reason(compiler: Compiler, document: Any) -> None:
    assert reason(compiler, OBJECT, json.dumps(document).encode()) is None


@pytest.mark.parametrize(
    ("text", "pointer", "keyword"),
    [
        (b'{"title":"abcdef', "/title", "maxLength"),
        (b'{"x', "", "additionalProperties"),
        (b'{"n":3}', "", "required"),
        (b'{"n":-', "/n", "minimum"),
        (b'{"list":["a","b",', "/list", "maxItems"),
        (b'{"list":["a","a"', "/list", "uniqueItems"),
    ],
)
def test_the_beginning_of_a_document_has_a_reason(compiler: Compiler, text: bytes, pointer: str, keyword: str) -> None:
    found = reason(compiler, OBJECT, text, has_ended=False)
    assert (found.instance_pointer, found.keyword) == (pointer, keyword)


@pytest.mark.parametrize(
    ("text", "pointer", "schema_pointer"),
    [
        (b'{"v":5', "", "#/if"),  # both branches refuse it, and either may come
        (b'{"k":"a","v":5', "/v", "#/then/properties/v/type"),
        (b'{"k":"b","v":5', "/v", "#/else/properties/v/type"),
    ],
)
def test_a_branch_is_told_once_it_is_known(compiler: Compiler, text: bytes, pointer: str, schema_pointer: str) -> None:
    branches = {**BRANCHES, "else": {"properties": {"v": {"type": "boolean"}}}}
    found = reason(compiler, branches, text, has_ended=False)
    assert (found.instance_pointer, found.schema_pointer) == (pointer, schema_pointer)


def test_alternatives_that_match_are_told_where_one_may(compiler: Compiler) -> None:
    one_of = {"oneOf": [{"type": "integer"}, {"type": "string"}, {"minimum": 2}]}
    assert reason(compiler, {"items": one_of}, b"[4]").matching == (0, 2)
    assert reason(compiler, {"items": one_of}, b'[1, "a"]').matching == (1, 2)
    assert reason(compiler, {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, b"1.5").matching == ()


def test_keywords_that_exclude_each_other_are_told_by_what_allows_it_without_one(compiler: Compiler) -> None:
    schema = {"type": "object", "maxProperties": 2, "required": ["a", "b"]}
    found = reason(compiler, schema, b'{"c":1', has_ended=False)
    assert found.keyword in ("maxProperties", "required")


def test_a_fault_far_from_where_the_text_is_refused_is_found(compiler: Compiler) -> None:
    # the first item is refused as no later one could fulfil `contains`, which is full
    schema = {"maxItems": 1, "contains": {"const": 7}, "items": {"type": "integer"}}
    found = reason(compiler, schema, b"[1, 2]")
    assert found.keyword in ("maxItems", "contains")


def test_all_reasons_of_a_document(compiler: Compiler) -> None:
    grammar = compiler.json_schema(OBJECT)
    source = Source(grammar._loaded.store, grammar._loaded.recipe.source, grammar._loaded.recipe.options)  # type: ignore[union-attr]
    text = Text(b'{"title": 1, "n": 1, "list": ["c", "a"], "q": 2}', True)
    assert [found.schema_pointer for found in Refusals(source).all_reasons(text)] == [
        "#/additionalProperties",
        "#/properties/title/type",
        "#/properties/n/minimum",
        "#/properties/list/items/enum",
    ]


SCHEMA = {
    "properties": {"a": {"enum": ["x", 10]}, "b": {"type": "string"}, "c": {"type": "integer"}},
    "required": ["a"],
}


@pytest.mark.parametrize(
    ("options", "text", "relaxed"),
    [
        ({}, '{"a": "x", "b": ""}', {}),
        ({}, '{"b": "", "a": "x"}', {"property_order": "any"}),
        ({}, '{"a": "\\u0078"}', {"literals": "any"}),
        ({}, '{"\\u0061": "x"}', {"literals": "any"}),
        ({}, '{"b": "", "\\u0061": "x"}', {"property_order": "any", "literals": "any"}),
        ({"escapes": "minimal"}, '{"a": "x", "b": "\\/"}', {"escapes": "all"}),
        ({"whitespace": "compact"}, '{"a": "x"}', {"whitespace": "flexible"}),
        ({"max_whitespace": 2}, '{"a":    "x"}', {"max_whitespace": 4096}),
        ({"indent": 2}, '{"a": "x"}', {"indent": None}),
        ({"numbers": "plain"}, '{"a": 10, "c": 1.0}', {"numbers": "json"}),
        ({"closed": True}, '{"a": 10, "d": 1}', {"closed": False}),
        ({"unique_keys": True}, '{"a": 10, "d": 1, "d": 1}', {"unique_keys": False}),
        ({"property_order": "any"}, '{"a": "y"}', {}),
        ({}, '{"b": "", "a": "y"}', {}),
        ({}, '{"b": ""', {"property_order": "any"}),
    ],
)
def test_options_that_take_a_text(byte_tokenizer: Any, options: dict[str, Any], text: str, relaxed: Any) -> None:
    grammar = Compiler(byte_tokenizer).json_schema(SCHEMA, **options)
    assert grammar._loaded.recipe is not None
    source = Source(grammar._loaded.store, grammar._loaded.recipe.source, grammar._loaded.recipe.options)
    assert relaxed_options(source, Text(text.encode(), text.endswith("}"))) == relaxed
