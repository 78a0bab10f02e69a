"""A compiled grammar in a notebook shows its warnings, ledger and rules, however large and hostile they are."""

from __future__ import annotations

import pytest

import llmask
from tests.unit.web_page import HOSTILE, texts_of

TOKENIZER = "default_tokenizer"  # of `compiler`


def test_what_a_grammar_shows(compiler: llmask.Compiler) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "mystery": 1}}}
    grammar = compiler.json_schema(schema, unsupported="ignore")
    found = texts_of(grammar._repr_html_())
    assert found[0] == repr(grammar)
    assert repr(grammar).startswith("CompiledGrammar(json_schema, ")
    assert all(text in found for row in grammar.ledger for text in row)
    assert all(text in found for text in grammar.warnings)
    assert str(grammar.rules()) in found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_patterns_stay_texts(compiler: llmask.Compiler, text: str) -> None:
    schema = {"properties": {text: {"const": text, "title": text}}, text: text, "required": [text]}
    for grammar in (
        compiler.json_schema(schema, unsupported="ignore"),
        *(compiler.choice([text, "b"]), compiler.regex("(" + text.replace("(", "\\(").replace(")", "\\)") + ")+")),
    ):
        texts_of(grammar._repr_html_())


def test_large_grammars_are_cut(compiler: llmask.Compiler) -> None:
    many = {f"name{number}": {"type": "array", "items": {"enum": [number, "x"]}} for number in range(1500)}
    chain = ["root ::= r0", *(f'r{n} ::= "a{n}" r{n + 1} | "<"' for n in range(900)), 'r900 ::= "b"']
    for grammar in (
        compiler.json_schema({"type": "object", "properties": many, "additionalProperties": False}),
        compiler.gbnf("\n".join(chain)),
        compiler.choice([f"<choice{number}>" for number in range(20_000)]),
    ):
        shown = grammar._repr_html_()
        texts_of(shown)
        assert len(shown) < 200_000
        assert "\n" not in repr(grammar)


def test_what_no_compiler_made(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_object().union(compiler.choice(["none"]))
    assert repr(grammar).startswith("CompiledGrammar(union, ")
    grammar._loaded.recipe = None
    assert repr(grammar).startswith("CompiledGrammar(rules, ")
    texts_of(grammar._repr_html_())
