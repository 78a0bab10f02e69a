"""Diagrams of random conditions hold for the sets for which the conditions do, and count what is to come."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from math import inf

import pytest

from llmask.errors import LimitExceeded
from llmask.grammar.diagrams import FALSE, NODE_FIELDS, TRUE, Condition, Diagrams, condition_at
from llmask.grammar.rules import Rules
from llmask.work import metered

Holds = Callable[[frozenset[int]], bool]


def random_condition(diagrams: Diagrams, rng: random.Random, n: int, depth: int) -> tuple[int, Holds]:
    """A node, and the same as a function of a set of members."""
    kind = rng.randint(-2, 5) if depth else rng.randint(-2, 1)
    if kind < 2:
        some = rng.choices(range(n), k=rng.randint(0, n))
        if kind == -2:
            low, high = rng.randint(0, 3), rng.choice((None, 0, 1, 2, 4))
            node = diagrams.between(some, low, high)
            return node, lambda members: low <= len(members.intersection(some)) <= (n if high is None else high)
        if kind == -1:
            order = sorted(set(some))
            turns = [{*order[:n_first]} for n_first in range(n + 1)]
            return diagrams.in_turn(some), lambda members: members.intersection(some) in turns
        if kind == 0:
            return diagrams.present(some), lambda members: not members.isdisjoint(some)
        return diagrams.absent(some), lambda members: members.isdisjoint(some)
    inside = [random_condition(diagrams, rng, n, depth - 1) for _ in range(rng.randint(0 if kind < 5 else 1, 4))]
    nodes, holds = [node for node, _ in inside], [held for _, held in inside]
    if kind == 2:
        return diagrams.all_of(nodes), lambda members: all(held(members) for held in holds)
    if kind == 3:
        return diagrams.any_of(nodes), lambda members: any(held(members) for held in holds)
    if kind == 4:
        return diagrams.exactly_one(nodes), lambda members: sum(held(members) for held in holds) == 1
    return diagrams.negated(nodes[0]), lambda members: not holds[0](members)


def test_random_conditions(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_ends = 0
    for _ in range(scaled(600)):
        diagrams, n = Diagrams(), rng.randint(1, 6)
        node, holds = random_condition(diagrams, rng, n, 3)
        numbers = rng.sample(range(50), n)  # the diagram asks for them in this order
        sets = [frozenset(at for at in range(n) if bits >> at & 1) for bits in range(1 << n)]
        if node == FALSE:
            n_ends += 1
            assert not any(map(holds, sets))
            continue
        condition = diagrams.condition(node, numbers)
        passed = rng.choice((0, *numbers))
        for members in sets:
            named = {numbers[at] for at in members}
            assert (condition.n_to_come(named) == 0) == holds(members)
            still = [at for at in range(n) if at not in members and numbers[at] >= passed]
            sizes = [k for k in range(n + 1) for come in combinations(still, k) if holds(members | {*come})]
            assert condition.n_to_come(named, passed) == min(sizes, default=inf)
            assert condition.n_to_come(named, passed, one_more=True) == min(filter(None, sizes), default=inf)
    assert n_ends < scaled(600) / 2


def test_equal_conditions_are_one_node() -> None:
    diagrams = Diagrams()
    a, b, c = (diagrams.present([member]) for member in range(3))
    assert diagrams.both(a, diagrams.either(b, c)) == diagrams.either(diagrams.both(c, a), diagrams.both(a, b))
    assert diagrams.negated(diagrams.all_of([a, b])) == diagrams.any_of(map(diagrams.negated, (b, a)))
    assert diagrams.either(a, diagrams.negated(a)) == TRUE
    assert diagrams.exactly_one([a, a]) == FALSE


def test_many_pairs_stay_small_and_what_does_not_meets_a_limit() -> None:
    diagrams = Diagrams()
    pairs = [diagrams.negated(diagrams.both(*map(diagrams.present, ([n], [n + 1])))) for n in range(0, 2000, 2)]
    condition = diagrams.condition(diagrams.all_of(pairs), range(2000))
    assert len(condition.nodes) < 3 * 2000 * NODE_FIELDS
    far = [diagrams.negated(diagrams.both(*map(diagrams.present, ([n], [n + 100])))) for n in range(100)]
    with pytest.raises(LimitExceeded), metered(100_000, "max_compile_work"):
        diagrams.all_of(far)


def test_conditions_stand_among_what_is_required() -> None:
    diagrams, rules = Diagrams(), Rules()
    condition = diagrams.condition(diagrams.present([0, 1]), (5, 70))
    assert condition.nodes[-NODE_FIELDS] == 5
    assert rules.check_guard(required=condition) == rules.check_guard(required=Condition(condition.nodes))
    assert rules.check_guard(required=[1, 40]) != rules.check_guard(required=condition)
    places = [rules.guards[at + 3] for at in range(5, len(rules.guards), 5)]
    assert [condition_at(rules.required, place) for place in places] == [condition, None]
    assert rules.members(places[0]) == []
    assert rules.asked(places[0]) == condition
    assert rules.asked(places[1]) == [1, 40]
    assert str(condition) == "condition on 5 70"
