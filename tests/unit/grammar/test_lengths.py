"""Shortest ends of rules, beside all derivations of small grammars."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.grammar.lengths import Rests
from llmask.grammar.lower import lower
from llmask.grammar.tails import Network
from llmask.regex.strings import Strings
from llmask.store.store import Store


@pytest.fixture(scope="module")
def store(byte_tokenizer: Any) -> Store:
    return Store(byte_tokenizer, llmask.Limits())


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
