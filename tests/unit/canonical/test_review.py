"""What is taken out of masks, and that it is remembered."""

from __future__ import annotations

import pytest

import llmask
from llmask.canonical import review
from llmask.canonical.matcher import CanonicalMatcher
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.default(), canonical=True)


def texts(matcher: llmask.Matcher) -> set[bytes]:
    tokenizer = matcher.grammar.tokenizer
    return {tokenizer.token_bytes(token) for token in read_mask(matcher, tokenizer.vocab_size)}


def test_a_beginning_that_cannot_go_on_is_refused(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex('name"').matcher()
    assert texts(matcher) == {b"name"}


def test_filters_are_remembered(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["one hundred", "two"]).matcher()
    assert isinstance(matcher, CanonicalMatcher)
    read_mask(matcher, compiler.tokenizer.vocab_size)
    known = matcher._filter
    assert known is not None
    other = matcher.grammar.matcher()
    assert isinstance(other, CanonicalMatcher)
    assert other._filter is known


def test_searches_that_are_given_up_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "BUDGET", 0)
    monkeypatch.setattr(review, "INSIDE_BUDGET", 0)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    grammar = compiler.choice(["name"])
    matcher = grammar.matcher()
    assert {b"n", b"na", b"name"} <= texts(matcher)
    assert grammar.n_cut == 1
    assert compiler.choice(["1"]).n_cut == 0


def test_a_free_string_allows_what_can_go_on(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.json_schema({"type": "string"}).matcher()
    matcher.accept_tokens(tok.encode('"'))
    assert tok.encode("abc")[0] in read_mask(matcher, tok.vocab_size)
    matcher.accept_tokens(tok.encode("  "))
    found = texts(matcher)
    assert b"  " not in found
    assert b" a" in found
    assert b"a" not in found
