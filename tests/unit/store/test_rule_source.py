"""Rules as numbers: all of them, and those added since."""

from __future__ import annotations

from llmask.grammar.rules import Rules
from llmask.store.rule_source import RuleSource


def rules_of_two() -> Rules:
    rules = Rules()
    end = rules.state(rules.rule("start"))
    rules.scan(rules.start_state(rules.start), 7, end)
    rules.final(end)
    return rules


def test_nothing_is_added_to_rules_that_do_not_grow() -> None:
    source = RuleSource(rules_of_two(), None)
    assert not source.is_growing
    assert source.since(source.sizes()).tolist() == source.nothing().tolist()


def test_what_was_added_is_given_apart() -> None:
    rules = rules_of_two()
    source = RuleSource(rules, lambda rule, texts: None)
    assert source.is_growing
    sizes = source.sizes()
    assert len(source.since(sizes)) == len(source.nothing())
    end = rules.state(rules.rule("more"))
    rules.scan(rules.start_state(rules.rule("another")), 8, end)
    added, whole = source.since(sizes), source.whole()
    assert len(source.nothing()) < len(added) < len(whole)
    assert 8 in added
    assert 7 not in added
