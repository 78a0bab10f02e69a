"""Shortest ends of rules, beside all derivations of small grammars."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.grammar.late import lower
from llmask.grammar.lengths import shortest_ends
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
    found = shortest_ends(Network(rules), strings.lexeme_length)
    assert found[rules.rule_starts[rules.start]] == expected


def test_rules_without_an_end_have_none(store: Store) -> None:
    rules = lower(store.nodes, parse_gbnf(store.nodes, 'root ::= "a"')[0]).rules
    rule = rules.rule("endless")
    inside = rules.state(rule)
    rules.scan(rules.start_state(rule), store.nodes.literal(b"x"), inside)
    rules.call(inside, rule, inside)
    strings = Strings(store.nodes, store.table, store.lock)
    found = shortest_ends(Network(rules), strings.lexeme_length)
    assert found[inside] is None
    assert found[rules.rule_starts[rule]] is None
