"""Objects that count their keys or must have certain ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.frontends.json_schema.meaning.object_layout import Cell, Entry
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.counted_objects import CountedObject
from tests.unit.frontends.json_schema.small_worlds import (
    NAMES,
    assert_exactly,
    cases,
    dead_end,
    rooted,
    some_of,
    valid_values,
)

NAMED = {"properties": {"a": {"type": "integer"}, "b": True, "c": True}, "additionalProperties": False}
TABLE: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("at most", {"maxProperties": 1}, [{}, {"x": 1}], [{"x": 1, "y": 1}]),
    ("none", {"maxProperties": 0}, [{}], [{"x": 1}]),
    ("one at least", {"minProperties": 1}, [{"x": 1}, {"x": 1, "y": 1}], [{}]),
    (
        "two of three names",
        {**NAMED, "minProperties": 2},
        [{"a": 1, "c": 1}, {"b": 1, "c": 1}],
        [{}, {"b": 1}, {"b": 1, "x": 1}],
    ),
    (
        "exactly two",
        {**NAMED, "minProperties": 2, "maxProperties": 2},
        [{"a": 1, "b": 1}],
        [{"a": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        "room for what is required",
        {**NAMED, "required": ["c"], "maxProperties": 2},
        [{"c": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    (
        "required names and free keys",
        {"required": ["b"], "properties": {"a": True}, "maxProperties": 2},
        [{"b": 1}, {"a": 1, "b": 1}, {"b": 1, "z": 1}],
        [{"a": 1}, {"a": 1, "z": 1}, {"a": 1, "b": 1, "z": 1}],
    ),
    (
        "one key has another value",
        {**NAMED, "type": "object", "not": {"properties": {"b": {"type": "null"}, "c": {"type": "null"}}}},
        [{"b": 1}, {"a": 1, "b": None, "c": 1}],
        [{}, {"a": 1}, {"b": None, "c": None}],
    ),
    (
        "one of the names matches",
        {**NAMED, "type": "object", "not": {"patternProperties": {"^[ab]": {"const": 1}}}},
        [{"a": 2}, {"b": None, "c": 1}],
        [{}, {"a": 1}, {"c": 2}, {"a": 1, "b": 1}],
    ),
    (
        "one of the names is refused",
        {**NAMED, "type": "object", "not": {"propertyNames": {"enum": ["a", "b"]}}, "maxProperties": 2},
        [{"c": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        "keys of two sets",
        {
            **NAMED,
            "type": "object",
            "maxProperties": 2,
            "allOf": [{"not": {"patternProperties": {pattern: {"const": 1}}}} for pattern in ("[ab]", "[bc]")],
        },
        [{"b": 2}, {"a": 2, "c": 2}],
        [{"a": 2}, {"c": 2}, {"a": 1, "b": 1}, {"b": 1, "c": 2}, {}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "valid", "invalid"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_repetition_matters_only_where_free_keys_are_counted() -> None:
    plain = CountedObject([Entry("a", [], False)], [Cell(0, [])], 0, 3, ROOT, False)
    assert not plain.repeats_matter
    assert plain._replace(low=2).repeats_matter
    assert not plain._replace(low=2, cells=[]).repeats_matter


MEMBER = st.sampled_from((True, False, {"type": "integer"}, {"const": "a"}))
SMALL = some_of(
    ("properties", st.dictionaries(st.sampled_from(NAMES), MEMBER, max_size=2)),
    ("patternProperties", st.dictionaries(st.sampled_from(("^a", "[ab]", "b|c")), MEMBER, max_size=1)),
    ("required", st.lists(st.sampled_from(NAMES), max_size=2, unique=True)),
    ("propertyNames", st.sampled_from(({"enum": ["a", "b"]}, {"pattern": "[bc]"}))),
    ("minProperties", st.integers(0, 3)),
    ("maxProperties", st.integers(0, 3)),
    most=3,
)
CLOSED = st.tuples(SMALL, SMALL).map(
    lambda pair: {
        "type": "object",
        "properties": {"a": True, "b": True, "c": {"type": ["integer", "string"]}},
        "additionalProperties": False,
        "allOf": [pair[0], {"not": pair[1]}],
    }
)


@cases(150, schema=CLOSED)
def test_random_closed_objects_agree(judge: Any, schema: Any) -> None:
    root = rooted(schema, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))


@cases(100, one=SMALL, other=SMALL)
def test_random_open_objects_agree(judge: Any, one: Any, other: Any) -> None:
    for schema in ({"allOf": [one, other]}, {"allOf": [one, {"not": other}]}):
        root = rooted(schema, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


@cases(40, schema=CLOSED)
def test_every_object_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert dead_end(judge, schema) is None
    assert dead_end(judge, schema, property_order="any") is None
