"""Sets that runs carry: members in any order, each once; equal sets are one row; work grows with the names only."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import UNBOUNDED
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.definition import read_mask

EOS = 256


def members(
    nodes: Any, names: Sequence[bytes], required: Sequence[int] = (), low: int = 0, high: int = UNBOUNDED
) -> Rules:
    """Names, `?` for any other, each followed by a full stop; as many as `low` to `high` in any order."""
    rules = Rules()
    start = rules.start_state(rules.rule("members"))
    stop = rules.state(rules.start)
    for number, name in enumerate(names):
        rules.scan(start, nodes.literal(name), stop, rules.add_guard(number, high, required))
    rules.scan(start, nodes.literal(b"?"), stop, rules.add_guard(high=high, required=required))
    rules.scan(stop, nodes.literal(b"."), start)
    rules.final(start, rules.check_guard(low, required=required))
    return rules


def names_of(n_names: int) -> list[bytes]:
    return [b"n%03d" % number for number in range(n_names)]


def counted(grammar: Any, lists: str) -> int:
    return int(getattr(grammar.generation.table.view, lists).count)


def test_names_beyond_one_word_are_told_apart(store: Store, rng: random.Random) -> None:
    names = names_of(200)
    grammar = MadeGrammar(store, members(store.nodes, names, range(0, 200, 3)))
    order = rng.sample(range(200), 200)
    matcher = grammar.matcher()
    for place, number in enumerate(order):
        assert matcher.is_accepting() == (set(range(0, 200, 3)) <= set(order[:place]))
        matcher.accept_bytes(names[number] + b".")
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(names[rng.choice(order[: place + 1])])
    assert matcher.is_accepting()


def test_the_last_places_are_kept_for_the_required(store: Store) -> None:
    names = names_of(100)
    matcher = MadeGrammar(store, members(store.nodes, names, [40, 99], high=4)).matcher()
    matcher.accept_bytes(b"n000.n040.?.")
    for other in (b"?", b"n041", b"n040"):
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(other)
    assert matcher.forced_bytes() == b"n099."
    matcher.accept_bytes(b"n099.")
    assert read_mask(matcher, 257) == {EOS}


def test_equal_sets_are_one_row(store: Store, rng: random.Random) -> None:
    names = names_of(30)
    grammar = MadeGrammar(store, members(store.nodes, names))
    grammar.matcher().accept_bytes(b"".join(name + b"." for name in names))
    configurations = set()
    for _ in range(5):
        matcher = grammar.matcher()
        matcher.accept_bytes(b"".join(name + b"." for name in rng.sample(names, 30)))
        rows = counted(grammar, "kernels")
        matcher.accept_bytes(b"?.?.")
        configurations.add(matcher._sequence.configuration)
    assert len(configurations) == 1
    assert counted(grammar, "kernels") == rows


def test_rows_and_sets_grow_with_the_names_that_were_written(store: Store, rng: random.Random) -> None:
    for n_names in (50, 600):
        names = names_of(n_names)
        grammar = MadeGrammar(store, members(store.nodes, names, range(0, n_names, 2)))
        matcher = grammar.matcher()
        for name in rng.sample(names, n_names):
            matcher.accept_bytes(name + b".")
        assert matcher.is_accepting()
        assert counted(grammar, "kernels") == 2 * n_names + 1
        assert counted(grammar, "sets") == n_names + 1


def test_a_capped_set_stops_growing(store: Store) -> None:
    rules = Rules()
    start = rules.start_state(rules.rule("members"))
    rules.scan(start, store.nodes.literal(b"?"), start, rules.add_guard(cap=3))
    rules.scan(start, store.nodes.literal(b"a"), start, rules.add_guard(0))
    rules.final(start, rules.check_guard(low=3))
    grammar = MadeGrammar(store, rules)
    matcher = grammar.matcher()
    matcher.accept_bytes(b"??")
    assert not matcher.is_accepting()
    matcher.accept_bytes(b"?a")
    assert matcher.is_accepting()
    before = counted(grammar, "sets")
    matcher.accept_bytes(b"?" * 100)
    assert counted(grammar, "sets") == before
