"""Arrays: contradictions, limits, and random ones beside `jsonschema`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.errors import LimitExceeded, UnsatisfiableSchema
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, cases, dead_end, rooted, some_of, valid_values

ONE = {"const": 1}


def test_older_drafts_know_no_numbers_of_contained_items(judge: Any) -> None:
    schema = {"contains": ONE, "minContains": 2, "maxContains": 2}
    judge.agrees({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, [[1], [1, 1, 1]], [[], [2]])
    judge.agrees(schema, [[1, 1]], [[1], [1, 1, 1]])


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"contains": ONE, "minContains": 2, "maxItems": 1}, "2 items are needed and maxItems is 1"),
        ({"contains": ONE, "minItems": 2, "maxItems": 1}, "2 items are needed and maxItems is 1"),
        ({"contains": False}, "false"),
        ({"contains": {"type": "null"}, "items": {"type": "string"}}, "no type"),
    ],
    ids=str,
)
def test_contradictions_are_named(judge: Any, schema: Any, reason: str) -> None:
    with pytest.raises(UnsatisfiableSchema, match=reason):
        judge.translate({"type": "array", **schema})


def test_too_many_counts_meet_a_limit(judge: Any) -> None:
    kinds = [{"contains": {"const": at}} for at in range(7)]
    for schema in ({"contains": ONE, "minContains": 30_000}, {"allOf": kinds}):
        with pytest.raises(LimitExceeded, match="counting the items"):
            judge.translate(schema)
    judge.agrees({"allOf": kinds[:6]}, [[5, 4, 3, 2, 1, 0]], [[5, 4, 3, 2, 1]])


ITEM = st.sampled_from(({"type": "integer"}, {"const": "a"}, {"type": ["string", "null"]}, True, False, {"minimum": 1}))
COUNTS = st.integers(0, 2)
ARRAY = some_of(
    ("contains", ITEM),
    ("minContains", COUNTS),
    ("maxContains", COUNTS),
    ("items", ITEM),
    ("prefixItems", st.lists(ITEM, min_size=1, max_size=2)),
    ("minItems", COUNTS),
    ("maxItems", st.integers(1, 3)),
    ("not", some_of(("contains", ITEM), ("minContains", COUNTS), ("maxContains", COUNTS), ("items", ITEM))),
    most=5,
)


@pytest.mark.long
@cases(120, one=ARRAY, other=ARRAY)
def test_random_arrays_agree(judge: Any, one: Any, other: Any) -> None:
    for schema in (one, {"not": one}, {"allOf": [one, other], "type": "array"}):
        root = rooted(schema, True, 2020)
        assert_exactly(judge, root, valid_values(root, 2020))


@cases(30, one=ARRAY, other=ARRAY)
def test_every_array_that_is_begun_can_be_ended(judge: Any, one: Any, other: Any) -> None:
    assert dead_end(judge, {"type": "array", "allOf": [one, {"not": other}]}) is None
