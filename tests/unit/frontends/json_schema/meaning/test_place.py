"""Types and counts of a place; which values are valid is for test_small_worlds.py."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.meaning.place import count_range
from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, Shape


@pytest.mark.parametrize(
    ("schemas", "expected"),
    [
        ([{}], (0, None)),
        ([{"minItems": 2, "maxItems": 7}, {"minItems": 3.0}, {"maxItems": 5}], (3, 5)),
        ([{"maxItems": 2**31}], (0, None)),
    ],
)
def test_the_closest_counts_hold(schemas: list[Any], expected: tuple[int, int | None]) -> None:
    parts = [(schema, (), Shape(tuple(schema), ANY_DRAFT)) for schema in schemas]
    assert count_range(parts, "minItems", "maxItems") == expected


def test_a_count_that_no_document_reaches_is_refused() -> None:
    schema = {"minItems": 2**31}
    with pytest.raises(LimitExceeded, match='"minItems" is 2147483647 or more'):
        count_range([(schema, (), Shape(tuple(schema), ANY_DRAFT))], "minItems", "maxItems")


def test_counts_that_no_document_reaches_are_no_bounds(judge: Any) -> None:
    schema = {"maxLength": 10**40, "maxItems": 2**31, "maxProperties": 2**32}
    judge.agrees(schema, ["a", [1, 2], {"a": 1}], [])
