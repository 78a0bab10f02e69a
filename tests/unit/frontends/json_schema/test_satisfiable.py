"""Which states lead to an end."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmask.frontends.json_schema.satisfiable import productive_states
from llmask.grammar.rules import RuleId, Rules, StateId


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
    assert productive_states(rules) == {end, loop_end}
    rules.skip(inside, loop_end)
    assert productive_states(rules) == {first, end, rules.start_state(loop), inside, loop_end}


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
        found = set()
        for _ in range(rng.randint(0, 3)):
            found.add(StateId(rng.randrange(len(rules.state_rules))))
        for state in found:
            rules.final(state)
        n_before = -1
        while len(found) > n_before:
            n_before = len(found)
            for state, called, following in edges:
                if following in found and (called is None or rules.start_state(called) in found):
                    found.add(state)
        assert productive_states(rules) == found
