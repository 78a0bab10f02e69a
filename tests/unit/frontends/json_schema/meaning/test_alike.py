"""Schemas that allow the same share what `same_schema` gives; others do not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.alike import same_schema
from llmask.frontends.json_schema.writing.translation import Translation


def test_what_is_shared(judge: Any) -> None:
    small: dict[str, Any] = {"type": "string", "maxLength": 3}
    properties = {
        "a": small,
        "b": {"maxLength": 3, "title": "of another order, with an annotation", "type": "string"},
        "c": {"$ref": "#/properties/a"},
        "long": {"enum": ["x" * 600]},
        "same": {"enum": ["x" * 600]},
        "object": {"type": "object", "properties": {"a": True}},
        "open": {"type": "object", "properties": {"a": {}}},
        "true": True,
    }
    translation = Translation(judge.nodes, {"properties": properties}, SchemaOptions())
    read = translation.schema["properties"]
    seen = {name: same_schema(translation, read[name], (((), "properties"), name)) for name in properties}
    assert seen["a"] == seen["b"] == seen["c"]
    others = [seen[name] for name in ("a", "long", "same", "object", "open", "true")]
    assert not any(one == other for one, other in combinations(others, 2))
