"""Small grammars: named ones that are known to be hard, all of one rule to a size, and random ones with several rules.

Lexemes are chosen so that greedy lexing is exact: none can be extended by the first byte of another one (single
letters, or words of a prefix code), and white space starts with a byte that no lexeme has.

In: numbers. Out: `Rules` and the strings of every lexeme. Cost: none to speak of.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from llmask.grammar.diagrams import Diagrams
from llmask.grammar.kinds import ANOTHER, UNBOUNDED
from llmask.grammar.rules import Rules

WORDS = (b"a", b"b", b"c")
PREFIX_CODE = (b"a", b"ba", b"bb", b"cab")
SPACES = (b" ", b"  ")


class World(NamedTuple):
    """A grammar and the strings of its lexemes, by node id."""

    name: str
    rules: Rules
    lexemes: dict[int, list[bytes]]


class Builder:
    """Writes `Rules` over words, with a lexeme node for each."""

    def __init__(self, nodes: Any, with_spaces: bool = False) -> None:
        self.nodes = nodes
        self.rules = Rules()
        self.lexemes: dict[int, list[bytes]] = {}
        if with_spaces:
            self.rules.ignored = nodes.repeat(nodes.literal(b" "), 1, 2)
            self.lexemes[self.rules.ignored] = list(SPACES)

    def word(self, *words: bytes) -> int:
        """The lexeme that is one of `words`."""
        node = self.nodes.union([self.nodes.literal(word) for word in words])
        self.lexemes[node] = list(words)
        return int(node)

    def bnf(self, **productions: str) -> Builder:
        """Rules from texts such as S="a S b | "; the first is the start, capitals are rules, words are lexemes."""
        rules = {name: self.rules.rule(name) for name in productions}
        for name, text in productions.items():
            end = self.rules.state(rules[name])
            self.rules.final(end)
            for alternative in text.split("|"):
                state = self.rules.start_state(rules[name])
                symbols = alternative.split()
                for number, symbol in enumerate(symbols):
                    target = end if number + 1 == len(symbols) else self.rules.state(rules[name])
                    if symbol in rules:
                        self.rules.call(state, rules[symbol], target)
                    else:
                        self.rules.scan(state, self.word(symbol.encode()), target)
                    state = target
                if not symbols:
                    self.rules.skip(state, end)
        return self

    def world(self, name: str) -> World:
        return World(name, self.rules, self.lexemes)


def with_ends(worlds: Iterable[World], repeats: bool) -> Iterator[World]:
    """The same with white space at the ends of documents, once or as often as one likes."""
    for world in worlds:
        world.rules.ignored_at_ends, world.rules.ignored_repeats = True, repeats
        yield world


HARD_GRAMMARS: dict[str, dict[str, str]] = {
    "left recursion": {"S": "S a | b"},
    "right recursion": {"S": "a S | b"},
    "centre recursion": {"S": "a S b | c"},
    "nullable centre recursion": {"S": "a S b |"},
    "palindromes": {"S": "a S a | b S b | a | b |"},
    "ambiguous twice": {"S": "S S | a"},
    "ambiguous and nullable": {"S": "S S | a |"},
    "cycle": {"S": "A | a", "A": "S | b"},
    "cycle through nothing": {"S": "A S B | a", "A": "| b", "B": "| A A"},
    "hidden left recursion": {"S": "E S a | b", "E": "| c"},
    "hidden right recursion": {"S": "a S E | b", "E": "| c"},
    "only the empty sentence": {"S": "A A", "A": "|"},
    "unproductive branch": {"S": "a B | a b", "B": "b B"},
    "unproductive start of a branch": {"S": "B a | b", "B": "B c"},
    "nullable before all": {"S": "A B C", "A": "a |", "B": "b |", "C": "c |"},
    "nullable chain": {"S": "A A A b", "A": "B", "B": "a |"},
    "right recursion through rules": {"S": "a A", "A": "b B | b", "B": "S"},
    "right recursion under ambiguity": {"S": "A | B", "A": "a A | b", "B": "a B | c"},
    "leo waits at two places": {"S": "a S | A", "A": "a A | b"},
    "dangling else": {"S": "a S | a S b S | c"},
    "counted by nesting": {"S": "a S b b | c"},
    "deep unit chain": {"S": "A", "A": "B", "B": "C", "C": "S a | b"},
    "prefix of one another": {"S": "a b c | a b | a"},
    "nullable tail": {"S": "a A", "A": "B B", "B": "b |"},
    "same call in two places": {"S": "A b A | A c", "A": "a A |"},
    "empty list or items": {"S": "a L b", "L": "| I", "I": "c | I a c"},
}


def hard_worlds(nodes: Any, with_spaces: bool) -> Iterator[World]:
    """The named grammars above, written as networks with one path for each alternative."""
    for name, productions in HARD_GRAMMARS.items():
        yield Builder(nodes, with_spaces).bnf(**productions).world(name)


def guarded_worlds(nodes: Any, with_spaces: bool) -> Iterator[World]:
    """Loops that count: `low` to `high` items, lists in lists, empty items, counts that the end asks for."""
    for low, high in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 3), (2, 2), (2, 4), (3, None)):
        for separator in ("", "b"):
            yield _list_world(nodes, with_spaces, low, high, separator)
    yield _nested_lists(nodes, with_spaces)
    yield _count_over_nullable(nodes, with_spaces)
    yield _at_least_one_of_three(nodes, with_spaces)


def set_worlds(nodes: Any, with_spaces: bool) -> Iterator[World]:
    """Words in any order, each once: some required, so many at least and at most, others beside them."""
    for n_names in (1, 2, 3):
        for with_others in (False, True):
            most = UNBOUNDED if with_others else n_names
            for required in ((), (0,), (n_names - 1,), range(n_names)):
                bounds = {(0, UNBOUNDED), (1, UNBOUNDED), (len(required), max(1, len(required))), (n_names, n_names)}
                for low, high in sorted(bounds):
                    if low <= most:
                        yield _any_order(nodes, with_spaces, n_names, with_others, required, low, high)
    yield _nested_sets(nodes, with_spaces)
    for table in range(1, 256, 5 if with_spaces else 1):  # all conditions on three members
        for is_in_order in (False, True):
            yield _conditioned(nodes, with_spaces, table, is_in_order)


def _conditioned(nodes: Any, with_spaces: bool, table: int, is_in_order: bool) -> World:
    """Names with the separator `cab`; bit n of `table` says whether the set whose members are the bits of n may end."""
    build = Builder(nodes, with_spaces)
    rules, diagrams = build.rules, Diagrams()
    sets = [
        diagrams.all_of([diagrams.present([one]) if n >> one & 1 else diagrams.absent([one]) for one in range(3)])
        for n in range(8)
        if table >> n & 1
    ]
    condition = diagrams.condition(diagrams.any_of(sets), (7, 8, 40))
    rule = rules.rule("members")
    start, last = rules.start_state(rule), rules.state(rule)
    opened, choose, here = rules.state(rule), rules.state(rule), rules.state(rule)
    rules.scan(start, build.word(b"c"), choose)
    if table & 1:
        rules.scan(start, build.word(b"c"), opened)
        rules.scan(opened, build.word(b"ba"), last)
    for name, (member, word) in enumerate(((7, b"a"), (8, b"bb"), (40, b"caa"))):
        passed = member + 1 if is_in_order else 0
        after = rules.state(rule) if is_in_order else here
        rules.scan(choose, build.word(word), after, rules.add_guard(member, required=condition, passed=passed))
        if is_in_order or name == 2:
            following = rules.state(rule) if is_in_order else choose
            if is_in_order:
                rules.skip(choose, following)
            rules.scan(after, build.word(b"cab"), following, rules.more_guard(condition, passed))
            rules.scan(after, build.word(b"ba"), last, rules.check_guard(required=condition))
            choose = following
    rules.final(last)
    return build.world(f"three names {'in order' if is_in_order else 'in any order'}, sets {table:b} may end")


def _any_order(
    nodes: Any, with_spaces: bool, n_names: int, with_others: bool, required: Iterable[int], low: int, high: int
) -> World:
    """Names (and others, `ba`) with the separator `cab`, or nothing at all."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule = rules.rule("members")
    first, following, after = rules.start_state(rule), rules.state(rule), rules.state(rule)
    for state in (first, following):
        for name, word in enumerate((b"a", b"bb", b"caa")[:n_names]):
            rules.scan(state, build.word(word), after, rules.add_guard(40 * name, high, [40 * i for i in required]))
        if with_others:
            guard = rules.add_guard(ANOTHER, high, [40 * i for i in required], cap=max(low, 0 if high > 9 else high))
            rules.scan(state, build.word(b"ba"), after, guard)
    more = min(high, UNBOUNDED if with_others else n_names)
    rules.scan(after, build.word(b"cab"), following, rules.check_guard(high=more - 1))
    for state in (first, after):
        rules.final(state, rules.check_guard(low, required=[40 * i for i in required]))
    return build.world(f"{n_names} names, others {with_others}, required {list(required)}, {low} to {high}")


