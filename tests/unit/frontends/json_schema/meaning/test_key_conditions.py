"""Alternatives of objects as one condition: classes of values, members, and what cannot be told so."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Limits
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.key_conditions import conditioned_object
from llmask.frontends.json_schema.writing.translation import Translation

A_STRING = {"required": ["a"], "properties": {"a": {"type": "string"}}}


def told(judge: Any, schema: Any, **options: Any) -> Any:
    translation = Translation(judge.nodes, schema, SchemaOptions(**options))
    return conditioned_object(translation, conjunction_of(translation, [(translation.schema, ())]), ())


def test_names_of_the_object_stand_before_those_of_alternatives(judge: Any) -> None:
    schema = {
        "properties": {"c": True, "b": {"type": "null"}},
        "anyOf": [A_STRING, {"properties": {"b": False, "d": {}}}],
    }
    found = told(judge, schema)
    assert [entry.name for _, entry in found.entries] == ["c", "b", "a", "a", "d"]
    schema = {"anyOf": schema["anyOf"], "properties": schema["properties"]}
    assert [entry.name for _, entry in told(judge, schema).entries] == ["a", "a", "d", "c", "b"]


def test_schemas_that_exclude_each_other_divide_into_one_class_each(judge: Any) -> None:
    members = [{"properties": {"a": {"enum": [at, -at]}}} for at in range(1, 40)]
    found = told(judge, {"type": "object", "oneOf": members})
    assert len(found.entries) == 39  # some other value is impossible
    same = [{"properties": {"a": {"enum": [1]}}}, {"properties": {"a": {"enum": [1], "title": "the same"}}}]
    assert len(told(judge, {"type": "object", "anyOf": [*same, {"required": ["a"]}]}).entries) == 2


def test_no_set_of_keys(judge: Any) -> None:
    no_a = {"properties": {"a": False}}
    assert told(judge, {"type": "object", "required": ["a"], "anyOf": [no_a, {"not": {"required": ["a"]}}]}) == (
        "no set of keys fulfils all that is asked of an object"
    )


@pytest.mark.parametrize("alternative", [{"const": {"a": 1}}, {"not": {"const": {"a": 1}}}], ids=str)
def test_what_is_no_condition_on_members(judge: Any, alternative: Any) -> None:
    assert told(judge, {"type": "object", "anyOf": [{"required": ["a"]}, alternative]}) is None


def test_values_must_not_stand_beside(judge: Any) -> None:
    alternatives = [A_STRING, {"required": ["b"]}]
    assert told(judge, {"type": "object", "anyOf": alternatives, "enum": [{"a": 1}, {"b": 1}]}) is None


def test_few_members_only(judge: Any) -> None:
    schema = {"type": "object", "anyOf": [{"required": [f"{at}"]} for at in range(20)]}
    assert told(judge, schema, limits=Limits(max_tracked_names=19)) is None
    assert len(told(judge, schema, limits=Limits(max_tracked_names=20)).entries) == 20
    assert told(judge, schema, unique_keys=True).is_tracked
