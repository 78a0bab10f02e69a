"""Arrays: the same values are valid for the grammar and for `jsonschema`."""

from __future__ import annotations

from typing import Any

import pytest

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("items", {"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["a"], [1, None]]),
    ("items false", {"type": "array", "items": False}, [[]], [[1]]),
    ("array length", {"type": "array", "minItems": 1, "maxItems": 3}, [[1], [1, 2, 3]], [[], [1, 2, 3, 4]]),
    ("long arrays", {"type": "array", "minItems": 5, "items": {"const": 1}}, [[1] * 5, [1] * 9], [[1] * 4, []]),
    ("maxItems 0", {"type": "array", "maxItems": 0}, [[]], [[1]]),
    ("prefixItems", {"prefixItems": [{"type": "integer"}, {"type": "string"}]}, [[], [1], [1, "a", None]], [["a"]]),
    (
        "prefixItems and items",
        {
            "type": "array",
            "prefixItems": [{"type": "null"}],
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 3,
        },
        [[None, 1], [None, 1, 2]],
        [[None], [1, 1], [None, 1, 2, 3], [None, None]],
    ),
    ("prefix longer than maxItems", {"type": "array", "prefixItems": [{}, {}], "maxItems": 1}, [[], [1]], [[1, 2]]),
    (
        "a prefix that ends",
        {"type": "array", "prefixItems": [{}, {"type": "null"}], "items": False, "minItems": 1},
        [[1], [1, None]],
        [[], [1, 2], [1, None, 1]],
    ),
    ("uniqueItems of one", {"type": "array", "uniqueItems": True, "maxItems": 1}, [[], [1]], [[1, 1]]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
