"""Grammars in Lark's notation: lark itself says which texts are documents, llguidance which bytes may follow.

Structure is compared on terminals that begin with different letters, where no lexer has a choice, with lark's Earley
parser: its LALR parser settles ambiguities by refusing texts. Lexing is compared with llguidance, which takes the
longest lexeme as llmask does, and all that end together.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiled import CompiledGrammar
from llmask.errors import LlmaskError, TokenRejected
from tests.contract.lark_grammars import GRAMMARS
from tests.reference.definition import read_mask

lark = pytest.importorskip("lark")
EOS = 256
TOKENS = [bytes([byte]) for byte in range(256)] + [b"<eos>"]


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS, special=[EOS]))


def expression(rng: random.Random, names: list[str], has_templates: bool, depth: int = 0) -> str:
    kind = rng.random()
    if depth > 2 or kind < 0.45:
        return rng.choice(names)
    inner = [expression(rng, names, has_templates, depth + 1) for _ in range(2)]
    if kind < 0.6:
        return f"({inner[0]} {inner[1]})"
    if kind < 0.72:
        return f"({inner[0]} | {inner[1]})"
    if kind < 0.78:
        return f"[{inner[0]}]"
    if kind < 0.83 and has_templates:
        return f"two{{{rng.choice(names)}, {rng.choice(names)}}}"
    return f"({inner[0]})" + rng.choice(
        ["*", "+", "?", "{2}", "{1,2}"] if not has_templates else ["*", "+", "?", "~2", "~1..2"]
    )


def body(rng: random.Random, names: list[str], has_templates: bool = True) -> str:
    rows = (
        " ".join(expression(rng, names, has_templates) for _ in range(rng.randint(1, 3)))
        for _ in range(rng.randint(1, 2))
    )
    return " | ".join(rows)


def structured_grammar(rng: random.Random) -> str:
    """Rules over terminals that no text confuses: every letter begins one of them, and ends it."""
    terminals = {"A": '"a"i', "B": "/b/", "C": '"c".."d"', "D": '"<" ("x" | "y")? ">"'}
    rules = ["start", "x", "?y", "_z"][: rng.randint(1, 4)]
    names = [*terminals, '";"', *(rule.strip("?") for rule in rules[1:])]
    lines = [f"{rule}: {body(rng, names)}" for rule in rules]
    lines += [f"{name}: {terminal}" for name, terminal in terminals.items()]
    return "\n".join([*lines, "two{p, q}: p q p", *(['%ignore " "'] if rng.random() < 0.3 else [])]) + "\n"


def is_document(grammar: CompiledGrammar, text: str) -> bool:
    matcher = grammar.matcher()
    try:
        matcher.accept_bytes(text.encode())
    except TokenRejected:
        return False
    return matcher.is_accepting()


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
            assert is_document(grammar, document) == expected, (text, document)
            n_texts += 1
            n_documents += expected
    assert n_documents > n_texts // 20
    assert n_empty < scaled(80) * 2 // 3


@pytest.mark.parametrize("name", GRAMMARS)
def test_grammars_have_the_documents_that_they_should(compiler: llmask.Compiler, name: str) -> None:
    text, documents, others = GRAMMARS[name]
    grammar = compiler.lark(text)
    assert [document for document in documents if not is_document(grammar, document)] == []
    assert [document for document in others if is_document(grammar, document)] == []


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
        assert is_document(grammar, document) == expected, document
        n_documents += expected
    assert n_documents > 50


TERMINALS = (
    *(
        '"a"',
        '"ab"',
        '"b"',
        '","',
        '"a,"',
        '"A"i',
        "/[ab]+/",
        "/a+/",
        "/[ab]*b/",
        "/[a-b]{2}/",
        '"a".."b"',
        "/;+/",
        "/[^a]/",
    ),
    *('/[ab]+/ & ~"ab"', '%regex {"substring_chars": "aba"} ";"'),
)


def lexed_grammar(rng: random.Random) -> str:
    """Terminals that begin alike, are prefixes of others, or end together."""
    names = ["A", "B", "C"][: rng.randint(1, 3)]
    rules = ["start", "x", "y"][: rng.randint(1, 3)]
    symbols = [*names, *rules[1:], *(terminal for terminal in TERMINALS if " " not in terminal)]
    lines = [f"{rule}: {body(rng, symbols, False)}" for rule in rules]
    return "\n".join([*lines, *(f"{name}: {rng.choice(TERMINALS)}" for name in names)]) + "\n"


@pytest.fixture(scope="module")
def llguidance_masks() -> Any:
    llguidance = pytest.importorskip("llguidance")
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

    class Bytes:
        eos_token_id = EOS
        bos_token_id = None
        tokens = TOKENS
        special_token_ids = (EOS,)

        def __call__(self, text: Any) -> list[int]:
            return list(text if isinstance(text, bytes) else text.encode())

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))

    def start(grammar: str) -> Any:
        return llguidance.LLMatcher(tokenizer, grammar, log_level=0)

    def read(matcher: Any) -> set[int]:
        mask = allocate_token_bitmask(1, 257)
        fill_next_token_bitmask(matcher, mask)
        return {token for token in range(257) if mask[0, token // 32] >> (token % 32) & 1}

    return start, read


def test_llguidance_has_the_same_masks(
    compiler: llmask.Compiler, llguidance_masks: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    start, read = llguidance_masks
    n_masks = n_refused = 0
    for _ in range(scaled(60)):
        text = lexed_grammar(rng)
        try:
            grammar = compiler.lark("%llguidance {}\n" + text)
        except LlmaskError:
            continue
        if start(text).is_error():
            n_refused += 1
            continue
        for _ in range(3):
            other, matcher = start(text), grammar.matcher()
            for _ in range(8):
                theirs = read(other)
                if other.is_error() or not theirs:
                    break
                assert read_mask(matcher, 257) == theirs, (text, matcher.text())
                n_masks += 1
                letters = sorted(token for token in theirs if token < 128)
                if not letters:
                    break
                token = rng.choice([token for token in letters if chr(token) in "ab,;A"] or letters)
                matcher.accept_token(token)
                other.consume_token(token)
    assert n_masks > 2 * scaled(60)
    assert n_refused < scaled(60) // 4
