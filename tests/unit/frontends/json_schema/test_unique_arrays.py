"""`uniqueItems`: items that all differ, in every way of writing them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import UnsatisfiableSchema
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.translation import Translation
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, cases, dead_end, rooted, some_of, valid_values

UNIQUE = {"type": "array", "uniqueItems": True}
TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("any items", UNIQUE, [[], [1], [1, 2, "1", None, [], {}, False, 0]], [[1, 1], [1, 2, 1], [[], []], [{}, 1, {}]]),
    ("numbers by value", UNIQUE, [[1, 1.5], [0, 1]], [[1, 1.0], [0, -0.0], [0.5, 2, 0.5]]),
    ("no booleans for numbers", UNIQUE, [[1, True], [0, False], [[1], [True]]], [[True, True]]),
    ("objects without order", UNIQUE, [[{"a": 1}, {"a": 2}]], [[{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
    ("few values", {**UNIQUE, "items": {"type": "boolean"}}, [[], [True, False]], [[True, True], [True, False, True]]),
    (
        "few values, all of them",
        {**UNIQUE, "items": {"enum": [1, "a", None]}, "minItems": 3},
        [[None, 1, "a"]],
        [[1, "a"], [1, 1, "a"], [1, "a", None, 1]],
    ),
    (
        "what a later item needs is left to it",
        {**UNIQUE, "prefixItems": [{"enum": [1, 2]}, {"const": 1}], "minItems": 2},
        [[2, 1], [2, 1, 3]],
        [[1, 1], [1, 2], [1]],
    ),
    (
        "a chain of needs",
        {**UNIQUE, "prefixItems": [{"enum": [1, 2, 3]}, {"enum": [1, 2]}, {"const": 1}], "minItems": 3},
        [[3, 2, 1]],
        [[2, 1, 1], [1, 2, 3], [3, 1, 1]],
    ),
    (
        "its own negation",
        {**UNIQUE, "not": {"uniqueItems": True, "prefixItems": [{"const": 1}]}},
        [[2], [2, 1]],
        [[], [1], [1, 2], [2, 2]],
    ),
    ("beside counts", {**UNIQUE, "minItems": 2, "maxItems": 2}, [[1, 2]], [[1], [1, 1], [1, 2, 3]]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")
    assert dead_end(judge, schema, most=200) is None


def test_the_way_of_writing_does_not_make_a_difference(judge: Any) -> None:
    grammar = judge.grammar({**UNIQUE, "items": {"type": ["string", "number", "object"]}})
    for text in (r'["a","\u0061"]', "[1,1.0]", "[10,10.00]", "[0,-0]", r'["é","\u00e9"]', r'[{"a":1},{"\u0061":1.0}]'):
        assert not judge.accepts_text(grammar, text), text
    for text in (r'["a","\u0062"]', "[1,10]", '["a","aa"]', '["1",1]', '[{"a":1},{"a":1,"b":1}]'):
        assert judge.accepts_text(grammar, text), text


def test_arrays_within_arrays_differ_by_what_they_hold(judge: Any) -> None:
    schema = {**UNIQUE, "items": {**UNIQUE, "items": {"type": "integer"}}}
    judge.agrees(schema, [[[1], [2], [1, 2], [2, 1]], [[], [1]]], [[[1], [1]], [[1, 1]], [[], []], [[1, 2], [1, 2]]])


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "boolean"}, "minItems": 3},
        {"prefixItems": [{"const": 1}, {"const": 1}], "minItems": 2},
        {"items": {"enum": [1, 1.0]}, "minItems": 2},
        {"minItems": 2, "maxItems": 1},
    ],
    ids=str,
)
def test_too_few_values_are_known_beforehand(judge: Any, schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**UNIQUE, **schema})


RUNNING_OUT: list[Any] = [
    {"type": "object", "maxProperties": 0},
    {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "maxProperties": 1},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "null"}},
    {"type": "object", "patternProperties": {"^a$": {"type": "null"}}, "additionalProperties": False},
    {"propertyNames": {"enum": ["a", "c"]}, "not": {"minProperties": 1, "maxProperties": 3}},
    {"type": "array", "items": {"type": "null"}, "uniqueItems": True},
    {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "items": {"type": "null"}, "maxItems": 1},
    {"type": "string", "pattern": "^a?$"},
    {"type": "integer", "minimum": 0, "maximum": 5, "not": {"multipleOf": 2}},
    {"anyOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]},
]


@pytest.mark.parametrize("items", RUNNING_OUT, ids=str)
def test_no_comma_leads_to_an_item_that_is_not_there(judge: Any, items: Any) -> None:
    """After `[{}` a comma was offered, and nothing after it, where items are objects without keys."""
    for counts in ({}, {"minItems": 2}):
        assert dead_end(judge, {**UNIQUE, "items": items, **counts}, most=3000) is None


ITEM = st.sampled_from(
    (True, {"type": "boolean"}, {"enum": [1, "a", None]}, {"const": 1}, {"type": ["integer", "null"]}, {"maxItems": 1})
)
ARRAY = some_of(
    ("items", ITEM),
    ("prefixItems", st.lists(ITEM, min_size=1, max_size=3)),
    ("minItems", st.integers(0, 3)),
    ("maxItems", st.integers(1, 3)),
    ("anyOf", st.just([{"maxItems": 1}, {"items": {"type": ["integer", "string"]}}])),
)


@cases(100, schema=ARRAY)
def test_random_arrays_agree(judge: Any, schema: Any) -> None:
    root = rooted({**UNIQUE, **schema}, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))


@cases(40, schema=ARRAY)
def test_every_array_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert dead_end(judge, {**UNIQUE, **schema}, most=250) is None


def test_rules_without_a_text_share_what_is_no_text(judge: Any) -> None:
    """The mask behind a quote asks for a rule without each text that may end there: thirty times all objects."""
    members = {f"k{at}": {"enum": [at, {"a": at}]} for at in range(100)}
    objects = {"type": "object", "properties": members, "additionalProperties": False}
    schema = {"type": "array", "uniqueItems": True, "items": {"anyOf": [{"type": "string"}, objects, {"enum": [[1]]}]}}
    translation = Translation(judge.nodes, schema, SchemaOptions())
    translation.run()
    rule = next(iter(translation.variants))

    def n_edges(texts: list[bytes]) -> int:
        before = len(translation.rules.edges)
        translation.make_variant(rule, texts)
        return len(translation.rules.edges) - before

    first = n_edges([b'"a"'])
    assert first > 100
    assert n_edges([b'"b"']) < first / 10
    assert n_edges([b'"a"', b'"b"']) < first / 10
    assert n_edges([b'{"k0":0}']) > 100
    valid = [["a", {"k0": 0}, [1], "b", {"k0": {"a": 0}}], [{"k0": 0}, {"k1": 1}, "a"], []]
    invalid = [["a", {"k0": 0}, "a"], [{"k0": 0}, "a", {"k0": 0}], [[1], "a", [1]], [{"a": 1}], [1]]
    judge.agrees(schema, valid, invalid)