def _nested_sets(nodes: Any, with_spaces: bool) -> World:
    """`a` and `b` once each around a list of the same kind: every run of a rule has its own set."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule = rules.rule("members")
    start = rules.start_state(rule)
    rules.scan(start, build.word(b"a"), start, rules.add_guard(0))
    rules.scan(start, build.word(b"b"), start, rules.add_guard(1))
    end = rules.state(rule)
    rules.scan(start, build.word(b"c"), end, rules.check_guard(low=1))
    inner, close = rules.state(rule), rules.state(rule)
    rules.skip(start, inner, rules.add_guard(2, high=2, required=[0]))
    rules.call(inner, rule, close)
    rules.skip(close, start)
    rules.final(end)
    return build.world("sets in sets")


def _list_world(nodes: Any, with_spaces: bool, low: int, high: int | None, separator: str) -> World:
    """From `low` to `high` times `a` (with `b` between), the first outside the loop; then `c`."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule = rules.rule("list")
    a, c = build.word(b"a"), build.word(b"c")
    start, more, end = rules.start_state(rule), rules.state(rule), rules.state(rule)
    cap = max(low, high or 0)
    rules.scan(more, c, end, rules.guard(low=low))
    if low == 0:
        rules.scan(start, c, end)
    if high != 0:
        rules.scan(start, a, more, rules.guard(add=1, cap=cap or 1))
        loop = rules.guard(high=2**31 - 1 if high is None else high - 1, add=1, cap=cap or 1)
        if high != 1:
            if separator:
                between = rules.state(rule)
                rules.scan(more, build.word(separator.encode()), between, rules.guard(high=loop_high(high)))
                rules.scan(between, a, more, loop)
            else:
                rules.scan(more, a, more, loop)
    rules.final(end)
    return build.world(f"list {low} {high} {separator!r}")


