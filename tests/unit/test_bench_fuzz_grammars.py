"""Damaged grammars: the same case is the same grammar, and whatever is no grammar and no refusal is a fault."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from bench import fuzz_grammars
from bench.fuzz_grammars import measure, try_mutation
from bench.mutations import DRAW, SEEDS, Case, swap_elements


@pytest.mark.parametrize("language", DRAW)
def test_every_damaged_grammar_is_one_or_is_refused(
    default_tokenizer: llmask.Tokenizer, costly: Callable[[int], int], language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(default_tokenizer, language, costly(12), seed=7), capsys.readouterr().out


@pytest.mark.parametrize("language", DRAW)
def test_a_case_is_drawn_again(language: str) -> None:
    texts = [[DRAW[language](random.Random(f"{language} {n}")).text for n in range(20)] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 10


def test_swapped_elements_are_of_the_same_kind(rng: random.Random) -> None:
    texts = {swap_elements(rng, 'root ::= "a" [b]', 1) for _ in range(300)}
    assert 'root ::= "é" [b]' in texts
    assert 'root ::= "a" [^a]' in texts
    assert all("::=" in text and text.startswith("root") for text in texts)
    assert any(swap_elements(rng, text, 3) != text for text in SEEDS["lark"])


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (lambda compiler: compiler.gbnf('root ::= "a"'), "compiled"),
        (lambda compiler: compiler.gbnf("root"), "refused"),
        (lambda compiler: compiler.nothing(), "FAULT: AttributeError"),
        (lambda compiler: [None for _ in iter(int, 1)], "FAULT: Hanging"),
    ],
)
def test_what_became_of_a_grammar(
    tiny_tokenizer: llmask.Tokenizer, monkeypatch: pytest.MonkeyPatch, made: Any, outcome: str
) -> None:
    monkeypatch.setitem(DRAW, "gbnf", lambda rng: Case("text", made))
    monkeypatch.setattr(fuzz_grammars, "HANGING_SECONDS", 0.2)
    before = signal.signal(signal.SIGPROF, fuzz_grammars.interrupt)
    try:
        bitmask = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
        tried = try_mutation(llmask.Compiler(tiny_tokenizer), bitmask, "gbnf", "gbnf 1")
    finally:
        signal.signal(signal.SIGPROF, before)
    assert tried.outcome.startswith(outcome)


def test_what_is_slow_in_every_trial_is_a_fault(
    tiny_tokenizer: llmask.Tokenizer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz_grammars, "MAX_SECONDS", -1.0)
    assert not measure(tiny_tokenizer, "gbnf", 1, seed=1)
    assert "FAULT: slow" in capsys.readouterr().out


def test_memory_beyond_the_allowance_is_a_fault_of_the_case_that_took_it(
    tiny_tokenizer: llmask.Tokenizer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz_grammars, "EXTRA_BYTES", -1)
    assert not measure(tiny_tokenizer, "gbnf", 1, seed=1)
    assert "gbnf 1, FAULT: " in capsys.readouterr().out
    monkeypatch.setattr(fuzz_grammars, "EXTRA_BYTES", 2**40)
    assert measure(tiny_tokenizer, "gbnf", 1, seed=1)
