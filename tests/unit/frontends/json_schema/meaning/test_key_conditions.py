"""Alternatives of objects as one condition: classes of values, members, and what cannot be told so."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Limits
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.key_conditions import ConditionedObject, conditioned_object
from llmask.frontends.json_schema.writing.translation import Translation

A_STRING = {"required": ["a"], "properties": {"a": {"type": "string"}}}


def told(judge: Any, schema: Any, **options: Any) -> Any:
    translation = Translation(judge.nodes, schema, SchemaOptions(**options))
    return conditioned_object(translation, conjunction_of(translation, [(translation.schema, ())]), ())


def may_end(found: Any, *names: str) -> list[bool]:
    """Whether the object may end with members: `a` is the first class of values of that key, `a2` the second."""
    assert isinstance(found, ConditionedObject)
    numbers: dict[str, int] = {}
    for number, entry in found.entries:
        spelled = entry.name if entry.name not in numbers else f"{entry.name}2"
        numbers[spelled] = number
    for at, cell in enumerate(found.cells):
        for told, number in enumerate(cell.members):
            numbers[("free" if at == 0 else f"free{at + 1}") + "'" * told] = number
    return [found.condition.n_to_come({numbers[name] for name in one.split()}) == 0 for one in names]


def test_values_are_divided_into_classes(judge: Any) -> None:
    found = told(judge, {"type": "object", "oneOf": [A_STRING, {"required": ["b"]}]})
    assert [entry.name for _, entry in found.entries] == ["a", "a", "b"]
    assert [cell.members for cell in found.cells] == [range(0)]
    assert may_end(found, "", "a", "a2", "b", "a b", "a2 b", "a a2") == [False, True, False, True, False, True, False]


def test_names_of_the_object_stand_before_those_of_alternatives(judge: Any) -> None:
    schema = {
        "properties": {"c": True, "b": {"type": "null"}},
        "anyOf": [A_STRING, {"properties": {"b": False, "d": {}}}],
    }
    found = told(judge, schema)
    assert [entry.name for _, entry in found.entries] == ["c", "b", "a", "a", "d"]
    schema = {"anyOf": schema["anyOf"], "properties": schema["properties"]}
    assert [entry.name for _, entry in told(judge, schema).entries] == ["a", "a", "d", "c", "b"]


def test_closed_alternatives_speak_of_free_keys(judge: Any) -> None:
    closed = {"properties": {"a": True}, "additionalProperties": False}
    found = told(judge, {"type": "object", "anyOf": [closed, {"required": ["b"]}]})
    assert [cell.members for cell in found.cells] == [range(2, 3)]
    assert may_end(found, "", "a", "free", "b", "b free", "a b free") == [True, True, False, True, True, True]
    schema = {"properties": {"a": True}, "additionalProperties": False, "anyOf": [closed, {"required": ["a"]}]}
    assert told(judge, schema).cells == []


def test_schemas_that_exclude_each_other_divide_into_one_class_each(judge: Any) -> None:
    members = [{"properties": {"a": {"enum": [at, -at]}}} for at in range(1, 40)]
    found = told(judge, {"type": "object", "oneOf": members})
    assert len(found.entries) == 39  # some other value is impossible
    same = [{"properties": {"a": {"enum": [1]}}}, {"properties": {"a": {"enum": [1], "title": "the same"}}}]
    assert len(told(judge, {"type": "object", "anyOf": [*same, {"required": ["a"]}]}).entries) == 2


def test_sets_of_keys_divide_free_ones(judge: Any) -> None:
    null = {"additionalProperties": {"type": "null"}}
    found = told(judge, {"type": "object", "oneOf": [null, {"required": ["a"]}]})
    assert found.is_tracked
    assert [entry.name for _, entry in found.entries] == ["a", "a"]  # null, and something else
    assert may_end(found, "", "free", "free2", "a", "a2", "a2 free", "a free2") == [
        *(True, True, False),
        *(False, True, True, True),
    ]
    patterns = {"patternProperties": {"^x": {"type": "null"}}, "propertyNames": {"maxLength": 3}}
    found = told(judge, {"type": "object", "anyOf": [patterns, {"required": ["a"]}]})
    assert len(found.cells) == 6  # long or short, with x null, with x something else, without x
    few = told(judge, {"type": "object", "anyOf": [{"patternProperties": {"^[bc]$": False}}, {"required": ["a"]}]})
    assert [entry.name for _, entry in few.entries] == ["a", "b", "c"]


def test_no_set_of_keys(judge: Any) -> None:
    no_a = {"properties": {"a": False}}
    assert told(judge, {"type": "object", "required": ["a"], "anyOf": [no_a, {"not": {"required": ["a"]}}]}) == (
        "no set of keys fulfils all that is asked of an object"
    )


@pytest.mark.parametrize(
    "alternative",
    [
        {"const": {"a": 1}},
        {"not": {"const": {"a": 1}}},
    ],
    ids=str,
)
def test_what_is_no_condition_on_members(judge: Any, alternative: Any) -> None:
    assert told(judge, {"type": "object", "anyOf": [{"required": ["a"]}, alternative]}) is None


def test_values_must_not_stand_beside(judge: Any) -> None:
    alternatives = [A_STRING, {"required": ["b"]}]
    assert told(judge, {"type": "object", "anyOf": alternatives, "enum": [{"a": 1}, {"b": 1}]}) is None


def test_free_keys_that_are_counted_are_several_members(judge: Any) -> None:
    schema = {"type": "object", "anyOf": [{"required": ["a"]}, {"minProperties": 2}]}
    found = told(judge, schema)
    assert [cell.members for cell in found.cells] == [range(1, 3)]
    assert (found.goes_on, found.is_tracked) == (True, True)
    assert may_end(found, "", "a", "free", "free free'", "free'") == [False, True, False, True, False]
    found = told(judge, {**schema, "maxProperties": 3})
    assert [cell.members for cell in found.cells] == [range(1, 4)]
    assert not found.goes_on
    assert may_end(found, "a free free'", "free free' free''", "a free free' free''") == [True, True, False]
    found = told(judge, {**schema, "maxProperties": 0})
    assert found == "no set of keys fulfils all that is asked of an object"
    closed = {**schema, "properties": {"a": True, "b": True}, "additionalProperties": False, "maxProperties": 1}
    found = told(judge, closed)
    assert (found.cells, [number for number, _ in found.entries]) == ([], [0])  # b can never be there
    assert may_end(found, "", "a") == [False, True]
    closed["properties"] = {"b": True, "c": True}  # two of them are too many
    assert told(judge, closed) == "no set of keys fulfils all that is asked of an object"


def test_few_members_only(judge: Any) -> None:
    schema = {"type": "object", "anyOf": [{"required": [f"{at}"]} for at in range(20)]}
    assert told(judge, schema, limits=Limits(max_tracked_names=19)) is None
    assert len(told(judge, schema, limits=Limits(max_tracked_names=20)).entries) == 20
    assert told(judge, schema, unique_keys=True).is_tracked
