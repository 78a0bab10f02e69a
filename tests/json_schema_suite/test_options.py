"""Options hold whatever was compiled before, and grammars do not wear out."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from tests.long.subject import Subject, accepts


@pytest.mark.parametrize("first", [None, False, True])
@pytest.mark.parametrize("unique", [False, True])
def test_keys_of_any_value_are_unique_where_that_is_asked(subject: Subject, first: bool | None, unique: bool) -> None:
    compiler = llmask.Compiler(subject.tokenizer)
    schemas: dict[str, Any] = {'[{"a":1,"a":2}]': {"type": "array"}, '{"a":{"b":1,"b":2}}': {"properties": {"a": {}}}}
    if first is not None:
        compiler.json_schema({"type": "array"}, unique_keys=first)
    for text, schema in schemas.items():
        assert accepts(compiler.json_schema(schema, unique_keys=unique).matcher(), text) is not unique


def test_a_grammar_does_not_wear_out(subject: Subject) -> None:
    # Rules that are written while a document is read counted into the budget of compiling, until it was spent.
    compiler = llmask.Compiler(subject.tokenizer, llmask.Limits(max_schema_keywords=3_000))
    grammar = compiler.json_schema({"type": "array", "uniqueItems": True}, unique_keys=True)
    for number in range(60):
        assert accepts(grammar.matcher(), f'[{{"a":{number}}},{{"b":{number}}}]')
        assert not accepts(grammar.matcher(), f'[{{"a":{number}}},{{"a":{number}}}]')


def test_an_item_beyond_numbers_is_refused_with_a_limit(subject: Subject) -> None:
    number = "1" * 5000
    grammar = subject.compiler.json_schema({"type": "array", "uniqueItems": True})
    assert accepts(grammar.matcher(), f"[{number},2]")
    assert not accepts(grammar.matcher(), f"[{number},{number}.0]")
    matcher = subject.compiler.json_schema(
        {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}
    ).matcher()
    with pytest.raises(llmask.LimitExceeded, match="too many digits"):
        matcher.accept_bytes(f"[{number},2]".encode())
