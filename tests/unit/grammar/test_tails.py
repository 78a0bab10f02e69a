"""Tail calls become loops: the same sentences and masks, and long lists in few rows."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.debug import n_rows
from llmask.grammar import tails
from llmask.grammar.kinds import CALL, EDGE_FIELDS
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network, chain, closure, components, join_tails
from llmask.store.store import Store
from llmask.work import metered
from tests.exhaustive.grammars import Builder, hard_worlds, one_rule_worlds, random_world
from tests.exhaustive.test_grammars import language
from tests.reference.regex_nodes import RegexNodes


def n_calls(rules: Rules) -> int:
    return sum(rules.edges[at + 1] == CALL for at in range(0, len(rules.edges), EDGE_FIELDS))


def same(world: Any) -> bool:
    """Compare the language of a world with joined tails; whether anything was joined."""
    joined = world._replace(rules=join_tails(world.rules))
    assert language(joined, 4) == language(world, 4), world.name
    return joined.rules is not world.rules


def test_named_grammars_derive_the_same() -> None:
    assert sum(same(world) for world in hard_worlds(RegexNodes(), False)) >= 5


def test_grammars_of_one_rule_derive_the_same() -> None:
    assert sum(same(world) for world in one_rule_worlds(RegexNodes(), 2)) >= 5


@pytest.mark.parametrize("with_guards", [False, True])
def test_random_grammars_derive_the_same(rng: random.Random, costly: Callable[[int], int], with_guards: bool) -> None:
    found = [same(random_world(RegexNodes(), rng, with_guards)) for _ in range(costly(80))]
    assert with_guards or sum(found) > len(found) / 50


def test_rules_that_count_stay_calls() -> None:
    build = Builder(RegexNodes())
    rules = build.rules
    rule = rules.rule("list")
    start, more, end = rules.start_state(rule), rules.state(rule), rules.state(rule)
    rules.scan(start, build.word(b"a"), more, rules.guard(high=2, add=1, cap=3))
    rules.call(more, rule, end)
    rules.final(end)
    rules.final(more)
    assert join_tails(rules) is rules


def test_priorities_are_kept() -> None:
    build = Builder(RegexNodes())
    rules = build.rules
    rule = rules.rule("list")
    start, more, end = rules.start_state(rule), rules.state(rule), rules.state(rule)
    rules.scan(start, build.word(b"a"), more, priority=3, is_bare=True)
    rules.call(more, rule, end)
    rules.final(end)
    rules.final(more)
    joined = join_tails(rules)
    assert n_calls(joined) == 0
    edges = [edge for edges in Network(joined).edges for edge in edges]
    assert [(edge.priority, edge.is_bare) for edge in edges if edge.symbol == build.word(b"a")] == [(3, 1)]


CIRCLES = {
    "a rule": {"S": "a I b S | a I b", "I": "| a I b"},
    "two rules": {"S": "a T | c", "T": "b S | b I", "I": "a I b |"},
    "behind unit rules": {"S": "T", "T": "a I b U | b", "U": "S", "I": "a I b |"},
}


@pytest.mark.parametrize("name", CIRCLES)
def test_ten_thousand_elements_take_few_rows(byte_tokenizer: Any, name: str) -> None:
    store = Store(byte_tokenizer, llmask.Limits())
    rules = join_tails(Builder(store.nodes).bnf(**CIRCLES[name]).rules)
    matcher = MadeGrammar(store, rules).matcher()
    matcher.accept_bytes(b"ab" * 10_000)
    assert n_rows(matcher) < 30


def test_all_circles_together_are_copied_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 rules in 200 circles, each within the bound, took more than a minute."""
    build = Builder(RegexNodes())
    rules = build.rules
    letter = build.nodes.literal(b"a")
    circles = [[rules.rule(f"r{n}{at}") for at in range(3)] for n in range(10)]
    for members in circles:
        for rule, following in zip(members, [*members[1:], members[0]], strict=True):
            start, middle, last = rules.start_state(rule), rules.state(rule), rules.state(rule)
            rules.scan(start, letter, middle)
            rules.call(middle, following, last)
            rules.final(middle)
            rules.final(last)
    rules.start = circles[0][0]
    assert n_calls(join_tails(rules)) == 0
    monkeypatch.setattr(tails, "MOST_STATES", 3 * 9 * 4)
    assert n_calls(join_tails(rules)) == 3 * 6


