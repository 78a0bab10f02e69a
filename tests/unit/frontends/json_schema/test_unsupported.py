"""Keywords that are not enforced."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.unsupported import demands_nothing


def test_ignored_keywords_are_listed(judge: Any) -> None:
    items = {"uniqueItems": True, "not": {"type": "null"}}
    schema = {"items": items, "oneOf": [{}, {"type": "array"}], "contains": {}}
    assert judge.translate(schema, unsupported="ignore").warnings == [
        '"oneOf" at #/oneOf is not enforced: "oneOf" is supported only where its schemas exclude each other, and number'
        " 1 and number 2 were not proved to",
        '"contains" at #/contains is not enforced: "contains" is not supported; the mask would be too permissive',
        '"not" at #/items/not is not enforced: "not" is not supported; the mask would be too permissive',
        '"uniqueItems" at #/items/uniqueItems is not enforced: "uniqueItems" is not supported; the mask would be too'
        " permissive",
    ]


def test_unknown_formats_are_annotations_and_listed(judge: Any) -> None:
    grammar = judge.translate({"type": "string", "format": "int32"})
    assert grammar.warnings == [
        '"format" at #/format is not enforced: the format "int32" is unknown, so it is an annotation'
    ]


@pytest.mark.parametrize(
    ("keyword", "schema", "expected"),
    [
        ("not", {"not": False}, True),
        ("not", {"not": {"type": "null"}}, False),
        ("if", {"if": {"type": "null"}}, True),
        ("if", {"if": True, "else": False}, False),
        ("dependentRequired", {"dependentRequired": {"a": []}}, True),
        ("dependencies", {"dependencies": {"a": {}, "b": ["c"]}}, False),
        ("unevaluatedItems", {"unevaluatedItems": True}, True),
        ("contains", {"contains": {"type": "null"}, "minContains": 0}, True),
        ("contains", {"contains": {}, "minContains": 0, "maxContains": 1}, False),
        ("uniqueItems", {"uniqueItems": False}, True),
        ("uniqueItems", {"uniqueItems": True, "maxItems": 2}, False),
        ("$dynamicRef", {"$dynamicRef": "#a"}, False),
    ],
)
def test_what_demands_nothing_is_accepted(keyword: str, schema: Any, expected: bool) -> None:
    assert demands_nothing(keyword, schema) == expected
