"""Choices: what the parts of a place decide about them, and that nothing else is decided."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.choices import overlaps, pairs_to_prove, settle, told_by_key
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.place import Conjunction
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.small_worlds import (
    EVERYTHING,
    assert_exactly,
    cases,
    rooted,
    schemas,
    tagged,
    valid_values,
)


def settled(judge: Any, schema: Any) -> Conjunction:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    found = conjunction_of(translation, [(schema, ROOT)])
    return settle(translation, found)


def n_left(conjunction: Conjunction) -> list[int]:
    return [len(choice.schemas) for choice in conjunction.choices]


KIND = {"type": "object", "required": ["kind"]}


def kind(*values: Any, **beside: Any) -> dict[str, Any]:
    return {"properties": {"kind": {"enum": list(values), **beside}}}


# schema, how many alternatives are left of each choice
SETTLED: list[tuple[str, Any, list[int]]] = [
    ("excluded by type", {"type": "string", "anyOf": [{"type": "null"}, {"minLength": 1}]}, []),
    ("excluded by a value", {**KIND, **kind("a"), "oneOf": [kind("a", "b"), kind("b"), kind("c")]}, []),
    ("two are left", {**KIND, **kind("a", "b"), "oneOf": [kind("a"), kind("b"), kind("c")]}, [2]),
    ("holds anyway", {**KIND, **kind("a"), "anyOf": [kind("a", "b"), {"required": ["b"]}]}, []),
    ("required anyway", {**KIND, "anyOf": [{"required": ["kind"]}, {"maxProperties": 3}]}, []),
    (
        "one decides the next",
        {**KIND, "anyOf": [kind("a"), {"type": "null"}], "oneOf": [kind("b"), {"minItems": 1}]},
        [],
    ),
    ("left as they are", {**KIND, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, [2]),
    ("oneOf may hold twice", {**KIND, **kind("a"), "oneOf": [kind("a", "b"), {"required": ["b"]}]}, [2]),
    ("a negation beside", {"required": ["a"], "type": "object", "not": {"required": ["a", "b"]}}, []),
]


@pytest.mark.parametrize(("schema", "left"), [row[1:] for row in SETTLED], ids=[row[0] for row in SETTLED])
def test_what_the_parts_decide_is_no_choice(judge: Any, schema: Any, left: list[int]) -> None:
    found = settled(judge, schema)
    assert found.false_at is None
    assert n_left(found) == left


def test_a_choice_without_alternatives_is_false(judge: Any) -> None:
    found = settled(judge, {"type": "string", "anyOf": [{"type": "null"}, {"type": "array"}]})
    assert found.false_at is not None


def test_values_that_other_keywords_refuse_do_not_hold_anyway(judge: Any) -> None:
    """`enum` beside `minLength` was taken for `enum` alone, and the choice for one that holds anyway."""
    for beside in (
        {"minLength": 2},
        {"type": "null"},
        {"not": {"const": "x"}},
        {"pattern": "yy"},
        {"$ref": "#/$defs/s"},
    ):
        schema = {
            "$defs": {"s": {"minLength": 2}},
            "properties": {"kind": {"enum": ["x", "yy"]}},
            "anyOf": [kind("x", "yy", **beside), {"required": ["b"]}],
        }
        valid: list[Any] = [{"kind": "x", "b": 1}, {"b": 1}, {}]
        (valid if beside != {"type": "null"} else []).append({"kind": "yy"})
        judge.agrees(schema, valid, [{"kind": "x"}, {"kind": "z"}])


Pair = st.tuples(schemas(2020, 1), schemas(2020, 1))
Triple = st.tuples(schemas(2020, 1), schemas(2020, 1), schemas(2020, 1))


def sets(pair: tuple[Any, ...], definition: Any) -> list[frozenset[int]]:
    """What `jsonschema` says of each schema alone."""
    return [valid_values(rooted(schema, definition, 2020), 2020) for schema in pair]


@pytest.mark.long
@cases(80, pair=Pair | st.tuples(tagged(2020), tagged(2020)), definition=schemas(2020, 0))
def test_combinations_are_those_of_the_sets(judge: Any, pair: tuple[Any, Any], definition: Any) -> None:
    one, other = sets(pair, definition)
    for keyword, expected in (("allOf", one & other), ("anyOf", one | other), ("oneOf", one ^ other)):
        assert_exactly(judge, rooted({keyword: list(pair)}, definition, 2020), expected)


@pytest.mark.long
@cases(60, three=Triple, definition=schemas(2020, 0))
def test_conditions_are_those_of_the_sets(judge: Any, three: tuple[Any, Any, Any], definition: Any) -> None:
    condition, then, otherwise = sets(three, definition)
    schema = dict(zip(("if", "then", "else"), three, strict=True))
    expected = (condition & then) | (otherwise - condition)
    assert_exactly(judge, rooted(schema, definition, 2020), expected)
    without_else = {"if": three[0], "then": three[1]}
    assert_exactly(judge, rooted(without_else, definition, 2020), (condition & then) | (EVERYTHING - condition))


@cases(40, three=Triple, definition=schemas(2020, 0))
def test_exactly_one_of_three(judge: Any, three: tuple[Any, Any, Any], definition: Any) -> None:
    found = sets(three, definition)
    expected = frozenset(at for at in EVERYTHING if sum(at in valid for valid in found) == 1)
    assert_exactly(judge, rooted({"oneOf": list(three)}, definition, 2020), expected)


EXCLUSIVE: list[list[Any]] = [
    [{"type": "string"}, {"type": "null"}, {"type": "number"}],
    [{"const": 1}, {"const": 2}, {"enum": ["a"]}],
    [{"const": {"a": 1}}, {"type": "object", "required": ["b"]}],
    [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}],
    [{"type": "string", "format": "date"}, {"type": "string", "maxLength": 9}],
    [{"type": "integer", "maximum": 0}, {"type": "number", "exclusiveMinimum": 0}],
    [{"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 6, "minimum": 1, "maximum": 11}],
    [{**KIND, "properties": {"kind": {"const": "a"}}}, {**KIND, "properties": {"kind": {"const": "b"}}}],
    [{**KIND, "properties": {"kind": {"const": "a"}}}, {"type": "object", "properties": {"kind": {"type": "null"}}}],
    [{**KIND}, {"type": "object", "properties": {"a": {}}, "additionalProperties": False}],
    [{**KIND}, {"type": "object", "properties": {"kind": False}}],
    [{"type": "object", "required": ["a", "b"]}, {"type": "object", "maxProperties": 1}],
    [{"type": "array", "minItems": 2}, {"type": "array", "maxItems": 1}],
    [
        {"type": "array", "minItems": 1, "items": {"type": "null"}},
        {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1},
    ],
    [{"anyOf": [{"type": "null"}, {"type": "boolean"}]}, {"type": ["string", "integer"]}],
    [
        {"type": "object", "required": ["p"], "properties": {"p": {**KIND, "properties": {"kind": {"const": 1}}}}},
        {"type": "object", "required": ["p"], "properties": {"p": {**KIND, "properties": {"kind": {"const": 2}}}}},
    ],
    [{"type": "string"}, False],
]

OVERLAPPING: list[list[Any]] = [
    [{"type": "integer"}, {"type": "number"}],
    [{"required": ["a"]}, {"required": ["b"]}],
    [{"const": 1}, {"enum": [1.0, 2]}],
    [{"type": "array"}, {"type": "array", "minItems": 3}],
    [{"type": "null"}, {}],
    [{"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}}}],
    [{"minLength": 2}, {"maxLength": 3, "type": ["string", "null"]}, {"pattern": "^a"}],
    [{"contains": {"const": 1}}, {"maxItems": 1}],
    [True, {"items": {"type": "null"}}, False],
]


def overlapping(judge: Any, members: list[Any]) -> dict[int, list[int]]:
    translation = Translation(judge.nodes, {"oneOf": members}, SchemaOptions())
    choice = conjunction_of(translation, [(translation.schema, ())]).choices[0]
    return overlaps(translation, Conjunction(), choice, pairs_to_prove(translation, Conjunction(), choice))


@pytest.mark.parametrize("members", EXCLUSIVE, ids=str)
def test_exclusive_schemas_are_a_union(judge: Any, members: list[Any]) -> None:
    assert overlapping(judge, members) == {}
    assert overlapping(judge, list(reversed(members))) == {}


@pytest.mark.parametrize("members", OVERLAPPING, ids=str)
def test_schemas_that_share_a_value_are_told(judge: Any, members: list[Any]) -> None:
    assert overlapping(judge, members)
    assert overlapping(judge, list(reversed(members)))


def test_each_of_a_pair_that_may_overlap_knows_the_other(judge: Any) -> None:
    members = [{"type": "integer"}, {"type": "null"}, {"minimum": 3}, {"type": "string"}]
    assert overlapping(judge, members) == {0: [2], 1: [2], 2: [0, 1, 3], 3: [2]}


@pytest.mark.parametrize(
    ("members", "parts"),
    [
        ([kind(at) for at in range(4)], 6),
        ([kind(0), kind(1), {"required": ["a"]}, {"properties": {"kind": {"type": "string"}}}], 0),  # not most of them
        ([kind(0), kind(0), kind(0), kind(1)], 0),  # tells too few apart
    ],
)
def test_a_key_that_tells_alternatives_apart_where_it_is_there(judge: Any, members: list[Any], parts: int) -> None:
    schema = {"oneOf": members}
    translation = Translation(judge.nodes, schema, SchemaOptions())
    found = told_by_key(translation, conjunction_of(translation, [(schema, ROOT)]), 0, 3)
    assert len(found) == parts
    for one, n_left in zip(found, (1, 1, 1, 1, 0, 4), strict=False):
        assert len(one.choices[0].schemas) == n_left


def told_by_patterns(n: int) -> list[Any]:
    """Objects told apart by a string that they require; other types fulfil all of them."""
    return [
        {
            "properties": {"kind": {"type": "string", "pattern": f"^a{at}-"}, f"v{at}": {"type": "null"}},
            "required": ["kind"],
        }
        for at in range(n)
    ]


def test_many_objects_are_told_apart_by_the_languages_of_a_string(judge: Any) -> None:
    members = told_by_patterns(300)
    judge.agrees(
        {"oneOf": members},
        [{"kind": "a7-", "v8": 1}, {"kind": "a299-x", "v299": None}],
        [{"kind": "a300-"}, {"kind": "a7-", "v7": 1}, {"kind": 1}, {}, [], "a", None, 1, True],
    )
    members[17]["properties"]["kind"]["pattern"] = "^a1"  # with the eleven of `told_by_patterns` that begin so
    valid, invalid = (
        [{"kind": "a1x"}, {"kind": "a16"}, {"kind": "a2-"}],
        [{"kind": "a12-", "v17": None}, {"kind": "a1-"}],
    )
    judge.agrees({"oneOf": members[:30]}, valid, invalid)


def test_strings_under_a_key_tell_objects_apart_and_nothing_else(judge: Any) -> None:
    members: list[Any] = [
        {"properties": {"kind": {"enum": [f"a{at}"]}}, "required": ["kind"], "maxItems": at} for at in range(20)
    ]
    members.append({"properties": {"kind": {"type": "string", "pattern": "^x-"}}, "required": ["kind"]})
    valid = [{"kind": "a7"}, {"kind": "x-1"}, [1] * 20]
    judge.agrees({"oneOf": members}, valid, [{"kind": "b"}, {}, {"kind": "a7x"}, [], [1], [1] * 19])
    translation = Translation(judge.nodes, {"oneOf": members}, SchemaOptions())
    choice = conjunction_of(translation, [(translation.schema, ())]).choices[0]
    assert pairs_to_prove(translation, conjunction_of(translation, [({"type": "object"}, ROOT)]), choice) == []
    assert len(pairs_to_prove(translation, Conjunction(), choice)) == 210  # arrays fulfil both of each pair


@pytest.mark.parametrize(
    ("listed", "is_told"),
    [
        ([[f"a{at}"] for at in range(22)], True),
        ([[at, f"{at}"] for at in range(22)], True),
        ([[at % 21] for at in range(22)], True),
        ([[at, at + 1] for at in range(22)], True),
        ([[{"at": at}] for at in range(22)], False),
        ([[at % 15] for at in range(22)], False),
    ],
)
def test_many_conditions_on_a_value_are_decided_for_each(judge: Any, listed: list[list[Any]], is_told: bool) -> None:
    asked = [
        {"if": {"properties": {"k": {"enum": values}}}, "then": {"properties": {"v": {"enum": [at, None, -(at % 3)]}}}}
        for at, values in enumerate(listed)
    ]
    schema = {"allOf": asked, "properties": {"v": {"type": ["integer", "null"]}}}
    translation = Translation(judge.nodes, schema, SchemaOptions())
    told = told_by_key(translation, conjunction_of(translation, [(translation.schema, ROOT)]), 0, 16)
    assert [len(settle(translation, one).choices) for one in told] == [0] * len(told)
    assert bool(told) == is_told
    if is_told:
        keys = [*(values[-1] for values in listed), 50, "", None]
        values = [
            *({"k": key, "v": v} for key in keys for v in (0, 3, -1, 21, "x", None)),
            *({"v": 0}, {"v": None}, {}, {"k": 3}, [], 1, "a1"),
        ]
        valid = [one for one in values if judge.is_valid(schema, one)]
        judge.agrees(schema, valid, [one for one in values if one not in valid])
