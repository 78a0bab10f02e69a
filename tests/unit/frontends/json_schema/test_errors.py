"""Schemas that meet a limit as they are; what else is refused is in tests/contract/mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded


def test_what_allows_nothing_is_left_out_where_it_is_optional(judge: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}, "b": {"enum": []}}}
    judge.agrees(schema, [{}, {"c": 1}], [{"a": 1}, {"b": 1}, {"a": 1, "c": 1}])


def nested(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def nested_list(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: list[tuple[Any, str]] = [
    (lambda: nested(100_000), "the schema is nested deeper than 400 (limits.max_schema_depth)"),
    (lambda: {"const": nested_list(1000)}, "a value of const or enum is nested deeper than 100"),
    (lambda: {"const": 10**20000}, "a listed number has more than 10000 digits"),
    (
        lambda: {"type": "object", "minProperties": 600, "not": {"patternProperties": {"^a": False}}},
        "an object of 1200 keys that are told apart: at most 1024 are remembered (limits.max_tracked_names)",
    ),
]


@pytest.mark.parametrize(("make", "message"), HOSTILE, ids=[row[1][:40] for row in HOSTILE])
def test_hostile_schemas_meet_a_limit(judge: Any, make: Any, message: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        judge.translate(make())
    assert caught.value.message == message


def test_a_cyclic_python_object_meets_a_limit(judge: Any) -> None:
    schema: Any = {"type": "object", "properties": {"r": {"$ref": "#"}}}
    schema["properties"]["a"] = schema
    with pytest.raises(LimitExceeded):
        judge.translate(schema)
