"""Shapes of keys, and what each draft knows."""

from __future__ import annotations

from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from llmask.errors import GrammarError, UnsupportedSchema
from llmask.frontends.json_schema.reading.keywords import (
    ANY_DRAFT,
    DRAFT_4,
    DRAFT_7,
    DRAFT_2020,
    EXCEPT,
    KEYWORDS_OF,
    NOT,
    URI_2019,
    URI_2020,
    Shape,
    draft_of,
    is_count,
    is_number,
    left_out,
    without,
)


def test_draft_4_exclusive_bounds_and_item_lists(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {
            "n": {"type": "number", "minimum": 1, "exclusiveMinimum": True, "maximum": 2, "exclusiveMaximum": False},
            "t": {"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "integer"}},
        },
        "type": "object",
    }
    judge.agrees(
        schema, [{"n": 1.5}, {"n": 2}, {"t": [None, 1]}, {"t": []}], [{"n": 1}, {"n": 3}, {"t": [1]}, {"t": [None, ""]}]
    )


def test_propertynames_is_no_keyword_of_draft_4(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "propertyNames": {"pattern": "^[0-9]+$"},
        "patternProperties": {".*": {}},
        "enum": [{"x": 1}, {"1": 1}],
    }
    judge.agrees(schema, [{"x": 1}, {"1": 1}], [{"y": 1}])
    del schema["enum"]
    judge.agrees(schema, [{"x": 1}, {"1": 1}], [])


def test_old_drafts_ignore_what_stands_beside_a_reference(judge: Any) -> None:
    schema = {
        "definitions": {"s": {"type": "string"}},
        "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}},
    }
    judge.agrees(schema, [{"a": "x"}], [{"a": "xy"}, {"a": 1}])
    judge.agrees({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, [{"a": "xy"}], [{"a": 1}])


def test_keywords_of_other_drafts_are_listed(judge: Any) -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "type": "integer"}
    judge.agrees(schema, [1, 2], ["a"])
    assert judge.translate(schema).warnings == [
        '"const" at #/const is not enforced: the declared draft does not know it, so it is an annotation'
    ]


@pytest.mark.parametrize(
    ("declared", "draft"),
    [
        ("http://json-schema.org/draft-04/schema#", DRAFT_4),
        ("https://json-schema.org/draft-07/schema", DRAFT_7),
        ("https://json-schema.org/draft/2020-12/schema", DRAFT_2020),
        ("https://example.org/mine", ANY_DRAFT),
        (3, ANY_DRAFT),
    ],
)
def test_the_draft_is_the_one_declared(declared: Any, draft: int) -> None:
    assert draft_of({"$schema": declared}) == draft
    assert draft_of(True) == ANY_DRAFT


def test_a_shape_says_where_to_go() -> None:
    shape = Shape(("title", "not", "type", "allOf", "properties", "$ref", "uniqueItems"), ANY_DRAFT)
    assert shape.in_place == ("allOf", "", "$ref", "not")
    assert [check[0] for check in shape.checks] == ["not", "type", "allOf", "properties", "$ref", "uniqueItems"]
    assert (shape.is_plain, shape.is_open, shape.has_object, shape.has_string) == (False, False, True, False)
    assert shape.counts_items
    assert not Shape(("minItems", "items"), ANY_DRAFT).counts_items
    assert Shape(("unevaluatedItems",), DRAFT_2020).has_unevaluated
    assert not Shape(("unevaluatedItems",), DRAFT_7).has_unevaluated
    assert (shape.is_scalar_type, Shape(("type",), ANY_DRAFT).is_scalar_type) == (False, True)
    assert Shape(("title", "x-note"), ANY_DRAFT).is_open
    assert Shape(("type", "$ref"), DRAFT_7).in_place == ("$ref",)
    assert Shape(("const", "prefixItems"), DRAFT_4).of_other_drafts == ("const", "prefixItems")


def test_keys_of_the_translation_are_no_text() -> None:
    schema = {NOT: (True, ()), "not": True}
    assert Shape(tuple(schema), ANY_DRAFT).in_place == (NOT, "not")
    assert Shape(("<not>", "not"), ANY_DRAFT).in_place == ("not",)
    assert Shape((EXCEPT, "minimum"), DRAFT_4).has_except


def test_integers_of_draft_4_are_written_without_a_fraction(judge: Any) -> None:
    """1.0 is an integer since draft 6; where `type` stood alone or beside `enum`, draft 4 allowed it, too."""
    four = {"$schema": "http://json-schema.org/draft-04/schema#"}
    judge.agrees({**four, "type": "integer"}, [1, -3], [1.0, 0.5])
    judge.agrees({**four, "type": "integer", "enum": [1, 2, 1.5]}, [1, 2], [1.0, 2.0, 1.5])
    judge.agrees({**four, "not": {"type": "integer"}}, [1.0, 0.5, "a"], [1, -3])
    judge.agrees({**four, "not": {"type": "integer"}, "enum": [1, 1.5]}, [1.0, 1.5], [1])
    judge.agrees({**four, "anyOf": [{"type": "integer", "enum": [1, 2]}, {"enum": [3]}]}, [1, 3, 3.0], [1.0, 2.0, 4])
    contradiction = {"type": "integer", "not": {"type": "integer"}}
    judge.agrees({**four, "anyOf": [contradiction, {"enum": ["a"]}]}, ["a"], [1, 1.0])
    judge.agrees({"type": "integer", "enum": [1]}, [1, 1.0], [2])


def test_draft_4_knows_no_contains(judge: Any) -> None:
    schema = {"uniqueItems": True, "maxItems": 1, "contains": {"type": "null"}}
    judge.agrees({"$schema": "http://json-schema.org/draft-04/schema#", **schema}, [[], [1], [None]], [[1, 2]])
    judge.agrees(schema, [[None]], [[], [1]])


def test_counts_and_numbers() -> None:
    assert [value for value in (0, 3, 2.0, -1, 1.5, True, "1", None) if is_count(value)] == [0, 3, 2.0]
    assert [value for value in (0, -1.5, True, "1", float("inf"), float("nan")) if is_number(value)] == [0, -1.5]


TWENTY = "https://json-schema.org/draft/2020-12/schema"


def registry(*names: str) -> Any:
    meta_schema = {"$schema": TWENTY, "$vocabulary": {URI_2020 + name: True for name in ("core", "applicator", *names)}}
    return Registry().with_resource("urn:meta", DRAFT202012.create_resource(meta_schema))


def test_keywords_of_the_vocabularies_that_are_missing() -> None:
    new = {URI_2020 + name: True for name in ("core", "applicator")}
    assert left_out(new, "urn:m") == KEYWORDS_OF["validation"] | KEYWORDS_OF["unevaluated"]
    assert left_out({**new, URI_2020 + "validation": False, "urn:other": False}, "urn:m") == KEYWORDS_OF["unevaluated"]
    assert left_out({URI_2019 + "core": True, URI_2019 + "applicator": True}, "urn:m") == KEYWORDS_OF["validation"]
    only = left_out({URI_2020 + "validation": True}, "urn:m")
    assert {"properties", "not", "items", "unevaluatedItems", "dependencies"} <= only
    assert not only & {"$defs", "definitions", "minimum", "$ref", "format"}


@pytest.mark.parametrize(
    ("vocabulary", "error", "message"),
    [
        (3, GrammarError, "must be an object"),
        ({URI_2020 + "core": "yes"}, GrammarError, "must be an object"),
        ({"urn:other": True}, UnsupportedSchema, "requires the vocabulary urn:other"),
        ({URI_2020 + "other": True}, UnsupportedSchema, "requires the vocabulary"),
    ],
)
def test_what_is_refused(vocabulary: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        left_out(vocabulary, "urn:m")
    assert caught.value.where == "urn:m#/$vocabulary"  # type: ignore[attr-defined]


def test_only_keywords_are_taken_out() -> None:
    schema = {
        "type": "object",
        "properties": {"type": {"minimum": 3, "items": {"maximum": 3}}, "x": True},
        "allOf": [{"const": 3, "prefixItems": [{"enum": [{"type": 3}]}]}],
        "unknown": {"type": 3},
        "$defs": {"other": {"$id": "urn:x", "$schema": TWENTY, "minimum": 3}},
    }
    kept = without(schema, KEYWORDS_OF["validation"])
    assert kept == {
        "properties": {"type": {"items": {}}, "x": True},
        "allOf": [{"prefixItems": [{}]}],
        "unknown": {"type": 3},
        "$defs": {"other": {"$id": "urn:x", "$schema": TWENTY, "minimum": 3}},
    }
    assert "type" in schema
    assert without(True, KEYWORDS_OF["validation"]) is True


def test_a_schema_is_read_without_what_its_meta_schema_leaves_out(judge: Any) -> None:
    schema = {"$schema": "urn:meta", "properties": {"a": False, "b": {"minimum": 10}, "c": {"$ref": "#/properties/b"}}}
    for names, is_enforced in (((), False), (("validation",), True)):
        grammar = judge.grammar(schema, registry=registry(*names))
        assert judge.accepts(grammar, {"b": 20, "c": 20})
        assert not judge.accepts(grammar, {"a": 1})
        assert judge.accepts(grammar, {"b": 1}) is not is_enforced
        assert judge.accepts(grammar, {"c": 1}) is not is_enforced


def test_registered_documents_have_their_own_meta_schema(judge: Any) -> None:
    document = {"$schema": "urn:meta", "properties": {"b": {"minimum": 10}}}
    documents = registry().with_resource("urn:document", DRAFT202012.create_resource(document))
    grammar = judge.grammar({"$ref": "urn:document", "required": ["b"]}, registry=documents)
    assert judge.accepts(grammar, {"b": 1})
    assert not judge.accepts(grammar, {})


def test_an_embedded_document_with_vocabularies_of_its_own_is_refused(judge: Any) -> None:
    schema = {"$ref": "#/$defs/x", "$defs": {"x": {"$id": "urn:x", "$schema": "urn:meta"}}}
    with pytest.raises(UnsupportedSchema, match="leaves out vocabularies") as caught:
        judge.grammar(schema, registry=registry())
    assert caught.value.where == "#/$defs/x/$schema"
