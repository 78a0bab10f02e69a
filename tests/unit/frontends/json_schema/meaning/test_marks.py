"""Marks: what schemas show at a glance, and that two whose marks differ share no value."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from llmask.errors import LlmaskError
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.marks import Marks, exclude_each_other, marks_of, pairs_left, same_schema
from llmask.frontends.json_schema.meaning.negation import negations
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.random_schemas import random_schema, random_value
from tests.unit.frontends.json_schema.small_worlds import cases, rooted, schemas, tagged, valid_values


def marks(judge: Any, schema: Any) -> Marks:
    return marks_of(Translation(judge.nodes, schema, SchemaOptions()), schema, ROOT)


def test_same_schemas_are_known_by_what_they_say(judge: Any) -> None:
    one, alike, other = {"minimum": 1, "title": "x"}, {"description": "y", "minimum": 1}, {"minimum": 2}
    schema = {"$defs": {"a": one}, "allOf": [one, alike, other, {"$ref": "#/$defs/a"}]}
    translation = Translation(judge.nodes, schema, SchemaOptions())

    def same(member: Any) -> Any:
        return same_schema(translation, member, (ROOT, "allOf", 0))

    assert same(one) == same(alike) == same(schema["allOf"][3])
    assert same(one) != same(other)
    assert same(True) is True


def test_what_one_asks_of_a_key_and_the_other_refuses_excludes(judge: Any) -> None:
    """The value under a key that one of them requires cannot fulfil a schema and its negation."""
    held = {"type": "string", "minLength": 3}
    schema = {"properties": {"a": held}, "required": ["a"]}
    translation = Translation(judge.nodes, {"allOf": [schema, {"not": schema}]}, SchemaOptions())
    path = ((ROOT, "allOf", 1), "not")
    ways = negations(translation, schema, path, set())
    here = marks_of(translation, {"type": "object", **schema}, (ROOT, "allOf", 0))
    assert ways
    assert all(exclude_each_other(translation, here, marks_of(translation, *way)) for way in ways)


@cases(150, pair=tagged(2020), other=tagged(2020) | schemas(2020, 1), definition=schemas(2020, 0))
def test_marks_that_differ_share_no_value(judge: Any, pair: Any, other: Any, definition: Any) -> None:
    root = rooted({"allOf": [pair, other]}, definition, 2020)
    translation = Translation(judge.nodes, root, SchemaOptions())
    found = [marks_of(translation, member, (ROOT, "allOf", at)) for at, member in enumerate(root["allOf"])]
    assert exclude_each_other(translation, *found) == exclude_each_other(translation, *reversed(found))
    if exclude_each_other(translation, *found):
        assert valid_values(root, 2020) == frozenset()


def left(judge: Any, members: list[Any]) -> list[tuple[int, int]]:
    translation = Translation(judge.nodes, {"oneOf": members}, SchemaOptions())
    return list(pairs_left(translation, [(member, ((), "oneOf", at)) for at, member in enumerate(members)]))


def tagged(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"kind": {"const": value}, **more}, "required": ["kind"]}


def closed(*names: str, required: tuple[str, ...]) -> dict[str, Any]:
    properties = dict.fromkeys(names, True)
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TOLD_APART: list[list[Any]] = [
    [{"type": "string"}, {"type": "null"}, {"type": ["integer", "array"]}],
    [{"const": 1}, {"const": "1"}, {"enum": [True, None]}, {"const": [1]}],
    [tagged("a"), tagged("b"), {"type": "null"}, {"const": "a"}],
    [tagged(1), tagged(True), tagged(None)],
    [closed("a", required=("a",)), closed("b", required=("b",)), closed("a", "b", "c", required=("a", "b", "c"))],
    [tagged("a", other={"const": 1}), closed("b", required=())],
    [{"allOf": [tagged("a"), {"required": ["b"]}]}, tagged("b")],
    [False, {}],
    [tagged("a"), {"type": "object", "properties": {"kind": {"const": "b"}}}],
]

NOT_TOLD_APART: list[list[Any]] = [
    [{"type": "integer"}, {"type": "number"}],
    [{"const": 1}, {"enum": [1.0, 2]}],
    [{"type": "object", "properties": {"kind": {"const": value}}} for value in "ab"],
    [{"required": ["kind"], "properties": {"kind": {"const": 1}}}, tagged(2) | {"type": ["object", "null"]}],
    [closed("a", required=()), closed("b", required=())],
    [closed("a", required=("a",)), {**closed("b", required=()), "patternProperties": {"^a": True}}],
    [tagged("a"), {"type": "object", "properties": {"kind": {"enum": ["b", "a"]}}, "required": ["kind"]}],
]


@pytest.mark.parametrize("members", TOLD_APART, ids=str)
def test_marks_tell_these_apart(judge: Any, members: list[Any]) -> None:
    assert left(judge, members) == []


@pytest.mark.parametrize("members", NOT_TOLD_APART, ids=str)
def test_pairs_that_may_share_a_value_are_left(judge: Any, members: list[Any]) -> None:
    assert (0, 1) in left(judge, members)


def test_only_some_pairs_are_left(judge: Any) -> None:
    assert left(judge, [tagged("a"), tagged("b"), tagged("a"), {"type": "object"}]) == [(0, 2), (0, 3), (1, 3), (2, 3)]


def test_no_value_fulfils_two_schemas_that_marks_tell_apart(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_apart = 0
    for _ in range(scaled(100)):
        members = [random_schema(rng) for _ in range(4)]
        translation = Translation(judge.nodes, {"oneOf": members}, SchemaOptions())
        try:
            marks = [marks_of(translation, member, ((), "oneOf", at)) for at, member in enumerate(members)]
        except LlmaskError:
            continue
        remaining = left(judge, members)
        values = [random_value(rng) for _ in range(10)]
        for one, other in combinations(range(4), 2):
            apart = exclude_each_other(translation, marks[one], marks[other])
            assert apart == ((one, other) not in remaining)
            n_apart += apart
            for value in values if apart else ():
                fulfilled = judge.is_valid(members[one], value) and judge.is_valid(members[other], value)
                assert not fulfilled, (members[one], members[other], value)
    assert n_apart > 50


@pytest.mark.parametrize("n", [200, 400])
def test_work_on_discriminated_alternatives_is_linear(judge: Any, n: int) -> None:
    """11,000 alternatives with a constant each went over `max_schema_keywords` in a proof of every pair."""
    lists = [
        [tagged(f"t{at}") for at in range(n)],
        [{"const": f"c{at}"} for at in range(n)],
        [closed(f"k{at}", required=(f"k{at}",)) for at in range(n)],
    ]
    for members in lists:
        translation = Translation(judge.nodes, {"oneOf": members}, SchemaOptions())
        translation.run()
        assert translation._work <= 10 * n