def test_a_circle_of_very_many_rules_stays_calls(tiny_tokenizer: Any) -> None:
    # each rule of it gets a copy of all others: 128 took 0.9 s, nothing of it counted
    n_rules = 128
    rules = "".join(f'r{n}: "a{n}" r{(n + 1) % n_rules} | "b"\n' for n in range(n_rules))
    grammar = llmask.Compiler(tiny_tokenizer).lark(f"start: r0\n{rules}")
    assert len(grammar._loaded.own_rules.state_rules) < 10_000


def test_edges_beyond_the_first_thousands_are_counted() -> None:
    rules = Rules()
    rule = rules.rule("start")
    for _ in range(tails.FREE_EDGES + 100):
        rules.skip(rules.start_state(rule), rules.start_state(rule))
    with metered(1000, "max_compile_work") as meter:
        Network(rules)
    assert meter.spent == 100 * tails.EDGE_WORK


def reachable(successors: list[list[int]], vertex: int) -> set[int]:
    found, waiting = {vertex}, [vertex]
    while waiting:
        new = set(successors[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def test_random_graphs_agree_with_reachability(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(300)):
        n = rng.randint(1, 9)
        successors = [rng.choices(range(n), k=rng.choice((0, 1, 1, 2, 3))) for _ in range(n)]
        reached = [reachable(successors, vertex) for vertex in range(n)]
        found = components(successors)
        assert sorted(vertex for members in found for vertex in members) == list(range(n))
        place = {vertex: number for number, members in enumerate(found) for vertex in members}
        for one in range(n):
            for other in range(n):
                assert (place[one] == place[other]) == (one in reached[other] and other in reached[one])
                assert other not in reached[one] or place[other] <= place[one]
        bits = closure(successors, [1 << vertex for vertex in range(n)])
        assert bits == [sum(1 << vertex for vertex in reached[one]) for one in range(n)]


def test_long_chains_are_no_recursion() -> None:
    n = 50_000
    found = components([[vertex + 1] for vertex in range(n)] + [[]])
    assert len(found) == n + 1
    assert found[0] == [n]


GRAMMARS = {
    "right recursion": ({"S": "a S | a"}, "S"),
    "left recursion": ({"S": "S a | a"}, ""),
    "centre recursion": ({"S": "a S b | c"}, ""),
    "behind it something that may be empty": ({"S": "a S E | b", "E": "| c"}, "S"),
    "behind it nothing by another name": ({"S": "a S E | b", "E": "F F", "F": "|"}, "S"),
    "two rules": ({"S": "a T E | c", "T": "b S E | b", "E": "| c"}, "S T"),
    "by way of a rule that ends otherwise": ({"S": "a T b | c", "T": "a S | a"}, ""),
    "a circle beside the start": ({"S": "T c", "T": "a U", "U": "T | b"}, "T U"),
    "empty before and behind": ({"S": "E S E | b", "E": "| c"}, "S"),
    "no recursion": ({"S": "A A", "A": "a | "}, ""),
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_rules_in_circles_are_noted(name: str) -> None:
    productions, wanted = GRAMMARS[name]
    rules = chain(Builder(RegexNodes()).bnf(**productions).rules)
    assert [rules.names[rule] for rule in rules.chained] == wanted.split()


def test_guards_are_not_looked_at() -> None:
    rules = Rules()
    rule = rules.rule("list")
    start, end = rules.start_state(rule), rules.state(rule)
    rules.call(start, rule, end, rules.guard(high=2, add=1, cap=3))
    rules.final(end, rules.guard(low=1))
    assert list(chain(rules).chained) == [rule]


def test_states_that_are_written_late_do_not_count() -> None:
    rules = Rules()
    rule = rules.rule("list")
    rules.skip_late(rules.start_state(rule), 0)
    assert not chain(rules).chained
