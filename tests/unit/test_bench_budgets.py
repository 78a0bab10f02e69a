"""The walks of `python -m bench.budgets`, a few of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import llmask
from bench import budgets


def test_walks_end_within_their_budgets(costly: Callable[[int], int]) -> None:
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    counts, faults = budgets.check(compiler, costly(8), costly(16), seed=3)
    assert faults == []
    assert counts["walks"] == costly(16)
    assert counts["grammars"] == costly(8)


def test_the_subjects_are_of_every_kind() -> None:
    names = [name for name, _ in budgets.subjects(llmask.Compiler(llmask.Tokenizer.default()), 100, 1)]
    assert len(set(names)) == 100
    for kind in ("regex-date", "choice-prefixes", "recursive-tree", "gbnf c", "lark json", "random 99"):
        assert kind in names


def test_a_walk_that_breaks_its_budget_is_a_fault() -> None:
    """Without a budget to keep, walks are longer: the check can fail."""
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    chooser = budgets.Chooser(compiler.tokenizer)
    grammar = compiler.regex("[a-z ]*")
    lengths = [budgets.walk(grammar, 5, chooser, random.Random(seed), False).n_tokens for seed in range(5)]
    assert max(lengths) <= 5
    free = [budgets.walk(grammar, 10_000, chooser, random.Random(seed), True).n_tokens for seed in range(5)]
    assert max(free) > 5


def test_costs_are_measured() -> None:
    table = budgets.measure(llmask.Compiler(llmask.Tokenizer.default()), 2, 1, 1)
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == [
        "first time, within 200",
        "no budget",
        "100,000 tokens left",
        "within 200 again",
        "three tokens to spare",
    ]
