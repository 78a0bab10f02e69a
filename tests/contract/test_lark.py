"""Grammars in Lark's notation: lark itself says which texts are documents.

Structure is compared on terminals that begin with different letters, where no lexer has a choice, with lark's Earley
parser: its LALR parser settles ambiguities by refusing texts. Whole grammars are compared with the LALR parser and its
contextual lexer.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import pytest

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from tests.contract.lark_grammars import GRAMMARS
from tests.generators.lark_grammars import structured_grammar
from tests.reference.definition import read_mask

lark = pytest.importorskip("lark")
EOS = 256
TOKENS = [bytes([byte]) for byte in range(256)] + [b"<eos>"]


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=[EOS]))


def walked(grammar: CompiledGrammar, rng: random.Random, most: int) -> str:
    """Some letters, each of which may follow."""
    matcher = grammar.matcher()
    text = ""
    for _ in range(rng.randint(0, most)):
        allowed = sorted(token for token in read_mask(matcher, 257) if token < 128)
        if not allowed:
            break
        text += chr(rng.choice(allowed))
        matcher.accept_bytes(text[-1].encode())
    return text


@pytest.mark.long
def test_lark_has_the_same_documents(
    compiler: llmask.Compiler, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_texts = n_documents = n_empty = 0
    for _ in range(scaled(80)):
        text = structured_grammar(rng)
        try:
            judge = lark.Lark(text, parser="earley", lexer="dynamic")
            grammar = compiler.lark(text)
        except (llmask.UnsatisfiableSchema, lark.exceptions.GrammarError):  # of lark: two options are the same
            n_empty += 1
            continue
        texts = {walked(grammar, rng, 7) for _ in range(12)}
        texts |= {"".join(rng.choice("aAbcd<x>; ") for _ in range(rng.randint(0, 6))) for _ in range(12)}
        for document in sorted(texts):
            try:
                judge.parse(document)
                expected = True
            except lark.exceptions.LarkError:
                expected = False
            assert grammar.accepts(document) == expected, (text, document)
            n_texts += 1
            n_documents += expected
    assert n_documents > n_texts // 20
    assert n_empty < scaled(80) * 2 // 3


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars_have_the_documents_that_they_should(compiler: llmask.Compiler, name: str) -> None:
    text, documents, others = GRAMMARS[name]
    grammar = compiler.lark(text)
    assert [document for document in documents if not grammar.accepts(document)] == []
    assert [document for document in others if grammar.accepts(document)] == []


@pytest.mark.parametrize("name", ["arithmetic", "json"])
def test_lark_agrees_on_whole_grammars(compiler: llmask.Compiler, name: str, rng: random.Random) -> None:
    text, documents, others = GRAMMARS[name]
    judge = lark.Lark(text, parser="lalr", lexer="contextual")
    grammar = compiler.lark(text)
    n_documents = 0
    for _ in range(300):
        characters = list(rng.choice(documents + others))
        for _ in range(rng.randint(0, 2)):
            at = rng.randint(0, len(characters))
            characters[at : at + rng.randint(0, 1)] = rng.choice(["", *'0a1.e-"[]{}(), +*'])
        document = "".join(characters)
        try:
            judge.parse(document)
            expected = True
        except lark.exceptions.LarkError:
            expected = False
        assert grammar.accepts(document) == expected, document
        n_documents += expected
    assert n_documents > 50


IGNORED = [
    'start: "a" "b"\n%ignore /#[^\\n]*/\n',
    'start: "a" "b"\n%ignore /#[^\\n]*/\n%ignore /\\n/\n',
    'start: ("a" | /[bx]+/)+ ";"?\n%ignore /#.?.?/\n%ignore / +/\n',
    'start: "a" item*\nitem: "b" | ";" item\n%ignore /#[ab]?/\n',
    'start: "a" "x"\n%ignore /#(x#)*/\n%ignore / +/\n',
    'start: "a"+ "b"\n%ignore /#[ab]*;/\n%ignore /;#*/\n',
]


@pytest.mark.parametrize("text", IGNORED)
def test_in_exact_grammars_what_is_ignored_is_as_long_as_in_lark(
    compiler: llmask.Compiler, text: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    # "#xab" was taken, though the comment goes on to the end of the line
    judge = lark.Lark(text, parser="earley", lexer="dynamic_complete")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", llmask.GrammarWarning)
        grammar = compiler.lark(text, lexer="exact")
        both = grammar.union(compiler.choice(["-"]))
    n_documents = 0
    for document in [
        "ab",
        "ax",
        "#xab",
        "a#x\nb",
        *("".join(rng.choices("aab##x ;\n", k=6)) for _ in range(scaled(300))),
    ]:
        try:
            judge.parse(document)
            is_document = True
        except lark.exceptions.LarkError:
            is_document = False
        n_documents += is_document
        assert grammar.accepts(document) == both.accepts(document) == is_document, document
    assert n_documents > 0


def test_a_comment_that_nothing_ends_is_told_of_exact_grammars(compiler: llmask.Compiler) -> None:
    with pytest.warns(llmask.GrammarWarning, match="no document begins with '#'") as told:
        compiler.lark(IGNORED[0], lexer="exact")
    assert 'lexer="exact"' not in str(told[0].message)
