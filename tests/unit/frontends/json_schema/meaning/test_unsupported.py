"""What is refused for want of a way to enforce it; see `unsupported.py`."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import UnsupportedSchema

EQUAL_ITEMS = 'the negation of "uniqueItems" is not supported where the number of items has a limit'
# schema, keyword, its place, the reason: nothing else is refused. A row goes when its keyword is enforced.
REFUSED: list[tuple[Any, str, str, str]] = [
    ({"not": {"uniqueItems": True}, "maxItems": 3}, "uniqueItems", "#/not/uniqueItems", EQUAL_ITEMS),
    (
        {"properties": {"a": {"if": {"type": "null"}, "else": {"items": False, "not": {"uniqueItems": True}}}}},
        "uniqueItems",
        "#/properties/a/else/not/uniqueItems",
        EQUAL_ITEMS,
    ),
]
# Beside the same keywords, where they ask nothing that is not enforced.
ACCEPTED: list[Any] = [
    {"uniqueItems": True},
    {"not": {"uniqueItems": True}},
    {"not": {"uniqueItems": True, "type": "string"}, "type": "array"},
    {"not": {"uniqueItems": False, "minItems": 1}},
    {"minProperties": 2, "maxProperties": 2},
    {"not": {"additionalProperties": {"type": "null"}}},
]


@pytest.mark.parametrize(("schema", "keyword", "where", "reason"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_is_refused_may_be_ignored_and_is_listed_then(
    judge: Any, schema: Any, keyword: str, where: str, reason: str
) -> None:
    with pytest.raises(UnsupportedSchema) as caught:
        judge.translate(schema)
    assert (caught.value.where, caught.value.message) == (where, reason)
    assert caught.value.help == 'Remove it, or pass unsupported="ignore" to accept that.'
    made = judge.translate(schema, unsupported="ignore")
    assert made.warnings == [f'"{keyword}" at {where} is not enforced: {reason}']
    # the ledger once called it enforced, as the warning named a place where no keyword stands
    assert (where.removesuffix(f"/{keyword}"), keyword, f"ignored: {reason}") in made.ledger


@pytest.mark.parametrize("schema", ACCEPTED, ids=str)
def test_what_asks_nothing_of_the_kind_is_accepted(judge: Any, schema: Any) -> None:
    assert judge.translate(schema).warnings == []


def test_what_is_not_ignored_is_still_enforced(judge: Any) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True, "contains": True}}
    grammar = judge.grammar(schema, unsupported="ignore")
    assert judge.accepts(grammar, [1, 1])
    assert not judge.accepts(grammar, [1, "a"])


def test_unknown_formats_are_annotations_and_listed(judge: Any) -> None:
    grammar = judge.translate({"type": "string", "format": "int32"})
    assert grammar.warnings == [
        '"format" at #/format is not enforced: the format "int32" is unknown, so it is an annotation'
    ]
