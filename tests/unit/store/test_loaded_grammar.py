"""What sequences know of their grammar: its tables, and what its rules say of budgets, tokens and temperatures."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.errors import GrammarError
from llmask.grammar.rules import Rules
from llmask.store.loaded_grammar import LoadedGrammar
from llmask.store.store import Store


def one_literal(store: Store) -> Rules:
    rules = Rules()
    rule = rules.rule("start")
    end = rules.state(rule)
    rules.scan(rules.start_state(rule), store.nodes.literal(b"ab"), end)
    rules.final(end)
    return rules


def test_new_tables_are_begun_once_for_all_that_leave(store: Store) -> None:
    grammar = LoadedGrammar(store, one_literal(store))
    old = grammar.generation
    new = grammar.generation_after(old)
    assert new is not old
    assert grammar.generation_after(old) is new  # a second sequence comes late
    assert grammar.n_renewals == 1
    assert grammar.new_generation() is not grammar.generation


def test_rules_without_a_start_are_refused(store: Store) -> None:
    with pytest.raises(GrammarError, match=r"the start rule is number 0 of 0"):
        LoadedGrammar(store, Rules())


def test_what_terminals_say_is_found_by_rule(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    grammar = compiler.lark('start: a "c"\na[max_tokens=2, temperature=0.5]: /[ab]+/')._loaded
    assert list(grammar.limited_rules.values()) == [2]
    assert list(grammar.temperatures.values()) == [0.5]
    assert not grammar.takes_budget
    assert compiler.lark('start: "c"').takes_budget
