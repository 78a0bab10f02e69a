"""Arrays of which two items are equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.equal_items import can_be_written
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, cases, dead_end, rooted, some_of, valid_values

EQUAL = {"type": "array", "not": {"uniqueItems": True}}
TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("anything", EQUAL, [[1, 1.0], [{}, 1, {}], [None, None, 2], [[1], [1]]], [[], [1], [0, False], [[1], [2]]]),
    ("strings", {**EQUAL, "items": {"type": "string"}}, [["a", "b", "a"]], [["a"], ["a", "b"], [1, 1]]),
    ("at least four", {**EQUAL, "minItems": 4}, [[1, 1, 2, 3], [1, 2, 3, 3]], [[1, 1], [1, 1, 2], [1, 2, 3, 4]]),
    ("a prefix", {**EQUAL, "prefixItems": [True, {"type": "null"}]}, [[None, None], [1, None, 1]], [[1, 1], [1, None]]),
    ("written otherwise", EQUAL, [[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]], [[{"a": 1}, {"a": "1"}]]),
    ("few values", {**EQUAL, "items": {"enum": [1]}}, [[1, 1], [1, 1, 1]], [[1], []]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_lines_may_be_indented(judge: Any) -> None:
    grammar = judge.grammar(EQUAL, indent=2)
    assert grammar.accepts('[\n  {\n    "a": 1\n  },\n  2,\n  {\n    "a": 1\n  }\n]')
    assert not grammar.accepts('[\n  {\n    "a": 1\n  },\n  2,\n  {\n    "a": 2\n  }\n]')


@pytest.mark.parametrize(
    "schema", [{}, {"minItems": 3}, {"maxItems": 3}, {"items": False}, {"contains": True}], ids=str
)
def test_arrays_with_room_for_another_item_can_be_written(judge: Any, schema: Any) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    parts = conjunction_of(translation, [({"type": "array", **schema}, ROOT)]).parts
    assert can_be_written(translation, ArrayLayout(translation, parts)) == (schema in ({}, {"minItems": 3}))


SMALL = some_of(
    ("items", st.sampled_from((True, {"type": "integer"}, {"enum": [1, "a"]}, {"type": ["object", "string"]}))),
    ("prefixItems", st.lists(st.sampled_from((True, {"type": "integer"}, {"const": "a"})), min_size=1, max_size=2)),
    ("minItems", st.integers(0, 3)),
    ("contains", st.sampled_from(({"const": 1}, {"type": "null"}))),
    most=3,
)


@pytest.mark.long
@cases(150, small=SMALL)
def test_random_arrays_agree(judge: Any, small: Any) -> None:
    for schema in ({**small, **EQUAL}, {"not": {**small, "uniqueItems": True}}):
        root = rooted(schema, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


@cases(30, small=SMALL)
def test_every_array_that_is_begun_can_be_ended(judge: Any, small: Any) -> None:
    assert dead_end(judge, {**small, **EQUAL}) is None
