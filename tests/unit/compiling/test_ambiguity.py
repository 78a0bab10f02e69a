"""Sentences with two derivations: what is found is ambiguous, and plain grammars are left alone."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler
from llmask.compiling import ambiguity


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> Compiler:
    return Compiler(byte_tokenizer)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('root ::= root "+" root | "1"', b"1+1+1"),
        ('root ::= "a" one | "a" two\none ::= "b"\ntwo ::= "b"', b"ab"),
        ('root ::= if\nif ::= "i" if | "i" if "e" if | "x"', b"iixex"),
        ('root ::= one "bc" | "a" two\none ::= "a" | "ab"\ntwo ::= "bc"', b"abc"),
        ('root ::= root root | "x"', b"xxx"),
    ],
)
def test_an_ambiguous_grammar_is_shown_by_a_sentence(compiler: Compiler, text: str, sentence: bytes) -> None:
    assert compiler.gbnf(text).ambiguity() == sentence


@pytest.mark.parametrize(
    "text",
    [
        'root ::= root "+" one | one\none ::= "1" | "(" root ")"',
        'root ::= "a" root "b" | ""',
        'root ::= ("a" | "b" "c"?)*',
        'root ::= "a"{2,3} "b"',
        'root ::= "yes" | "no"',
    ],
)
def test_in_a_plain_grammar_nothing_is_found(compiler: Compiler, text: str) -> None:
    assert compiler.gbnf(text).ambiguity() is None


def test_lexemes_of_greedy_grammars_stay_as_they_are(compiler: Compiler) -> None:
    text = 'start: A B\nA: "a" | "ab"\nB: "bc" | "c"'
    assert compiler.lark(text).ambiguity() is None  # A takes as much as it can
    assert compiler.lark('start: a | b\na: "x"\nb: "x"').ambiguity() == b"x"


def test_schemas_and_patterns_are_asked_too(compiler: Compiler) -> None:
    assert compiler.json_object().ambiguity() is None
    assert compiler.regex("(a|aa)*").ambiguity() is None  # one lexeme
    both = compiler.json_schema({"type": "null"}).union(compiler.json_schema({"type": ["null", "string"]}))
    assert both.ambiguity() == b"null"


def test_the_search_is_bounded(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ambiguity, "MOST_STEPS", 3)
    assert compiler.gbnf('root ::= root "+" root | "1"').ambiguity() is None
