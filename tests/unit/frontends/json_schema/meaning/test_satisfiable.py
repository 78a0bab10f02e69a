"""Which states lead to an end."""

from __future__ import annotations

import random
from collections.abc import Callable

from llmask.frontends.json_schema.meaning.satisfiable import (
    Need,
    part_without_end,
    productive_states,
    states_that_lead_on,
)
from llmask.grammar.kinds import EDGE_FIELDS, RuleId, StateId
from llmask.grammar.rules import Rules


def those(flags: bytes | bytearray) -> set[int]:
    return {state for state, is_there in enumerate(flags) if is_there}


def test_an_object_ends_when_its_members_allow_something() -> None:
    rules = Rules()
    whole, never = rules.rule("object"), rules.rule("never")
    start = rules.start_state(whole)
    first, second, behind, end = (rules.state(whole) for _ in range(4))
    for value in (first, second):
        rules.scan(start, 5, value)
    rules.scan(first, 6, behind)
    rules.call(second, never, behind)
    rules.scan(behind, 7, end)
    rules.final(end)
    members = {first: behind, second: behind}
    for need, can_end in (
        (Need(members, set(), {}, 0), True),
        (Need(members, {first}, {}, 1), True),
        (Need(members, {second}, {}, 0), False),
        (Need(members, {first, second}, {}, 0), False),
        (Need(members, {first}, {}, 2), False),
        (Need({first: behind}, {first}, {second: behind}, 2), False),
        (Need({second: behind}, set(), {first: behind}, 5), True),
    ):
        assert states_that_lead_on(rules, {end: need}, ())[0][start] == can_end, need
        assert those(states_that_lead_on(rules, {end: need}, [])[1]) == {start, first, behind}
    assert those(states_that_lead_on(rules, {}, [behind])[1]) == {start, first, behind}


def test_the_part_that_requires_itself_is_named() -> None:
    rules = Rules()
    start, first, second, other = (rules.rule(name) for name in ("start", "first", "second", "other"))
    end = rules.state(other)
    rules.scan(rules.start_state(other), 5, end)
    rules.final(end)
    for caller, called in ((start, other), (start, first), (first, second), (second, first)):
        rules.call(rules.start_state(caller), called, rules.state(caller))
    assert part_without_end(rules) == "first"


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
        assert those(productive_states(rules)) == found


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
            known, _ = states_that_lead_on(rules, {}, [], known, n_known_edges)
            n_known_edges = len(rules.edges) // EDGE_FIELDS
            assert known == productive_states(rules)
            assert sum(known) not in (0, len(known)) or number < 9
