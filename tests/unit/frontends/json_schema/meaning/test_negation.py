"""`not`: of each small value exactly one of a schema and its negation holds."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import UnsatisfiableSchema
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.negation import negations
from llmask.frontends.json_schema.writing.translation import Translation
from tests.conftest import EFFORT
from tests.unit.frontends.json_schema.small_worlds import (
    DRAFTS,
    EVERYTHING,
    assert_exactly,
    cases,
    rooted,
    schemas,
    valid_values,
)


@pytest.mark.long
@pytest.mark.parametrize("draft", DRAFTS)
def test_a_random_schema_and_its_negation_share_the_values(judge: Any, draft: int) -> None:
    n_compared = 0

    @cases(60, schema=schemas(draft, 1), definition=schemas(draft, 0))
    def compare(schema: Any, definition: Any) -> None:
        nonlocal n_compared
        valid = valid_values(rooted(schema, definition, draft), draft)
        n_compared += assert_exactly(judge, rooted({"not": schema}, definition, draft), EVERYTHING - valid)

    compare()
    assert n_compared > 30 * EFFORT


def test_the_negation_of_a_recursive_schema_ends(judge: Any) -> None:
    schema = {
        "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 2}},
        "not": {"$ref": "#/$defs/tree"},
    }
    for options in ({}, {"property_order": "any"}):
        invalid: list[Any] = [[], [[]], [[[], []], []], [[[[]]]]]
        judge.agrees(schema, [1, {}, [1], [[], [], []], [[[], [], []]], [[[None]]]], invalid, **options)


def test_the_negation_of_unevaluated_keywords_knows_what_references_evaluate(judge: Any) -> None:
    """`not` of `allOf` beside `unevaluatedProperties` asked for an invalid member of `allOf` only."""
    schema = {
        "$defs": {"base": {"properties": {"a": {"type": "string"}}}},
        "type": "object",
        "properties": {"a": True, "b": {"type": "integer"}, "c": True, "d": True},
        "additionalProperties": False,
        "not": {"unevaluatedProperties": False, "$ref": "#/$defs/base", "properties": {"b": True, "c": True}},
    }
    valid: list[Any] = [{"a": 1}, {"d": 1}, {"b": 1, "d": None}]
    invalid: list[Any] = [{}, {"a": "x"}, {"b": 1}, {"b": "x"}, {"c": 1}, {"a": "x", "c": 1}, {"e": 1}]
    judge.agrees(schema, valid, invalid)
    judge.agrees(schema, valid, invalid, property_order="any")


def test_what_holds_anyway_cannot_fail(judge: Any) -> None:
    """Beside a definition, its negation within another one is no alternative."""
    schema = {
        "$defs": {"kind": {"required": ["kind"]}},
        "allOf": [{"$ref": "#/$defs/kind"}, {"not": {"allOf": [{"$ref": "#/$defs/kind"}, {"required": ["a"]}]}}],
    }
    judge.agrees(schema, [{"kind": 1}, {"kind": 1, "b": 2}], [{}, {"kind": 1, "a": 1}, {"a": 1}, 5])
    translation = Translation(judge.nodes, schema, SchemaOptions())
    refused = schema["allOf"][1]["not"]
    kind = translation.identity(schema["$defs"]["kind"], ((), "$defs", "kind"))
    path = (((), "allOf", 1), "not")
    assert len(negations(translation, refused, path, {kind})) < len(negations(translation, refused, path, set()))


def test_a_negation_is_made_once(judge: Any) -> None:
    schema = {"not": {"type": "string", "minLength": 1}}
    translation = Translation(judge.nodes, schema, SchemaOptions())
    path = ((), "not")
    assert negations(translation, schema["not"], path, set()) is negations(translation, schema["not"], path, set())


@pytest.mark.parametrize("schema", [{}, True, {"title": "t"}, {"minLength": 0}, {"required": []}, {"properties": {}}])
def test_what_always_holds_has_no_negation(judge: Any, schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema, match="the schema is false"):
        judge.translate({"not": schema})


def test_work_on_nested_negations_is_linear(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(n: int) -> int:
        schema: Any = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
        for _ in range(n):
            schema = {"type": "object", "properties": {"a": {"not": schema}}, "required": ["a"]}
        translation = Translation(judge.nodes, schema, SchemaOptions())
        translation.run()
        return translation._work

    small, large = work(20), work(40)
    assert large <= 2.5 * small
