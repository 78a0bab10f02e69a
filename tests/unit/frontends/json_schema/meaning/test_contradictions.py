"""What contradicts what; whole messages are in ../test_errors.py."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.meaning.contradictions import bounds_help, types_help


def parts(*schemas: dict[str, Any]) -> Any:
    return [(schema, (), None) for schema in schemas]


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (["string", "null"], '"string" and "null" exclude each other; '),
        (["string", "string", "null"], '"string" and "null" exclude each other; '),
        (["string", ["null", "integer"]], ""),
        (["string"], ""),
        ([], ""),
    ],
)
def test_types_that_exclude_each_other_are_named(types: list[Any], said: str) -> None:
    found = types_help(parts(*({"type": kind} for kind in types), {}))
    assert found == f"{said}write anyOf where one of the schemas is enough, or take one out"


def test_the_narrowest_bounds_are_named() -> None:
    of = parts({"minimum": 1, "maximum": 7}, {"minimum": 5}, {"exclusiveMaximum": 2, "maximum": True})
    assert bounds_help("integer", of).startswith("minimum is 5 and exclusiveMaximum is 2: ")
    assert bounds_help("boolean", of) == bounds_help("string", of) == "change one of its keywords, or take it out"