def loop_high(high: int | None) -> int:
    """Largest count at which one more item may follow."""
    return 2**31 - 1 if high is None else high - 1


def _nested_lists(nodes: Any, with_spaces: bool) -> World:
    """A list of at most two lists of at most two: every run of a rule has its own count."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule = rules.rule("list")
    start, more, end = rules.start_state(rule), rules.state(rule), rules.state(rule)
    a, b = build.word(b"a"), build.word(b"b")
    rules.scan(start, a, more)
    rules.call(more, rule, more, rules.guard(high=1, add=1, cap=2))
    rules.scan(more, b, end)
    rules.final(end)
    return build.world("nested lists of at most two")


def _count_over_nullable(nodes: Any, with_spaces: bool) -> World:
    """The loop's item may be empty, so a count can grow without a byte: at most three items, at most two bytes each."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule, item = rules.rule("list"), rules.rule("item")
    start, end = rules.start_state(rule), rules.state(rule)
    rules.call(start, item, start, rules.guard(high=2, add=1, cap=3))
    rules.scan(start, build.word(b"c"), end)
    rules.final(end)
    rules.final(rules.start_state(item))
    last = rules.state(item)
    rules.scan(rules.start_state(item), build.word(b"a"), last)
    rules.final(last)
    return build.world("count over nullable items")


def _at_least_one_of_three(nodes: Any, with_spaces: bool) -> World:
    """Three optional words in order, at least two of them, counted on edges and asked for by the final state."""
    build = Builder(nodes, with_spaces)
    rules = build.rules
    rule = rules.rule("members")
    states = [rules.start_state(rule)] + [rules.state(rule) for _ in range(3)]
    for word, state, target in zip((b"a", b"b", b"c"), states, states[1:], strict=False):
        rules.scan(state, build.word(word), target, rules.guard(add=1, cap=2))
        rules.skip(state, target)
    end = rules.state(rule)
    rules.scan(states[3], build.word(b"a"), end, rules.guard(low=1))
    rules.skip(states[3], end, rules.guard(low=2))
    rules.final(end)
    return build.world("at least two of three")


