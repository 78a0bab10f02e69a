"""Objects that differ from listed ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

import llmask
from tests.unit.frontends.json_schema import small_worlds

CLOSED = {"type": "object", "properties": {"a": True, "b": {"enum": [1, "a"]}}, "additionalProperties": False}
TABLE: list[tuple[str, Any, list[Any], list[Any], list[Any]]] = [
    ("nothing", CLOSED, [{}], [{"a": 1}, {"b": 1}], [{}]),
    ("one", CLOSED, [{"a": 1}], [{}, {"a": 2}, {"a": 1, "b": 1}], [{"a": 1}, {"a": 1.0}]),
    ("two", CLOSED, [{"a": 1}, {"a": 1, "b": 1}], [{"a": 1, "b": "a"}, {"b": 1}], [{"a": 1}, {"a": 1, "b": 1}]),
    ("all that goes on", CLOSED, [{"a": 1, "b": 1}, {"a": 1, "b": "a"}], [{"a": 1}], [{"a": 1, "b": 1}]),
    ("what cannot be", CLOSED, [{"b": 2}, {"c": 1}], [{}, {"b": 1}], [{"b": 2}]),
    ("nested", CLOSED, [{"a": {"b": [1, "x"]}}], [{"a": {"b": [1, "y"]}}, {"a": {}}], [{"a": {"b": [1.0, "x"]}}]),
    ("a free key", {"type": "object"}, [{"x": 1}], [{}, {"x": 2}, {"x": 1, "y": 1}], [{"x": 1}]),
    ("counted", {"type": "object", "maxProperties": 1}, [{"x": 1}, {}], [{"y": 1}], [{"x": 1}, {}, {"x": 1, "y": 1}]),
    ("required", {**CLOSED, "required": ["b"]}, [{"b": 1}], [{"b": "a"}, {"a": 1, "b": 1}], [{"b": 1}, {}]),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_grammar_and_jsonschema_agree(judge: Any, row: Any) -> None:
    _, schema, listed, valid, invalid = row
    schema = {**schema, "not": {"enum": listed}}
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_what_a_listed_object_holds_may_be_spelled_in_every_way(judge: Any) -> None:
    schema = {**CLOSED, "not": {"const": {"a": "é/", "b": 1}}}
    grammar = judge.grammar(schema)
    for text in (b'{"a":"\\u00e9/"}', b'{"a":"\\u00e9\\/","b":"a"}', b'{"a":"e","b":1}'):
        assert grammar.accepts(text)
    for text in ('{"a":"é/","b":1}', '{"a":"\\u00e9\\/","b":1}', '{"a":"é/","b":1.0}'):
        assert not grammar.accepts(text)


def test_nothing_is_left(judge: Any) -> None:
    schema = {"properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
    with pytest.raises(llmask.UnsatisfiableSchema):
        judge.grammar({"type": "object", **schema, "not": {"enum": [{"a": 1}, {"a": 2}]}})


def test_a_listed_object_costs_a_few_states_a_property(judge: Any) -> None:
    def n_edges(n: int, listed: int) -> int:
        schema = {
            "type": "object",
            "properties": {f"p{at}": {"type": "string"} for at in range(n)},
            "additionalProperties": False,
            "not": {"enum": [{f"p{at}": "x", f"p{n - 1}": "y"} for at in range(listed)]},
        }
        return int(judge.grammar(schema)._loaded.n_edges)

    assert n_edges(80, 1) < 2.2 * n_edges(40, 1)
    assert n_edges(40, 20) < 12 * n_edges(40, 1)


MEMBER = st.sampled_from((True, False, {"type": "integer"}, {"const": "a"}))
SMALL = small_worlds.some_of(
    ("properties", st.dictionaries(st.sampled_from(small_worlds.NAMES), MEMBER, max_size=2)),
    ("required", st.lists(st.sampled_from(small_worlds.NAMES), max_size=2, unique=True)),
    ("additionalProperties", st.sampled_from((False, {"type": "integer"}))),
    ("minProperties", st.integers(0, 2)),
    most=3,
)
OBJECTS = st.lists(
    st.dictionaries(st.sampled_from(small_worlds.NAMES), st.sampled_from((1, "a", None, [1], {"a": 1})), max_size=3),
    min_size=1,
    max_size=4,
)


@pytest.mark.costly
@small_worlds.cases(65, small=SMALL, listed=OBJECTS)
def test_random_objects_agree(judge: Any, small: Any, listed: list[Any]) -> None:
    root = small_worlds.rooted({"type": "object", **small, "not": {"enum": listed}}, True, 2020)
    small_worlds.assert_exactly(judge, root, small_worlds.valid_values(root, 2020))


@pytest.mark.long
@small_worlds.cases(60, small=SMALL, listed=OBJECTS)
def test_every_object_that_is_begun_can_be_ended(judge: Any, small: Any, listed: list[Any]) -> None:
    schema = {"type": "object", **small, "not": {"enum": listed}}
    assert small_worlds.dead_end(judge, schema) is None
    assert small_worlds.dead_end(judge, schema, property_order="any") is None
