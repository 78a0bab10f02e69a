"""Masks that are built by another thread: they are there, they are right, whatever the matcher does meanwhile."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.matching import ahead
from tests.processes import side_by_side


@pytest.fixture
def compiler(tiny_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(tiny_tokenizer, cache_bytes=0)


def wait_until_read(matcher: llmask.Matcher) -> bool:
    """Wait until the mask is there, for ten seconds at most."""
    until = time.monotonic() + 10
    while ahead.is_missing(matcher._sequence) and time.monotonic() < until:
        time.sleep(0.001)
    return not ahead.is_missing(matcher._sequence)


def test_a_mask_is_there_and_right(compiler: llmask.Compiler, tiny_tokenizer: Any) -> None:
    matcher = compiler.json_schema({"properties": {"name": {"enum": ["a", "b"]}}}).matcher()
    matcher.accept_bytes(b'{"na')
    assert llmask.Batch([matcher, None]).read_ahead() == 1
    assert wait_until_read(matcher)
    assert llmask.Batch([matcher]).read_ahead() == 0
    given, expected = (llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size) for _ in range(2))
    matcher.fill_bitmask(given)
    other = llmask.Compiler(tiny_tokenizer).json_schema({"properties": {"name": {"enum": ["a", "b"]}}}).matcher()
    other.accept_bytes(b'{"na')
    other.fill_bitmask(expected)
    assert np.array_equal(given, expected)


def test_a_matcher_may_go_on_meanwhile(compiler: llmask.Compiler) -> None:
    grammar = compiler.regex("(ab|cd)*")
    for _ in range(50):
        matcher = grammar.matcher()
        for data in (b"a", b"b", b"c"):
            matcher.accept_bytes(data)
            llmask.Batch([matcher]).read_ahead()
        matcher.rollback(2)
        assert wait_until_read(matcher) or llmask.Batch([matcher]).read_ahead()


def test_what_is_not_read_ahead(default_tokenizer: Any) -> None:
    matcher = llmask.Compiler(default_tokenizer, canonical=True).choice(["ab", "ac"]).matcher()
    assert llmask.Batch([matcher]).read_ahead() == 0
    for wrong in (1, None, matcher, [1], ["matcher"], [[None]]):
        with pytest.raises(llmask.LlmaskError):
            llmask.Batch(wrong).read_ahead()  # type: ignore[arg-type]


def test_the_thread_lives_on_after_a_limit(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiler.regex("x[a-f]{3}y").matcher()
    run = first._sequence.generation.run

    def refuse(*arguments: Any) -> int:
        raise llmask.LimitExceeded("a limit")

    monkeypatch.setattr(first._sequence.generation, "run", refuse)
    assert llmask.Batch([first]).read_ahead() == 1
    second = compiler.regex("z[a-f]{3}y").matcher()
    assert llmask.Batch([second]).read_ahead() == 1
    assert wait_until_read(second)
    monkeypatch.setattr(first._sequence.generation, "run", run)
    assert ahead.is_missing(first._sequence)


def test_many_threads_ask(compiler: llmask.Compiler) -> None:
    grammars = [compiler.regex(f"[a-z]{{{n},9}}[0-9]+") for n in range(8)]
    matchers: list[Any] = []

    def ask(grammar: Any) -> None:
        matcher = grammar.matcher()
        for data in (b"abc", b"def", b"9"):
            if matcher.validate_tokens([]) == 0 and matcher._sequence.fork().take_bytes(data) == -1:
                matcher.accept_bytes(data)
            llmask.Batch([matcher]).read_ahead()
        matchers.append(matcher)

    side_by_side(ask, grammars)
    assert all(wait_until_read(matcher) for matcher in matchers)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_reads_by_itself(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex("a[b-d]{2}").matcher()
    llmask.Batch([matcher]).read_ahead()
    child = os.fork()
    if child == 0:
        other = compiler.regex("q[b-d]{2}").matcher()
        is_read = llmask.Batch([other]).read_ahead() == 1 and wait_until_read(other)
        os._exit(0 if is_read else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
