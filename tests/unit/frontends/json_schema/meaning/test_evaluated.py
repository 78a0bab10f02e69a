"""`unevaluatedProperties` and `unevaluatedItems`: what every way to hold evaluates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.evaluated import cases_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.limits import Limits
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, booleans, cases, rooted, some_of, valid_values

A, B = {"properties": {"a": True}}, {"properties": {"b": True}}
CLOSED = {"unevaluatedProperties": False}
NO_MORE = {"unevaluatedItems": False}

TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("own properties", {**A, **CLOSED}, [{}, {"a": 1}, 5], [{"b": 1}, {"a": 1, "b": 1}]),
    ("own patterns", {"patternProperties": {"^a": True}, **CLOSED}, [{"a": 1, "ab": 1}], [{"b": 1}]),
    ("additionalProperties", {**A, "additionalProperties": {"type": "null"}, **CLOSED}, [{"b": None}], [{"b": 1}]),
    ("allOf", {"allOf": [A, B], **CLOSED}, [{"a": 1, "b": 1}], [{"c": 1}]),
    ("$ref", {"$defs": {"a": A}, "$ref": "#/$defs/a", **CLOSED}, [{"a": 1}], [{"b": 1}]),
    (
        "anyOf, by what holds",
        {"anyOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **CLOSED},
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{}, {"a": 1, "c": 1}],
    ),
    (
        "anyOf of which one evaluates nothing",
        {"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"maxProperties": 1}], **CLOSED},
        [{"a": 1}, {}],
        [{"b": 1}, {"a": ""}],
    ),
    (
        "oneOf",
        {"oneOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **CLOSED},
        [{"a": 1}, {"b": 1}],
        [{"a": 1, "b": 1}, {}],
    ),
    (
        "if, then, else",
        {"if": {**A, "required": ["a"]}, "then": B, "else": {"properties": {"c": True}}, **CLOSED},
        [{"a": 1, "b": 1}, {"c": 1}, {}],
        [{"a": 1, "c": 1}, {"b": 1}],
    ),
    ("if alone", {"if": {**A, "required": ["a"]}, **CLOSED}, [{"a": 1}, {}], [{"a": 1, "b": 1}, {"b": 1}]),
    ("not evaluates nothing", {"not": {"not": A}, **CLOSED}, [{}], [{"a": 1}]),
    (
        "dependentSchemas",
        {**A, "dependentSchemas": {"a": B}, **CLOSED},
        [{"a": 1, "b": 1}, {"a": 1}, {}],
        [{"b": 1}, {"a": 1, "c": 1}],
    ),
    (
        "a schema for the rest",
        {**A, "unevaluatedProperties": {"type": "null"}},
        [{"a": 1, "b": None}],
        [{"b": 1}],
    ),
    ("within allOf", {**A, "allOf": [CLOSED]}, [{}], [{"a": 1}]),
    ("evaluated by another one", {"allOf": [{"unevaluatedProperties": True}], **CLOSED}, [{"a": 1}, {}], [1.5][:0]),
    ("prefixItems", {"prefixItems": [True], **NO_MORE}, [[], [1], {}], [[1, 2]]),
    ("items", {"items": {"type": "integer"}, **NO_MORE}, [[1, 2]], [["a"]]),
    (
        "the longest prefix",
        {"anyOf": [{"prefixItems": [True]}, {"prefixItems": [True, {"type": "null"}]}], **NO_MORE},
        [[], [1], [1, None]],
        [[1, 1], [1, None, 1]],
    ),
    (
        "contains",
        {"contains": {"type": "null"}, "unevaluatedItems": {"type": "integer"}},
        [[None], [1, None], [None, 1, None]],
        [[], [1], [None, "a"]],
    ),
    (
        "contains that may be absent",
        {"contains": {"type": "null"}, "minContains": 0, **NO_MORE},
        [[], [None, None]],
        [[1], [None, 1]],
    ),
    (
        "arrays by condition",
        {"if": {"prefixItems": [{"const": 1}]}, "then": {"prefixItems": [True, True]}, **NO_MORE},
        [[], [1], [1, 2]],
        [[2], [1, 2, 3]],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_draft_2019_evaluates_nothing_by_contains(judge: Any) -> None:
    # jsonschema reads 2019-09 like 2020-12 here; 2019-09 core, section 9.3.1.3 names no `contains`
    schema = {"contains": {"type": "null"}, "unevaluatedItems": {"type": "integer"}}
    old = judge.grammar({"$schema": "https://json-schema.org/draft/2019-09/schema", **schema})
    new = judge.grammar({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    assert not judge.accepts(old, [1, None])
    assert judge.accepts(new, [1, None])


def test_tree_extended_by_a_dynamic_reference(judge: Any) -> None:
    schema = {
        "$id": "https://example.org/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        **CLOSED,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "type": "object",
                "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
            }
        },
    }
    valid = [{"data": 1}, {"children": [{"data": 2, "children": []}]}]
    judge.agrees(schema, [], [{"daat": 1}, {"children": [{"daat": 1}]}])
    grammar = judge.grammar(schema)
    assert all(judge.accepts_in_some_order(grammar, value) for value in valid)


def n_cases(judge: Any, schema: Any, **options: Any) -> int:
    translation = Translation(judge.nodes, schema, SchemaOptions(**options))
    return len(cases_of(translation, schema, ROOT))


def test_subsets_of_alternatives_are_told_apart_only_by_what_they_evaluate(judge: Any) -> None:
    plain = [{"required": [name]} for name in "abcdef"]
    alike = [{"properties": {"a": {"const": at}}} for at in range(6)]
    apart = [{"properties": {name: True}} for name in "abcd"]
    assert n_cases(judge, {"anyOf": plain, **CLOSED}) == 1
    assert n_cases(judge, {"anyOf": alike, **CLOSED}) == 6
    assert n_cases(judge, {"anyOf": apart, **CLOSED}) == 15
    assert n_cases(judge, {"anyOf": [*apart, *plain], **CLOSED}) == 16
    assert n_cases(judge, {"oneOf": apart, **CLOSED}) == 4


def test_too_many_cases_meet_a_limit(judge: Any) -> None:
    schema = {"anyOf": [{"properties": {f"k{at}": True}} for at in range(5)], **CLOSED}
    assert n_cases(judge, schema, limits=Limits(max_schema_cases=31)) == 31
    with pytest.raises(LimitExceeded, match="max_schema_cases"):
        n_cases(judge, schema, limits=Limits(max_schema_cases=10))


MEMBER = some_of(
    ("properties", st.dictionaries(st.sampled_from("abc"), st.sampled_from((True, {"type": "integer"})), max_size=2)),
    ("patternProperties", st.just({"^[bc]": True})),
    ("required", st.sampled_from((["a"], ["b"]))),
    ("prefixItems", st.sampled_from(([True], [True, {"type": "integer"}]))),
    ("contains", st.sampled_from(({"type": "integer"}, {"const": "a"}))),
    ("minItems", st.just(1)),
    most=2,
)
SOME = st.lists(MEMBER, min_size=1, max_size=2)
WHOLE = st.tuples(
    some_of(
        ("unevaluatedProperties", booleans(2020) | st.just({"type": "string"})),
        ("unevaluatedItems", booleans(2020) | st.just({"type": "string"})),
        ("properties", st.just({"a": True})),
    ),
    some_of(
        ("allOf", SOME),
        ("anyOf", SOME),
        ("oneOf", SOME),
        ("not", MEMBER),
        ("if", MEMBER),
        ("then", MEMBER),
        ("else", MEMBER),
        ("dependentSchemas", st.dictionaries(st.sampled_from("ab"), MEMBER, max_size=1)),
    ),
).map(lambda pair: pair[0] | pair[1])


@pytest.mark.long
@cases(120, schema=WHOLE)
def test_random_schemas_agree(judge: Any, schema: Any) -> None:
    for one in (schema, {"not": schema}):
        root = rooted(one, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


def test_a_schema_that_is_in_several_places_is_looked_at_once(judge: Any) -> None:
    # 2^40 leaves, of which each was looked at
    schema: dict[str, Any] = {"type": "object", "required": ["a"]}
    for _ in range(40):
        schema = {"anyOf": [schema, schema]}
    context = Translation(judge.nodes, schema, SchemaOptions(limits=Limits(max_schema_keywords=10_000)))
    assert len(cases_of(context, schema, ROOT)) == 1
