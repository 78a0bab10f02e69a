"""Warnings of grammars are warnings of Python where a person compiles: one a grammar, and nothing for strangers'."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.errors import GrammarNotice

MISSPELT: dict[str, Any] = {"type": "object", "propertys": {"secret": {}}, "requird": ["secret"]}
DEAD_END = 'start: "x" A B | "y"\nA: /a+/\nB: "ab"'
TOLD = "the grammar compiles with {} at #/propertys: grammar.warnings and `llmask check` say what is meant"
ONE = TOLD.format("a warning")
TWO = TOLD.format("2 warnings, the first")


def told(compile: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        compile()
    return found


@pytest.fixture
def compiler(byte_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(byte_tokenizer)


def test_a_misspelled_keyword_is_a_warning_at_the_callers_line(compiler: llmask.Compiler) -> None:
    (warning,) = told(lambda: compiler.json_schema({"propertys": {}}))
    assert (warning.category, str(warning.message), warning.filename) == (GrammarNotice, ONE, __file__)
    assert issubclass(GrammarNotice, llmask.GrammarWarning)


def test_a_grammar_has_one_warning_without_the_schemas_text(compiler: llmask.Compiler) -> None:
    """Python keeps the text of each for ever."""
    (warning,) = told(lambda: compiler.json_schema(MISSPELT))
    assert str(warning.message) == TWO
    assert told(lambda: compiler.json_schema(MISSPELT)), "whoever compiles it next is told, too"


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda c: c.json_schema({"type": "string", "format": "zip"}), " at #/format:"),
        (lambda c: c.json_schema({"$id": "https://a.b/c", "$ref": "#/x", "x": {"format": "z"}}), " at #/x/format:"),
        (lambda c: c.gbnf('root ::= "a"\nitem ::= "b"'), " at line 2, column 1:"),
        (lambda c: c.regex("[[:digit:]]+"), ":"),
        (lambda c: c.tools([{"name": "f", "parameters": {"propertys": {}}}], tool_choice="required"), " at #/"),
        (lambda c: c.response_format({"type": "json_object", "schema": MISSPELT}), "s, the first at #/propertys:"),
        (lambda c: c.load(llmask.Compiler(c.tokenizer, on_warnings=id).json_schema(MISSPELT).save()), "s, the first"),
    ],
    ids=["format", "reference", "gbnf", "regex", "tools", "response format", "saved"],
)
def test_every_kind_of_grammar_is_told(compiler: llmask.Compiler, make: Callable[[Any], Any], where: str) -> None:
    (warning,) = told(lambda: make(compiler))
    assert str(warning.message).partition("warning")[2].startswith(where)


def test_dead_ends_are_told_in_full_and_once_for_what_they_are_part_of(compiler: llmask.Compiler) -> None:
    (warning,) = told(lambda: compiler.lark(DEAD_END))
    assert warning.category is llmask.GrammarWarning
    assert str(warning.message).startswith("no document begins with 'x'")


def test_strangers_grammars_warn_nobody(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, llmask.Limits.for_untrusted())
    grammars: list[llmask.CompiledGrammar] = []
    assert told(lambda: grammars.append(compiler.json_schema(MISSPELT))) == []
    assert len(grammars[0].warnings) == 2
    assert told(lambda: grammars.append(compiler.lark(DEAD_END))) == []
    assert len(grammars[1].warnings) == 1
    assert told(lambda: grammars[1].optional()) == []


def test_a_function_is_called_once_with_each_new_grammar_that_has_warnings(byte_tokenizer: Any) -> None:
    seen: list[llmask.CompiledGrammar] = []
    compiler = llmask.Compiler(byte_tokenizer, on_warnings=seen.append)
    grammar = compiler.json_schema(MISSPELT)
    assert told(lambda: compiler.json_schema(MISSPELT)) == []
    compiler.json_schema({"type": "object"})
    assert seen == [grammar]
    with pytest.raises(llmask.LlmaskError, match="on_warnings is called with a grammar, and str cannot be called"):
        llmask.Compiler(byte_tokenizer, on_warnings="log")  # type: ignore[arg-type]
    assert told(lambda: pickle.loads(pickle.dumps(compiler)).json_schema(MISSPELT))


def test_what_is_an_error_by_the_callers_filter_leaves_the_compiler_as_it_was(compiler: llmask.Compiler) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GrammarNotice):
            compiler.json_schema(MISSPELT)
    assert compiler.json_schema({"type": "null"}).accepts("null")


def test_a_place_is_told_at_a_bounded_length(compiler: llmask.Compiler) -> None:
    (warning,) = told(lambda: compiler.json_schema({"properties": {"a" * 9000: {"format": "zip"}}}))
    assert len(str(warning.message)) < 1200
