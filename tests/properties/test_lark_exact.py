"""The exact lexer of Lark grammars against Lark's own Earley parser with `lexer="dynamic_complete"`."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import llmask
from tests.reference.definition import all_strings

lark = pytest.importorskip("lark", reason="lark is not installed")

TERMINALS = ('"a"', '"ab"', "/a+/", "/ab?/", "/[ab]b/", "/b/", "/(ab)+/", "/a{2}/")
LETTERS = b"ab"


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes([b"</s>", b"a", b"b", b" "], eos=0))


def random_grammar(rng: random.Random) -> str:
    """One to three rules of rows of names and terminals, some repeated."""
    names = ["start", "one", "two"][: rng.randint(1, 3)]

    def row() -> str:
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = rng.choice(names) if rng.random() < 0.35 else rng.choice(TERMINALS)
            parts.append(part + rng.choice(("", "", "", "?", "+", "*")))
        return " ".join(parts)

    rules = [f"{name}: {row()} | {rng.choice(TERMINALS)} | {row()}" for name in names]
    return "\n".join([*rules, *(['%ignore " "'] if rng.random() < 0.4 else [])])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")  # of greedy lexing, which is there to differ
def test_sentences_are_those_of_larks_complete_parser(
    compiler: llmask.Compiler, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_greedy = 0
    for _ in range(scaled(25)):
        text = random_grammar(rng)
        judge = lark.Lark(text, parser="earley", lexer="dynamic_complete")
        exact, greedy = compiler.lark(text, lexer="exact"), None
        with suppress(llmask.UnsatisfiableSchema):  # greedy lexing takes every sentence
            greedy = compiler.lark(text)
        for string in all_strings(LETTERS + b" " * ("%ignore" in text), 4 if "%ignore" in text else 5):
            try:
                judge.parse(string.decode())
                wanted = True
            except lark.exceptions.UnexpectedInput:
                wanted = False
            assert exact.accepts(string) == wanted, f"{string!r}\n{text}"
            n_greedy += (greedy is not None and greedy.accepts(string)) != wanted
    assert n_greedy > 0


def test_lazy_rules_are_refused(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.GrammarError, match="is lazy: it ends where it can"):
        compiler.lark('%llguidance {}\nstart: text "b"\ntext[lazy]: /[ab]*b/', lexer="exact")


def test_schemas_stand_between_separators(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    inside = '%json {"type": "integer"}'
    grammar = compiler.lark(f'start: "<" value ">" start?\nvalue: {inside}', lexer="exact")
    assert grammar.accepts(b"<12><-3>")
    with pytest.raises(llmask.GrammarError, match="a grammar inside this one has lexemes that may go on"):
        compiler.lark(f"start: value /[0-9]/ start?\nvalue: {inside}", lexer="exact")
