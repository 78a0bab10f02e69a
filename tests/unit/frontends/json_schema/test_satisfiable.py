"""Which states lead to an end."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmask.frontends.json_schema.satisfiable import productive_states
from llmask.grammar.rules import EDGE_FIELDS, RuleId, Rules, StateId


def found(rules: Rules) -> set[int]:
    return {state for state, is_productive in enumerate(productive_states(rules)) if is_productive}


def test_a_rule_that_calls_itself_without_end_derives_nothing() -> None:
    rules = Rules()
    start, loop = rules.rule("start"), rules.rule("loop")
    first, end = rules.start_state(start), rules.state(start)
    rules.final(end)
    inside = rules.state(loop)
    rules.scan(rules.start_state(loop), 5, inside)
    loop_end = rules.state(loop)
    rules.call(inside, loop, loop_end)
    rules.final(loop_end)
    rules.call(first, loop, end)
    assert found(rules) == {end, loop_end}
    rules.skip(inside, loop_end)
    assert found(rules) == {first, end, rules.start_state(loop), inside, loop_end}


def test_random_rules_beside_the_definition(rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(300)):
        rules = Rules()
        for number in range(rng.randint(1, 4)):
            rules.rule(str(number))
        for _ in range(rng.randint(0, 8)):
            rules.state(RuleId(rng.randrange(len(rules.names))))
        edges = []
        for _ in range(rng.randint(0, 14)):
            state = StateId(rng.randrange(len(rules.state_rules)))
            rule = rules.state_rules[state]
            following = StateId(rng.choice([at for at, other in enumerate(rules.state_rules) if other == rule]))
            called = RuleId(rng.randrange(len(rules.names))) if rng.random() < 0.5 else None
            edges.append((state, called, following))
            if called is None:
                rules.scan(state, 5, following)
            else:
                rules.call(state, called, following)
        wanted = set()
        for _ in range(rng.randint(0, 3)):
            wanted.add(StateId(rng.randrange(len(rules.state_rules))))
        for state in wanted:
            rules.final(state)
        n_before = -1
        while len(wanted) > n_before:
            n_before = len(wanted)
            for state, called, following in edges:
                if following in wanted and (called is None or rules.start_state(called) in wanted):
                    wanted.add(state)
        assert found(rules) == wanted


def test_rules_that_are_written_behind_others_are_looked_at_alone(rng: random.Random) -> None:
    rules = Rules()
    known, n_known_edges = bytearray(), 0
    for number in range(40):
        rule = rules.rule(str(number))
        for _ in range(3):
            rules.state(rule)
        first = rules.start_state(rule)
        for _ in range(4):
            here, there = StateId(first + rng.randrange(4)), StateId(first + rng.randrange(4))
            if rng.random() < 0.3:
                rules.scan(here, 5, there)
            else:
                rules.call(here, RuleId(rng.randint(0, number)), there)
        if rng.random() < 0.5:
            rules.final(StateId(first + rng.randrange(4)))
        if rng.random() < 0.5:
            known = productive_states(rules, known, n_known_edges)
            n_known_edges = len(rules.edges) // EDGE_FIELDS
            assert known == productive_states(rules)
            assert sum(known) not in (0, len(known)) or number < 9