def one_rule_worlds(nodes: Any, n_edges: int) -> Iterator[World]:
    """All grammars of one rule with two states, exactly `n_edges` edges over a, b, a call of itself and a skip."""
    kinds: list[Callable[[Builder, int, int], None]] = [
        lambda build, state, target: build.rules.scan(state, build.word(b"a"), target),
        lambda build, state, target: build.rules.scan(state, build.word(b"b"), target),
        lambda build, state, target: build.rules.call(state, 0, target),
        lambda build, state, target: build.rules.skip(state, target),
    ]
    edges = [(kind, state, target) for kind in range(4) for state in range(2) for target in range(2)]
    for chosen in combinations(edges, n_edges):
        for finals in ((0,), (1,), (0, 1)):
            build = Builder(nodes)
            build.rules.state(build.rules.rule("start"))
            for kind, state, target in chosen:
                kinds[kind](build, state, target)
            for state in finals:
                build.rules.final(state)
            yield build.world(f"edges {chosen} finals {finals}")


def random_world(nodes: Any, rng: random.Random, with_guards: bool) -> World:
    """One to three rules of one to four states; edges, finals, words, guards and white space drawn at random."""
    build = Builder(nodes, with_spaces=rng.random() < 0.4)
    rules = build.rules
    rules.ignored_at_ends, rules.ignored_repeats = rng.choice([(False, False), (True, False), (True, True)])
    words = rng.choice((WORDS, PREFIX_CODE))
    n_rules = rng.randint(1, 3)
    states: list[list[int]] = []
    has_set = rng.random() < 0.5
    for number in range(n_rules):
        rule = rules.rule(f"rule{number}")
        states.append([rules.start_state(rule)] + [rules.state(rule) for _ in range(rng.randint(0, 3))])

    def guard() -> int:
        if not with_guards or rng.random() < 0.5:
            return 0
        if has_set:
            high = rng.choice((UNBOUNDED, 1, 2, 3))
            required = rng.sample((0, 1, 35), rng.choice((0, 0, 1, 2)))
            if rng.random() < 0.6:
                return rules.add_guard(rng.choice((ANOTHER, 0, 0, 1, 35)), high, required, cap=rng.choice((2, 3)))
            return rules.check_guard(rng.choice((0, 0, 1)), high, required)
        high = rng.choice((2**31 - 1, 1, 2, 3))
        return rules.guard(low=rng.choice((0, 0, 1)), high=high, add=rng.choice((0, 1, 1)), cap=rng.choice((2, 3, 4)))

    for own in states:
        for _ in range(rng.randint(1, 5)):
            state, target = rng.choice(own), rng.choice(own)
            kind = rng.random()
            if kind < 0.6:
                node = build.word(*rng.sample(words, rng.choice((1, 1, 1, 2))))
                rules.scan(state, node, target, guard())
            elif kind < 0.85:
                rules.call(state, rng.randrange(n_rules), target, guard())
            else:
                rules.skip(state, target, guard())
        for state in rng.sample(own, rng.randint(1, min(2, len(own)))):
            rules.final(state, guard())
    return build.world("random")


def ranked_world(nodes: Any, rng: random.Random) -> World:
    """Lexemes of one letter that end together, with priorities; edges that are bare; an ignored one that is a letter.

    The first rule calls the second one, which calls none, so a parser needs no more than a list of returns.
    """
    build = Builder(nodes)
    rules = build.rules
    for _ in range(2):
        rules.rule("ranked")
    for rule in range(2):
        states = [rules.start_state(rule), *(rules.state(rule) for _ in range(2))]
        for state in states:
            bare = rng.choice((0.1, 0.9))
            for _ in range(rng.randint(1, 3)):
                letters = rng.choice(((b"a",), (b"b",), (b"a", b"b"), (b"b", b"c"), (b"a", b"b", b"c")))
                ranks = {"priority": rng.choice((0, 0, 1, -1)), "is_bare": rng.random() < bare}
                rules.scan(state, build.word(*letters), rng.choice(states), **ranks)
        if rule == 0:
            rules.call(rng.choice(states), 1, rng.choice(states))
        rules.skip(states[0], rng.choice(states))
        rules.final(rng.choice(states))
    rules.ignored_priority = rng.choice((-2, -1, 0, 1, 2))
    if rng.random() < 0.7:
        rules.ignored, rules.ignored_at_ends, rules.ignored_repeats = build.word(b"c", b" "), True, True
    return build.world("ranked")
