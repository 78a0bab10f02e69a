"""`Compiler.response_format`: what each format allows, its options, and where its errors are."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from tests.contract.response_formats import CASES, LARK, SCHEMA


@pytest.mark.parametrize("name", CASES)
def test_texts_are_allowed_or_not(compiler: llmask.Compiler, name: str) -> None:
    case = CASES[name]
    grammar = compiler.response_format(case.document)
    assert grammar.accepts(case.allowed)
    if case.refused is not None:
        assert not grammar.accepts(case.refused)


def test_any_text_may_end_anywhere(compiler: llmask.Compiler) -> None:
    matcher = compiler.response_format({"type": "text"}).matcher()
    for letter in "a\n{é\x00😀":
        assert matcher.is_accepting()
        matcher.accept_bytes(letter.encode())
    assert matcher.is_accepting()
    matcher.accept_bytes(b"\xc3")  # half a letter is no text
    assert not matcher.is_accepting()


def test_the_same_is_compiled_once(compiler: llmask.Compiler) -> None:
    for name in ("chat", "chat, not strict", "responses, whole"):
        assert compiler.response_format(CASES[name].document) is compiler.json_schema(SCHEMA)
    assert compiler.response_format({"type": "json_object"}) is compiler.json_object()
    assert compiler.response_format(CASES["custom"].document) is compiler.lark(LARK, ties="all")


def test_a_schema_is_compiled_as_it_stands(compiler: llmask.Compiler) -> None:
    is_open = {"type": "object", "properties": {"a": {"const": 1}}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": is_open, "strict": True}}
    assert compiler.response_format(form).accepts('{"a": 1, "b": 2}')


def test_options_are_those_of_json_schema(compiler: llmask.Compiler) -> None:
    form = CASES["chat"].document
    assert compiler.response_format(form, whitespace="compact") is compiler.json_schema(SCHEMA, whitespace="compact")
    grammar = compiler.response_format({"type": "json_object"}, whitespace="compact")
    assert (grammar.accepts('{"a":1}'), grammar.accepts('{"a": 1}')) == (True, False)
    assert compiler.response_format({"type": "text"}, property_order="any", whitespace="compact").accepts("a b")
    for document in (form, {"type": "text"}):
        with pytest.raises(llmask.LlmaskError, match='json_schema has no option "whitespaces"'):
            compiler.response_format(document, whitespaces="compact")
        with pytest.raises(llmask.LlmaskError, match='json_schema has no option "schema"'):
            compiler.response_format(document, schema={})
    with pytest.raises(llmask.GrammarError, match="whitespace"):
        compiler.response_format(form, whitespace=1)


def test_of_terminals_that_end_together_all_are_followed(compiler: llmask.Compiler) -> None:
    """As llguidance does: "if" is a NAME, too."""
    definition = 'start: "if" "!" | NAME "?"\nNAME: /[a-z]+/\n'
    grammar = compiler.response_format({"type": "grammar", "syntax": "lark", "definition": definition})
    assert grammar.accepts("if!")
    assert grammar.accepts("if?")
    assert not compiler.lark(definition).accepts("if?")


ERRORS: list[tuple[dict[str, Any], type[llmask.LlmaskError], str]] = [
    (
        {"type": "json_schema", "json_schema": {"schema": {"items": {"type": "text"}}}},
        llmask.GrammarError,
        "#/json_schema/schema/items/type",
    ),
    (
        {
            "format": {
                "type": "json_schema",
                "schema": {"required": ["a"], "properties": {"a": False}, "type": "object"},
            }
        },
        llmask.UnsatisfiableSchema,
        "#/format/schema",
    ),
    (
        {"type": "json_schema", "schema": {"type": "array", "maxItems": 5, "not": {"uniqueItems": True}}},
        llmask.UnsupportedSchema,
        "#/schema/not",
    ),
    (
        {"type": "custom", "name": "n", "format": {"type": "grammar", "syntax": "lark", "definition": "start: b"}},
        llmask.GrammarError,
        "#/format/definition, line 1, column 8\n    start: b\n           ^",
    ),
    (
        {"type": "grammar", "grammar": {"syntax": "regex", "definition": "(a"}},
        llmask.GrammarError,
        "#/grammar/definition, column 1 of the pattern (a",
    ),
    ({"type": "structural_tag", "format": {"type": "const_strin"}}, llmask.GrammarError, "#/format/type"),
    (
        {"format": {"type": "structural_tag", "format": {"type": "regex", "pattern": "("}}},
        llmask.GrammarError,
        "#/format/format/pattern",
    ),
]


@pytest.mark.parametrize(("document", "kind", "where"), ERRORS)
def test_errors_name_the_place(compiler: llmask.Compiler, document: Any, kind: type, where: str) -> None:
    with pytest.raises(kind) as error:
        compiler.response_format(document)
    assert str(error.value.where).startswith(where)  # type: ignore[attr-defined]


def test_what_is_too_large_meets_the_limits(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, llmask.Limits(max_schema_bytes=50))
    with pytest.raises(llmask.LimitExceeded, match="the pattern has 51 characters"):
        compiler.response_format({"type": "grammar", "syntax": "regex", "definition": "a" * 51})
    with pytest.raises(llmask.LimitExceeded, match="the response format has 51 characters"):
        compiler.response_format(" " * 51)


def test_types_are_for_json_schema(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.GrammarError, match=r"Compiler\.json_schema takes types"):
        compiler.response_format(int)
