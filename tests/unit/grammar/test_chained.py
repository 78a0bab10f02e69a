"""Which rules may wait in chains: those in a circle of calls behind which the caller may end."""

from __future__ import annotations

import pytest

from llmask.grammar.chained import chain
from llmask.grammar.rules import Rules
from tests.exhaustive.grammars import Builder
from tests.reference.regex_nodes import RegexNodes

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
