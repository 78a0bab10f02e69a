"""Types: the same values are valid for the grammar and for `jsonschema`."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.meaning.place import count_range
from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, Shape

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("string", {"type": "string"}, ["", "a\nb", 'q"\\', "é😀"], [None, 1, [], {}]),
    ("integer", {"type": "integer"}, [0, -7, 10**30], [1.5, "1", None, True]),
    ("number", {"type": "number"}, [0, 1.5, -2e30, 1e-7], ["1", None, True]),
    ("boolean", {"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ("null", {"type": "null"}, [None], [0, False, "null"]),
    ("several types", {"type": ["integer", "null"]}, [1, None], [1.5, "a", []]),
    ("number and integer", {"type": ["integer", "number"]}, [1, 1.5], ["a"]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)


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
