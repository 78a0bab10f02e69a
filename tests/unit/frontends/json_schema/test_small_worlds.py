"""Every draft in small: random schemas of most keywords against `jsonschema`, and no way into a dead end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.rules import Rules
from tests.unit.frontends.json_schema.small_worlds import (
    DRAFTS,
    TEXTS,
    VALUES,
    assert_exactly,
    cases,
    dead_end,
    rooted,
    schemas,
    tagged,
    valid_values,
)

# What the drafts read differently: keywords; some drafts; values valid in those only; values valid in the others only.
DIFFERENT: list[tuple[Any, tuple[int, ...], list[Any], list[Any]]] = [
    ({"type": "integer"}, (4,), [], [1.0]),
    ({"prefixItems": [{"type": "null"}]}, (2020,), [], [[1], [1, None]]),
    ({"contains": {"type": "null"}}, (4,), [[], [1]], []),
    ({"contains": {"type": "null"}, "minContains": 0}, (4, 2019, 2020), [[], [1]], []),
    ({"const": 1}, (4,), [2, "a"], []),
    ({"if": {"type": "integer"}, "then": {"minimum": 1}}, (4, 6), [0], []),
    ({"dependentRequired": {"a": ["b"]}}, (2019, 2020), [], [{"a": 1}]),
    ({"dependentSchemas": {"a": False}}, (2019, 2020), [], [{"a": 1}]),
    ({"unevaluatedProperties": False}, (2019, 2020), [], [{"a": 1}]),
    ({"unevaluatedItems": False}, (2019, 2020), [], [[1]]),
    ({"propertyNames": {"enum": ["a"]}}, (4,), [{"b": 1}], []),
    ({"$ref": "#/definitions/x", "maximum": 1}, (4, 6, 7), [2], []),
]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(("schema", "drafts", "there", "elsewhere"), DIFFERENT, ids=[str(row[0]) for row in DIFFERENT])
def test_what_the_drafts_read_differently(
    judge: Any, draft: int, schema: Any, drafts: tuple[int, ...], there: list[Any], elsewhere: list[Any]
) -> None:
    for one in (schema, {"not": {"not": schema}}):
        root = rooted(one, {"type": "integer"}, draft)
        grammar = judge.grammar(root)
        for value in (*there, *elsewhere):
            expected = (value in there) == (draft in drafts)
            assert judge.is_valid(root, value) == expected, value
            assert judge.accepts(grammar, value) == expected, value


@pytest.mark.long
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("depth", [1, 2])
def test_random_schemas_allow_what_jsonschema_calls_valid(judge: Any, draft: int, depth: int) -> None:
    n_compared = n_mixed = 0

    @pytest.mark.costly
    @cases(25, schema=schemas(draft, depth), definition=schemas(draft, 0))
    def compare(schema: Any, definition: Any) -> None:
        nonlocal n_compared, n_mixed
        root = rooted(schema, definition, draft)
        valid = valid_values(root, draft)
        n_mixed += 0 < len(valid) < len(VALUES)
        n_compared += assert_exactly(judge, root, valid)

    compare()
    assert n_compared > n_mixed > 0


@pytest.mark.long
@pytest.mark.parametrize("draft", [4, 7, 2020])
def test_schemas_about_the_same_keys_allow_what_jsonschema_calls_valid(judge: Any, draft: int) -> None:
    @pytest.mark.costly
    @cases(25, schema=tagged(draft))
    def compare(schema: Any) -> None:
        root = rooted(schema, True, draft)
        assert_exactly(judge, root, valid_values(root, draft))

    compare()


@pytest.mark.long
@pytest.mark.parametrize("order", ["schema", "any"])
@cases(80, schema=schemas(2020, 2) | tagged(2020), definition=schemas(2020, 0))
def test_what_may_be_begun_may_be_ended(judge: Any, order: str, schema: Any, definition: Any) -> None:
    assert dead_end(judge, rooted(schema, definition, 2020), property_order=order) is None


RECURSIVE = st.sampled_from(
    (
        {"items": {"$ref": "#"}, "minItems": 1},
        {"properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/definitions/x"}}, "minProperties": 1},
        {"additionalProperties": {"$ref": "#"}, "maxProperties": 2},
        {"anyOf": [{"type": "null"}, {"items": {"$ref": "#"}, "minItems": 1}]},
        {"contains": {"$ref": "#"}},
        {"not": {"items": {"$ref": "#"}}},
        {"unevaluatedItems": False, "prefixItems": [{"$ref": "#"}]},
    )
)


@pytest.mark.long
@pytest.mark.parametrize("order", ["schema", "any"])
@cases(60, schema=RECURSIVE, beside=schemas(2020, 1), definition=schemas(2020, 0))
def test_recursion_leads_into_no_dead_end(judge: Any, order: str, schema: Any, beside: Any, definition: Any) -> None:
    root = rooted({**schema, "allOf": [{"type": ["array", "object", "null"]}, beside]}, definition, 2020)
    assert dead_end(judge, root, most=200, property_order=order) is None


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_dead_end_is_found(judge: Any, goes_on: bool) -> None:
    """What is begun by "[" goes on by "0" at most, and is never ended."""
    rules = Rules()
    rule = rules.rule("document")
    start, after, end = rules.start_state(rule), rules.state(rule), rules.state(rule)
    rules.scan(start, judge.nodes.literal(b"["), after)
    if goes_on:
        rules.scan(after, judge.nodes.literal(b"0"), after, rules.guard(0, 5, 1, 2))
    rules.scan(after, judge.nodes.literal(b"]"), end, rules.guard(3))
    rules.scan(start, judge.nodes.literal(b"1"), end)
    rules.final(end)

    class Fixed:
        store = judge.store

        def grammar(self, schema: Any, **options: Any) -> CompiledGrammar:
            return CompiledGrammar(MadeGrammar(judge.store, rules))

    assert dead_end(Fixed(), True) == b"["


def test_values_are_listed_in_every_order_of_their_keys() -> None:
    at = VALUES.index({"a": 1, "b": "a", "c": 1})
    assert len(set(TEXTS[at])) == 6
    assert len(VALUES) == len(TEXTS) > 100
