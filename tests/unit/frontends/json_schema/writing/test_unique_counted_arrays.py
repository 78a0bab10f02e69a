"""`uniqueItems` beside `contains`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import UnsatisfiableSchema, UnsupportedSchema
from tests.unit.frontends.json_schema.small_worlds import (
    DRAFTS,
    assert_exactly,
    cases,
    dead_end,
    rooted,
    some_of,
    valid_values,
)

UNIQUE = {"type": "array", "uniqueItems": True}
FEW = {"enum": [1, 2, "a", None]}


@pytest.mark.parametrize(
    "schema",
    [
        {"items": FEW, "contains": {"type": "integer"}, "minContains": 3},
        {"contains": {"type": "boolean"}, "minContains": 3},
        {"items": {"type": "boolean"}, "contains": True, "minItems": 3},
    ],
    ids=str,
)
def test_too_few_values_are_known_beforehand(judge: Any, schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**UNIQUE, **schema})


RUNNING_OUT: list[Any] = [
    {"prefixItems": [True], "contains": {"type": "boolean"}, "minContains": 2},
    {"prefixItems": [{"const": True}, {"maxItems": 1, "items": {"type": "null"}}, {"const": True}], "contains": True},
    {"prefixItems": [{"enum": [0, 1]}, {"enum": [[]]}, {"const": 1}], "contains": {"type": ["boolean", "null"]}},
    {"prefixItems": [True, {"const": 1}], "items": {"type": "integer"}, "contains": {"enum": [1, 2, 3]}, "minItems": 3},
    {"items": {"type": "boolean"}, "contains": {"const": True}, "minItems": 2},
    {"items": {"enum": [1, 2, "a"]}, "contains": {"type": "string"}, "maxContains": 0},
]


@pytest.mark.parametrize("counted", RUNNING_OUT, ids=str)
def test_values_that_are_needed_are_left(judge: Any, counted: Any) -> None:
    """`[1,[]` was begun where the third item is 1 and the array went on to need another one."""
    schema = {**UNIQUE, "$schema": DRAFTS[2020], **counted}
    assert assert_exactly(judge, schema, valid_values(schema, 2020))
    assert dead_end(judge, schema, most=600) is None


def test_arrays_of_such_arrays(judge: Any) -> None:
    """To leave out `[1]` of the inner arrays was refused when the second one was to be read."""
    inner = {**UNIQUE, "contains": {"enum": [1, "a"]}, "maxContains": 1}
    schema = {**UNIQUE, "items": inner}
    judge.agrees(schema, [[[1], ["a"], [1, 2]], [["b", 1], [1, "b"]]], [[[1], [1]], [[1, "a"]], [[1], []]])


def test_too_many_values_that_may_run_out_are_refused(judge: Any) -> None:
    items = {"enum": [*range(20)]}
    judge.grammar({**UNIQUE, "items": items, "contains": {"minimum": 9}, "minItems": 5})
    with pytest.raises(UnsupportedSchema, match="more than 10 values that may run out"):
        judge.grammar({**UNIQUE, "items": items, "contains": {"minimum": 9}, "minItems": 20})


ITEM = st.sampled_from((FEW, {"type": ["integer", "null"]}, {"type": "boolean"}, True))
KIND = st.sampled_from(({"type": "integer"}, {"enum": ["a", 1]}, {"type": "null"}, {"minimum": 1}))
ARRAY = some_of(
    ("items", ITEM),
    ("contains", KIND),
    ("minContains", st.integers(0, 2)),
    ("maxContains", st.integers(0, 2)),
    ("minItems", st.integers(0, 2)),
    ("maxItems", st.integers(1, 3)),
    most=4,
)


@pytest.mark.long
@cases(100, schema=ARRAY)
def test_random_arrays_agree(judge: Any, schema: Any) -> None:
    root = rooted({"contains": {"const": 1}, "minContains": 0, **UNIQUE, **schema}, True, 2020)
    assert_exactly(judge, root, valid_values(root, 2020))


@cases(40, schema=ARRAY)
def test_every_array_that_is_begun_can_be_ended(judge: Any, schema: Any) -> None:
    assert dead_end(judge, {"contains": {"type": ["integer", "null"]}, **UNIQUE, **schema}, most=250) is None
