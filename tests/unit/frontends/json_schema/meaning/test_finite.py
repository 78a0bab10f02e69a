"""Places with few values: all of them, and never fewer."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning import conjunction, finite
from llmask.frontends.json_schema.meaning.finite import finite_values
from llmask.frontends.json_schema.meaning.instances import equality_key
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.limits import Limits
from tests.unit.frontends.json_schema.small_worlds import VALUES, cases, rooted, schemas, valid_values


def listed(judge: Any, schema: Any, most: int = 20) -> list[Any] | None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    found = finite_values(translation, [(schema, ROOT)], most)
    return None if found is None else sorted(found, key=repr)


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "null"}, [None]),
        ({"type": ["boolean", "null"]}, [False, None, True]),
        ({"enum": [1, "a", 1.0]}, ["a", 1]),
        ({"enum": [1, "a", None], "type": ["string", "null"]}, ["a", None]),
        ({"type": "integer", "minimum": 1, "exclusiveMaximum": 4}, [1, 2, 3]),
        ({"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.5}, [0, 0.5, 1]),
        ({"type": "string", "maxLength": 0}, [""]),
        ({"type": "string", "pattern": "^[ab]{1,2}$"}, ["a", "aa", "ab", "b", "ba", "bb"]),
        ({"type": "array", "maxItems": 1, "items": {"type": "boolean"}}, [[], [False], [True]]),
        ({"type": "array", "items": False}, [[]]),
        ({"type": "object", "maxProperties": 0}, [{}]),
        ({"type": "object", "required": ["a"], "maxProperties": 1, "properties": {"a": {"const": 1}}}, [{"a": 1}]),
        (
            {"type": "object", "propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "null"}},
            [{}, {"a": None}],
        ),
        ({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3}, []),
        ({"type": "object", "propertyNames": {"enum": ["a"]}, "not": {"minProperties": 1}}, [{}]),
        ({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, [[], [1], [2], [1, 2], [2, 1]]),
        ({"type": "string", "enum": ["ab", "b"], "not": {"minLength": 2}}, ["b"]),
        ({"anyOf": [{"const": 1}, {"const": 2}, {"type": "null"}]}, [1, 2, None]),
        ({"anyOf": [{"const": 1}, {"type": "boolean"}, {"enum": [1.0, "a"]}]}, [1, False, True, "a"]),
        ({"oneOf": [{"const": 1}, {"enum": [1.0, 2]}, {"const": "a"}]}, [2, "a"]),
        ({"oneOf": [{"enum": [True, "a"]}, {"type": "boolean"}]}, ["a", False]),
        ({"anyOf": [{"enum": [1, "a"], "type": "string"}, {"const": 2, "minimum": 3}, {"const": 4}]}, ["a", 4]),
        ({"type": "integer", "anyOf": [{"const": 1}, {"const": "a"}, {"const": 2}]}, [1, 2]),
        ({"anyOf": [{"const": 1}, {"const": 2}, {"const": 3}], "oneOf": [{"const": 1}, {"maximum": 2}]}, [2]),
        ({"enum": [1, 2], "not": {"const": 1}}, [2]),
        (False, []),
    ],
    ids=str,
)
def test_all_values_of_a_place(judge: Any, schema: Any, values: list[Any]) -> None:
    found = listed(judge, schema)
    assert found is not None
    assert len(found) == len(values)
    assert {equality_key(value, ROOT) for value in found} == {equality_key(value, ROOT) for value in values}


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "string"},
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"type": "null"}},
        {"type": "object", "properties": {"a": {"type": "null"}}},
        {"type": "string", "pattern": "^a*$"},
    ],
    ids=str,
)
def test_many_values_are_not_listed(judge: Any, schema: Any) -> None:
    assert listed(judge, schema) is None


def test_one_value_too_many(judge: Any) -> None:
    schema = {"type": "integer", "minimum": 1, "maximum": 5}
    assert listed(judge, schema, 5) == [1, 2, 3, 4, 5]
    assert listed(judge, schema, 4) is None


@cases(200, schema=schemas(2020, 1), definition=schemas(2020, 0))
def test_no_value_is_missing(judge: Any, schema: Any, definition: Any) -> None:
    root = rooted(schema, definition, 2020)
    found = listed(judge, root, 40)
    if found is not None:
        keys = {equality_key(value, ROOT) for value in found}
        assert {equality_key(VALUES[at], ROOT) for at in valid_values(root, 2020)} <= keys
        assert all(judge.is_valid(root, value) for value in found)


def test_alternatives_that_are_merged_while_values_are_listed_are_counted(
    judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen choices that nothing decides: 65,536 ways, each with its schemas merged anew, of which none was counted.

    A schema of 800 characters took five seconds to reach the limit.
    """
    n_merged = 0
    merge = conjunction.with_alternative

    def merge_and_count(*given: Any) -> Any:
        nonlocal n_merged
        n_merged += 1
        return merge(*given)

    monkeypatch.setattr(finite, "with_alternative", merge_and_count)
    choices = [{"anyOf": [{"multipleOf": 0.5}, {"multipleOf": 0.25 / n}]} for n in range(1, 17)]
    schema = {"type": "integer", "minimum": 1, "maximum": 0, "allOf": choices}
    translation = Translation(judge.nodes, schema, SchemaOptions(limits=Limits(max_schema_keywords=20_000)))
    with pytest.raises(LimitExceeded, match="max_schema_keywords"):
        finite_values(translation, [(schema, ROOT)], 20)
    assert 0 < n_merged <= 2000


def test_states_of_patterns_are_counted_whatever_the_store_remembers(judge: Any) -> None:
    """Patterns of 15 characters with 180 states each: 300 of them took twelve seconds and counted as 300 steps."""

    def work(pattern: str) -> int:
        schema = {"type": "string", "pattern": pattern}
        translation = Translation(judge.nodes, schema, SchemaOptions())
        assert finite_values(translation, [(schema, ROOT)], 20) is not None
        return translation._work

    assert work("^(?:abq){60}$") >= 10 * 180
    assert work("^(?:abq){60}$") == work("^(?:abr){60}$")


def test_arrays_that_are_too_many_are_not_made_first(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of values were made and compared, uncounted, before it was seen that they are too many: 0.1 s."""
    keys = []
    monkeypatch.setattr(finite, "equality_key", lambda *asked: keys.append(asked) or equality_key(*asked))
    items = {"items": {"enum": list(range(100))}, "uniqueItems": True}
    assert listed(judge, {"type": "array", "maxItems": 4, **items}, 200) is None
    assert len(keys) < 1000
    pairs = {"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": True, "items": {"enum": [*range(15)]}}
    assert len(listed(judge, pairs, 210) or ()) == 210
    assert listed(judge, pairs, 209) is None
    last = {"type": "array", "prefixItems": [{"enum": [1, 2, 3]}], "items": {"enum": [1, 2]}, "uniqueItems": True}
    assert len(listed(judge, last, 10) or ()) == 10
