"""Leftmost derivations: places are shared, guards are followed, and the bytes needed are never too many."""

from __future__ import annotations

import pytest

from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.grammar.derivations import NOTHING, Derivations, Rests
from llmask.grammar.late import lower
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network
from llmask.regex.strings import Strings
from llmask.store.store import Store


def derivations(store: Store, rules: Rules) -> Derivations:
    return Derivations(rules, Strings(store.nodes, store.table, store.lock).lexeme_length)


def n_lexemes(found: Derivations, most: int) -> set[int]:
    """In how many lexemes a sentence can be derived, up to `most`."""
    ends, waiting, seen = set(), [(found.start, 0)], {(found.start, 0)}
    while waiting:
        place, n = waiting.pop()
        if place == NOTHING:
            ends.add(n)
            continue
        for step in found.steps(place):
            after = step.place, n + (step.lexeme >= 0)
            if after[1] <= most and after not in seen:
                seen.add(after)
                waiting.append(after)
    return ends


@pytest.mark.parametrize(
    ("text", "expected"),
    [('root ::= "a" "b"{2,3}', {3, 4}), ('root ::= ("a" "b"){2}', {4}), ('root ::= "(" root ")" | "x"', {1, 3, 5})],
)
def test_counts_are_followed(store: Store, text: str, expected: set[int]) -> None:
    found = derivations(store, lower(store.nodes, parse_gbnf(store.nodes, text)[0]).rules)
    assert n_lexemes(found, 6) == expected


def test_sets_are_followed(store: Store) -> None:
    schema = {
        "type": "object",
        "properties": {name: {"const": 1} for name in "abc"},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    made = compile_schema(store.nodes, schema, SchemaOptions(property_order="any", whitespace="compact"))
    assert n_lexemes(derivations(store, made.rules), 30) == {9, 13}  # { key : 1 , key : 1 }


def test_rest_never_falls_faster_than_lexemes_are_long(store: Store) -> None:
    found = derivations(store, lower(store.nodes, parse_gbnf(store.nodes, 'root ::= "(" root ")" | "x"{3}')[0]).rules)
    place = found.start
    for _ in range(20):
        rest = found.rest_of(place)
        steps = found.steps(place)
        assert min(step.rest for step in steps) >= rest
        place = steps[0].place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= "abc" | "de"', 2),
        ('root ::= "a" root "b" | "ccc"', 3),
        ('root ::= one one\none ::= two | "x" one\ntwo ::= "aaaa" | "123"', 6),
        ('root ::= one | two\none ::= "a" two\ntwo ::= "b" one | "bb"', 2),
        ('root ::= ("ab")*', 0),
        ('root ::= root root | "ab"', 2),
    ],
)
def test_the_start_rule_takes_so_many_bytes(store: Store, text: str, expected: int) -> None:
    rules = lower(store.nodes, parse_gbnf(store.nodes, text)[0]).rules
    strings = Strings(store.nodes, store.table, store.lock)
    found = Rests(Network(rules), strings.lexeme_length)
    assert found.at(rules.rule_starts[rules.start], 0) == expected


def test_rules_without_an_end_have_none(store: Store) -> None:
    rules = lower(store.nodes, parse_gbnf(store.nodes, 'root ::= "a"')[0]).rules
    rule = rules.rule("endless")
    inside = rules.state(rule)
    rules.scan(rules.start_state(rule), store.nodes.literal(b"x"), inside)
    rules.call(inside, rule, inside)
    strings = Strings(store.nodes, store.table, store.lock)
    found = Rests(Network(rules), strings.lexeme_length)
    assert found.at(inside, 0) is None
    assert found.at(rules.rule_starts[rule], 0) is None


def test_what_is_called_past_no_guard_may_have_a_guard_of_its_own(store: Store) -> None:
    """A rule of fifty x each, two at least, or of another rule, of two b at least."""
    rules = lower(store.nodes, parse_gbnf(store.nodes, 'root ::= "a"')[0]).rules
    two, more = rules.guard(low=2), rules.guard(add=1, cap=2)
    counts, called = rules.rule("counts"), rules.rule("called")
    for rule, text in ((counts, b"x" * 50), (called, b"b")):
        inside, start = rules.state(rule), rules.start_state(rule)
        rules.skip(start, inside)
        rules.scan(inside, store.nodes.literal(text), inside, more)
        rules.final(inside, two)
    end = rules.state(counts)
    rules.call(rules.start_state(counts), called, end)
    rules.final(end)
    strings = Strings(store.nodes, store.table, store.lock)
    found = Rests(Network(rules), strings.lexeme_length)
    assert found.at(rules.rule_starts[called], 0) == 2
    assert found.at(rules.rule_starts[counts], 0) == 2
