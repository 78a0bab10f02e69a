"""Lexemes that never end before what has to follow them, and grammars of which nothing is left without them."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.frontends.lark import compile_lark
from llmask.grammar import blocked as module
from llmask.grammar.blocked import blocked
from llmask.grammar.expressions import Lexeme, leaves, written
from llmask.grammar.tails import Network
from llmask.regex.strings import Strings
from llmask.store.store import Store


@pytest.fixture(scope="module")
def store(byte_tokenizer: Any) -> Store:
    return Store(byte_tokenizer, llmask.Limits())


def found(store: Store, text: str) -> tuple[list[tuple[str, str, str]], bool]:
    """Terminal, the one that it takes, the rule; and whether nothing is left."""
    lowered = compile_lark(store.nodes, text, llmask.Limits())
    assert lowered.grammar is not None
    names = {
        leaf.node: written(leaf)
        for rule in lowered.grammar.rules.values()
        for leaf in leaves(rule)
        if isinstance(leaf, Lexeme)
    }
    pairs, is_empty = blocked(store.nodes, Strings(store.nodes, store.table, store.lock), Network(lowered.rules))
    return [(names[one.lexeme], names[one.needed], lowered.rules.names[one.rule]) for one in pairs], is_empty


NAME = "\nNAME: /[a-z]+/"


@pytest.mark.parametrize(
    ("grammar", "pairs", "is_empty"),
    [
        ('start: "let" NAME "in" NAME' + NAME, [("NAME", '"in"', "start")], True),
        ('start: "1" NAME "in" | "2"' + NAME, [("NAME", '"in"', "start")], False),
        ('start: "(" start ")" | x\nx: NAME "in" NAME' + NAME, [("NAME", '"in"', "x")], True),  # where it stops
        ('start: x "in" | "2"\nx: "1" NAME' + NAME, [("NAME", '"in"', "x")], False),  # what follows the call
        ('start: x "in" | x "."\nx: NAME' + NAME, [], False),  # one of the calls is followed by something else
        ('start: "1" NAME NAME "." | "2"' + NAME, [("NAME", "NAME", "start")], False),
        # nothing but "1" may follow the number, when the other option is left out
        ('start: N (NAME "in" | "1") | "."\nN: /[0-9]+/' + NAME, [("NAME", '"in"', "start"), ("N", '"1"', "start")], 0),
        ('start: NAME "in" | NAME' + NAME, [("NAME", '"in"', "start")], False),
        ('start: NAME "in"?' + NAME, [], False),  # the end may follow
        ('start: A B\nA: /a+|c/\nB: "ab"', [], False),  # only some of its strings go on
        ('start: A "ab"\nA: /(aa)+/', [("A", '"ab"', "start")], True),  # no byte is given back
        ('start: A "ab"\nA: /a|ba+/', [], False),  # not after every `a`
        ('start: A B\nA: /a+/\nB: "ab"\n%ignore " "', [], False),
        ('start: A B\nA: /a+/\nB: "ab"\n%ignore "a "', [("A", "B", "start")], True),
        ('start: A <[7]> "ab" | "b"\nA: /a+/', [], False),  # a token that is named ends every lexeme
    ],
)  # fmt: skip
def test_known_cases(store: Store, grammar: str, pairs: list[tuple[str, str, str]], is_empty: bool) -> None:
    assert found(store, grammar) == (pairs, is_empty)


def test_lazy_lexemes_end_where_they_can_and_are_not_told(store: Store) -> None:
    assert found(store, 'start: text "."\ntext[lazy]: /(.|\\n)+/') == ([], False)


def test_rules_with_a_parameter_are_not_told(store: Store) -> None:
    text = 'start: x::0\nx::_: NAME "in" %if lt(_, 3) | "." x::incr(_)' + NAME
    assert found(store, text) == ([], False)


def test_nothing_is_told_of_a_lexeme_of_many_states(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 3)
    assert found(store, 'start: A B\nA: /(abcde)?a+/\nB: "ab"') == ([], False)
