"""Rules as columns, and random rules through the compiled engine against the reference engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import COUNT, GUARD_FIELDS, NO_GUARD, UNBOUNDED
from llmask.grammar.rules import Rules, RuleTemplate
from llmask.store.store import Store
from tests.reference.definition import read_mask
from tests.reference.engine.mask import Engine
from tests.reference.guards import required_members
from tests.reference.regex_nodes import RegexNodes

LETTERS = b"abc"
EOS = 256


def test_a_template_is_the_rule_with_its_states_moved() -> None:
    def written(rules: Rules) -> None:
        rule = rules.rule("list")
        start, end = rules.start_state(rule), rules.state(rule)
        rules.final(end)
        inside = rules.state(rule)
        rules.scan(start, 40, inside)
        rules.call(inside, rule, inside)
        rules.skip(inside, end)

    first, second, copied = Rules(), Rules(), Rules()
    written(first)
    template = RuleTemplate(first, first.start, 0)
    for rules in (second, copied):
        other = rules.rule("other")
        rules.scan(rules.start_state(other), 7, rules.state(other))
    written(second)
    template.write(copied, copied.rule("list"))
    for column in ("names", "rule_starts", "state_rules", "edges", "finals"):
        assert getattr(copied, column) == getattr(second, column)


def test_equal_guards_share_a_number() -> None:
    rules = Rules()
    guard = rules.guard(low=1, high=5, add=1, cap=6)
    assert rules.guard(1, 5, 1, 6) == guard != NO_GUARD
    assert rules.guard(1, 5, 1, 7) != guard
    assert rules.guard(high=2**40, cap=2**50) == rules.guard()
    assert rules.guards[:GUARD_FIELDS].tolist() == [COUNT, 0, UNBOUNDED, 0, UNBOUNDED]
    assert rules.guards[GUARD_FIELDS * guard : GUARD_FIELDS * (guard + 1)].tolist() == [COUNT, 1, 5, 1, 6]


def test_required_members_are_sets_of_bits() -> None:
    rules = Rules()
    guard = rules.check_guard(low=2, required=[31, 0, 70, 0])
    assert rules.check_guard(2, required=(70, 31, 0)) == guard
    assert rules.add_guard(31, required=[31, 0, 70]) != guard
    place = rules.guards[GUARD_FIELDS * guard + 3]
    assert rules.required[place:].tolist() == [3, 3, 1 - 2**31, 0, 1 << 6]
    assert required_members(rules, place) == {0, 31, 70}
    assert required_members(rules, 0) == frozenset()


def random_rules(rng: random.Random, nodes: Any) -> Rules:
    """A few rules that scan letters, call each other and themselves, and skip; often ambiguous or nullable.

    All lexemes are single letters, so that lexing is no choice and the two sides are compared on parsing alone.
    """
    rules = Rules()
    for number in range(rng.randint(1, 3)):
        rules.rule(f"rule {number}")
    for rule in range(len(rules.names)):
        states = [rules.rule_starts[rule], *(rules.state(rule) for _ in range(rng.randint(1, 3)))]
        for state in states:
            for _ in range(rng.randint(1, 2)):
                target = rng.choice(states)
                kind = rng.random()
                if kind < 0.55:
                    rules.scan(state, nodes.literal(bytes([rng.choice(LETTERS)])), target)
                elif kind < 0.9:
                    rules.call(state, rng.randrange(len(rules.names)), target)
                else:
                    rules.skip(state, target)
        for state in rng.sample(states, rng.randint(1, 2)):
            rules.final(state)
    return rules


@pytest.mark.long
def both_engines(
    store: Store, rng: random.Random, write: Callable[[random.Random, Any], Rules]
) -> tuple[Rules, Engine]:
    """The same rules over the store's nodes and, in the reference engine, over its own."""
    seed, nodes = rng.random(), RegexNodes()
    engine = Engine(
        write(random.Random(seed), nodes), nodes.expressions, [bytes([byte] * (byte in LETTERS)) for byte in range(256)]
    )
    return write(random.Random(seed), store.nodes), engine


def test_random_rules_agree_with_the_reference_engine(
    store: Store, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_empty = n_read = 0
    for _ in range(scaled(600)):
        rules, engine = both_engines(store, rng, random_rules)
        if engine.start() is None:
            n_empty += 1
            with pytest.raises(llmask.UnsatisfiableSchema):
                MadeGrammar(store, rules)
            continue
        grammar = MadeGrammar(store, rules)
        for _ in range(2):
            matcher = grammar.matcher()
            for _ in range(6):
                at = engine.read(matcher.text())
                assert at is not None
                expected = engine.allowed(at) | ({EOS} if engine.may_end(at) else set())
                assert read_mask(matcher, 257) == expected, (rules.edges, rules.finals, matcher.text())
                assert matcher.is_accepting() == (EOS in expected)
                byte = rng.choice(sorted(expected))
                matcher.accept_token(byte)
                if byte == EOS:
                    break
                n_read += 1
    assert n_empty < scaled(600) // 2
    assert n_read > scaled(600)


def overlapping_rules(rng: random.Random, nodes: Any) -> Rules:
    """Lexemes that begin alike, end together, have priorities, and may be ignored, in several rows."""
    a, b, c = (nodes.literal(bytes([letter])) for letter in LETTERS)
    some, word = nodes.repeat(a, 1, None), nodes.repeat(nodes.union([a, b]), 1, None)
    lexemes = [a, b, c, some, word, nodes.literal(b"ab"), nodes.concat([a, nodes.repeat(b, 0, 2)])]
    rules = Rules()
    for number in range(2):
        rules.rule(f"rule {number}")
    for rule in range(2):
        states = [rules.rule_starts[rule], *(rules.state(rule) for _ in range(2))]
        for state in states:
            for _ in range(3):
                priority = rng.choice([0, 0, 1, 2, -1])
                is_bare = rng.random() < 0.5
                rules.scan(state, rng.choice(lexemes), rng.choice(states), priority=priority, is_bare=is_bare)
        rules.call(states[0], 1 - rule, states[1])
        rules.final(states[2])
    if rng.random() < 0.7:
        rules.ignored = rng.choice([nodes.union([b, c]), nodes.literal(b"aa"), nodes.literal(b"ac")])
        rules.ignored_repeats = rules.ignored_at_ends = True
        rules.ignored_priority = rng.choice([5, -5, 0, 1])
    return rules


@pytest.mark.long
def test_lexemes_that_end_together_are_taken_by_priority(
    store: Store, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_read = 0
    for _ in range(scaled(300)):
        rules, engine = both_engines(store, rng, overlapping_rules)
        if engine.start() is None:
            continue
        grammar = MadeGrammar(store, rules)
        matcher = grammar.matcher()
        for _ in range(7):
            at = engine.read(matcher.text())
            assert at is not None
            expected = engine.allowed(at) | ({EOS} if engine.may_end(at) else set())
            if not expected:
                break  # a greedy grammar may have live prefixes without a sentence
            assert read_mask(matcher, 257) == expected, (rules.edges, rules.priorities, matcher.text())
            byte = rng.choice(sorted(expected))
            matcher.accept_token(byte)
            if byte == EOS:
                break
            n_read += 1
    assert n_read > scaled(300)
