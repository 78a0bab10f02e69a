"""What the schemas of a place say of an array, together."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.reading.options import SchemaOptions


def layout(judge: Any, *schemas: Any) -> ArrayLayout:
    context = Context(judge.nodes, {"allOf": list(schemas)}, SchemaOptions())
    paths = [((), "allOf", number) for number in range(len(schemas))]
    parts = context.schema["allOf"]
    return ArrayLayout(
        context, [(part, path, context.shape(part, path)) for part, path in zip(parts, paths, strict=True)]
    )


def test_counts_are_the_narrowest_and_prefixes_the_longest(judge: Any) -> None:
    found = layout(judge, {"minItems": 2, "prefixItems": [{}, {}]}, {"maxItems": 5, "minItems": 3, "prefixItems": [{}]})
    assert (found.low, found.high, found.n_prefix) == (3, 5, 2)
    assert [schema for schema, _ in found.schemas_at(0)] == [{}, {}]


@pytest.mark.parametrize(
    ("schema", "low", "is_unique"),
    [
        ({"contains": {"const": 1}, "minContains": 4}, 4, False),
        ({"uniqueItems": True}, 0, True),
        ({"uniqueItems": True, "maxItems": 1}, 0, False),  # one item differs from all others
    ],
)
def test_what_is_asked_of_all_items_moves_the_counts(judge: Any, schema: Any, low: int, is_unique: bool) -> None:
    found = layout(judge, schema)
    assert (found.low, found.is_unique) == (low, is_unique)


def test_items_after_a_prefix_have_the_schema_of_their_draft(judge: Any) -> None:
    old = layout(judge, {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}], "additionalItems": False})
    assert [schema for schema, _ in old.others] == [False]
    assert len(old.prefixes[0]) == 1
