"""What contradicts what; whole messages are in ../test_errors.py."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.meaning.contradictions import bounds_help, false_help, types_help
from llmask.frontends.json_schema.reading.keywords import NO_PATTERN

CHANGE = "change one of them, or take it out"


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
    assert bounds_help("boolean", of) == "no value is left by minimum, maximum, exclusiveMaximum: " + CHANGE
    assert bounds_help("string", of) == "change one of its keywords, or take it out"


@pytest.mark.parametrize(
    ("schemas", "said"),
    [
        ([{"pattern": "^a", "maxLength": 0}, {"pattern": "b"}], "no value is left by pattern, maxLength: "),
        ([{"type": "string", "minimum": 2, "format": "date"}], "no value is left by format: "),
    ],
)
def test_the_keywords_that_leave_no_value_are_named(schemas: list[dict[str, Any]], said: str) -> None:
    assert bounds_help("string", parts(*schemas)) == said + CHANGE


def test_of_keywords_that_a_negation_leaves_nothing_is_said() -> None:
    assert (
        bounds_help("string", parts({NO_PATTERN: "^a", "minLength": 2})) == "change one of its keywords, or take it out"
    )


ROOT_SCHEMA = {
    "properties": {"name": {}, "a": {"required": ["b"], "additionalProperties": False}},
    "required": ["nmae"],
}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((), "write true, or {}, for any value"),
        (((), "properties", "a"), 'give it another schema, or take "a" out of what requires it'),
        (
            ((), "additionalProperties"),
            '"nmae" is required and not declared: add it to "properties", or did you mean "name"?',
        ),
        ((((), "properties", "a"), "additionalProperties"), '"b" is required and not declared: add it to "properties"'),
        ((((), "items"), "additionalProperties"), "declare the properties that are required, or allow others"),
        (((), "items"), "allow more items, or ask for fewer"),
        (((), "anyOf", 0), "write true, or {}, for any value, or take out what asks for one here"),
    ],
)
def test_where_false_stands_tells_what_asks_for_a_value(path: Any, said: str) -> None:
    assert false_help(ROOT_SCHEMA, path) == said
