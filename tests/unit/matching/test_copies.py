"""Copies of matchers, grammars and compilers."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest

import llmask

TOKENIZER = "tiny_tokenizer"  # of `compiler`


def matchers(compiler: llmask.Compiler, default_tokenizer: Any) -> dict[str, Any]:
    limited = compiler.lark('start: thought "\\n"\nthought[max_tokens=3]: /.*/')
    canonical = llmask.Compiler(default_tokenizer, canonical=True)
    return {
        "plain": compiler.regex("[ -~]*").matcher(),
        "prefixed": compiler.regex("[ -~]*").matcher(b"he sa"),
        "closing": limited.matcher(),
        "canonical": canonical.regex("[ -~]*").matcher(),
    }


@pytest.mark.parametrize("kind", ["plain", "prefixed", "closing", "canonical"])
@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_matcher_is_a_fork(compiler: Any, default_tokenizer: Any, kind: str, make_copy: Any) -> None:
    # a shallow copy shared the history: a token that the one accepted was undone by a rollback of the other
    matcher = matchers(compiler, default_tokenizer)[kind]
    tokenizer = matcher.grammar.tokenizer
    first, second = tokenizer.encode("he said")[:2]
    matcher.accept_token(first)
    twin = make_copy(matcher)
    assert type(twin) is type(matcher)
    assert twin.grammar is matcher.grammar
    twin.accept_token(second)
    assert (matcher.tokens, twin.tokens) == ([first], [first, second])
    assert twin.text() == matcher.text() + tokenizer.token_bytes(second)
    twin.reset()
    assert matcher.tokens == [first]
    masks = [llmask.allocate_bitmask(1, tokenizer.vocab_size) for _ in range(2)]
    again = make_copy(matcher)
    for one, mask in zip((matcher, again), masks, strict=True):
        one.fill_bitmask(mask)
    assert (masks[0] == masks[1]).all()


def test_what_holds_a_matcher_can_be_copied_whole(compiler: llmask.Compiler) -> None:
    @dataclasses.dataclass
    class Request:
        compiler: Any
        grammar: Any
        matcher: Any
        again: Any

    grammar = compiler.regex("a+")
    matcher = grammar.matcher()
    request = Request(compiler, grammar, matcher, matcher)
    twin = copy.deepcopy(request)
    assert (twin.compiler, twin.grammar) == (compiler, grammar)
    assert twin.matcher is twin.again
    twin.matcher.accept_bytes(b"aa")
    assert matcher.text() == b""
    assert copy.copy(grammar) is grammar
    assert copy.copy(compiler) is compiler
