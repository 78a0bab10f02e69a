"""Schemas that the translation writes itself: made once, known by what they are made of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.synthetic import all_of, any_of, negated, same_schema, schema_of_value
from llmask.frontends.json_schema.reading.keywords import ALL_OF, ANY_OF, NOT
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation

SCHEMA: dict[str, Any] = {"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
A, B = ((SCHEMA["properties"][name], (ROOT, "properties", name)) for name in "ab")


@pytest.fixture
def translation(judge: Any) -> Translation:
    return Translation(judge.nodes, SCHEMA, SchemaOptions())


def test_a_negation_is_made_once_a_schema(translation: Translation) -> None:
    schema, path = negated(translation, *A)
    assert (schema, path) == ({NOT: A}, A[1])
    assert negated(translation, *A)[0] is schema
    assert negated(translation, *B)[0] is not schema


def test_a_negation_of_a_negation_is_the_schema_at_its_place(translation: Translation) -> None:
    elsewhere = (ROOT, "not")
    schema, _ = negated(translation, *A)
    assert negated(translation, schema, elsewhere) == A


def test_booleans_are_negated_as_they_are(translation: Translation) -> None:
    assert negated(translation, True, ROOT) == (False, ROOT)
    assert negated(translation, False, ROOT) == (True, ROOT)


def test_combinations_are_made_once_for_their_members(translation: Translation) -> None:
    for combine, keyword in ((all_of, ALL_OF), (any_of, ANY_OF)):
        schema, _ = combine(translation, [A, B], ROOT)
        assert schema == {keyword: [A, B]}
        assert combine(translation, [A, B], ROOT)[0] is schema
        assert combine(translation, [A], ROOT)[0] is not schema
    assert all_of(translation, [A], ROOT)[0] is not any_of(translation, [A], ROOT)[0]


VALUES = [[], [1, "a"], {}, {"a": [1], "b": {"c": None}}, [[], {"a": 1.5}]]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_the_schema_of_a_value_allows_nothing_else(judge: Any, value: Any) -> None:
    others = [*(other for other in VALUES if other != value), [1], [1, "a", 1], {"a": [1]}, None, 1]
    judge.agrees({"const": value}, [value], others)
    judge.agrees({"const": value}, [value], others, property_order="any")
    judge.agrees({"not": {"const": value}}, others, [value])
    translation = Translation(judge.nodes, True, SchemaOptions())
    assert schema_of_value(translation, value, ROOT) is schema_of_value(translation, value, ROOT)


OPEN_A = {"type": "object", "properties": {"a": True}}


def test_what_is_shared(judge: Any) -> None:
    small: dict[str, Any] = {"type": "string", "maxLength": 3}
    properties = {
        "a": small,
        "b": {"maxLength": 3, "title": "of another order, with an annotation", "type": "string"},
        "c": {"$ref": "#/properties/a"},
        "long": {"enum": ["x" * 600]},
        "same": {"enum": ["x" * 600]},
        "object": {"type": "object", "properties": {"a": True}},
        "open": {"type": "object", "properties": {"a": {}}},
        "true": True,
        "nested": {"items": {"oneOf": [{"$ref": "#/properties/object"}, {"not": small}]}},
        "again": {"items": {"oneOf": [{"title": "x", **OPEN_A}, {"not": {"maxLength": 3, "type": "string"}}]}},
        "ordered": {"type": "object", "properties": {"a": {}, "b": {}}},
        "otherwise": {"type": "object", "properties": {"b": {}, "a": {}}},
        "circle": {"items": {"$ref": "#/properties/circle"}},
        "list": {"allOf": [{"items": {"$ref": "#/properties/circle"}}]},
    }
    translation = Translation(judge.nodes, {"properties": properties}, SchemaOptions())
    read = translation.schema["properties"]
    seen = {name: same_schema(translation, read[name], (((), "properties"), name)) for name in properties}
    assert seen["a"] == seen["b"] == seen["c"]
    assert seen["nested"] == seen["again"]
    others = [seen[name] for name in properties if name not in ("b", "c", "again")]
    assert not any(one == other for one, other in combinations(others, 2))
