"""Shapes of keys, and what each draft knows."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.keywords import (
    ANY_DRAFT,
    DRAFT_4,
    DRAFT_7,
    DRAFT_2020,
    Shape,
    draft_of,
    is_count,
    is_number,
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
    shape = Shape(("title", "type", "allOf", "properties", "$ref", "uniqueItems"), ANY_DRAFT)
    assert shape.in_place == ("allOf", "", "$ref")
    assert [check[0] for check in shape.checks] == ["type", "allOf", "properties", "$ref", "uniqueItems"]
    assert (shape.is_plain, shape.is_open, shape.has_object, shape.has_string) == (False, False, True, False)
    assert shape.unenforced_array == ("uniqueItems",)
    assert Shape(("title", "x-note"), ANY_DRAFT).is_open
    assert Shape(("type", "$ref"), DRAFT_7).in_place == ("$ref",)
    assert Shape(("const", "prefixItems"), DRAFT_4).of_other_drafts == ("const", "prefixItems")


def test_counts_and_numbers() -> None:
    assert [value for value in (0, 3, 2.0, -1, 1.5, True, "1", None) if is_count(value)] == [0, 3, 2.0]
    assert [value for value in (0, -1.5, True, "1", float("inf"), float("nan")) if is_number(value)] == [0, -1.5]
