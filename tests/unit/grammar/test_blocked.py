"""Lexemes that never end before what has to follow them, and grammars of which nothing is left without them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.asking import dead_ends, sentences
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.made_grammar import MadeGrammar
from llmask.frontends.lark import compile_lark
from llmask.grammar import blocked as module
from llmask.grammar.blocked import blocked, has_no_dead_ends
from llmask.grammar.expressions import Lexeme, leaves, written
from llmask.grammar.tails import Network
from llmask.regex.strings import Strings
from llmask.store.store import Store


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


NAMES = 'NAME: /[a-z]+/\nNUMBER: /[0-9]+/\nTEXT: /"[^"]*"/\n'
PROGRAM = 'start: ("if" NAME "=" NUMBER | NAME "=" (TEXT | NUMBER | NAME) ";")+\n' + NAMES


def is_seen(store: Store, text: str) -> bool:
    rules = compile_lark(store.nodes, text, llmask.Limits()).rules
    return has_no_dead_ends(store.nodes, Strings(store.nodes, store.table, store.lock), Network(rules))


@pytest.mark.parametrize(
    "grammar",
    [
        PROGRAM + "%ignore /[ \\n]+/",
        PROGRAM + "%ignore /[ \\n]+/\n%ignore /#[^\\n]*/",  # a line end leaves the comment
        PROGRAM + "%ignore /([ \\n]|#[^\\n]*\\n)+/",
        PROGRAM + '%ignore " "\n%ignore "/*" /([^*]|\\*+[^*\\/])*/ /\\*+\\//',
        'start: A B\nA: /a+/\nB: "ab"\n%ignore " "',
        'start: value\nvalue: TEXT | NUMBER | "[" (value ("," value)*)? "]"\n' + NAMES,  # nothing overlaps
        'start: "if" NAME | NAME "."\n%ignore " "\n' + NAMES,  # `if` is no NAME, others are
        PROGRAM + '%ignore " "\n%ignore "# #"',
        'start: "a" " b"\n%ignore " "',  # the blank may be either
    ],
)
def test_seen_at_once(store: Store, grammar: str) -> None:
    assert is_seen(store, grammar)


@pytest.mark.parametrize(
    "grammar",
    [
        PROGRAM,  # `ifa` is a NAME
        PROGRAM + '%ignore " "\n%ignore /#[^\\n]*/',  # nothing leaves the comment
        'start: A start | N\nA: "a"\nN: /a/\n%ignore " "',  # A is taken, each time
        'start: A start | N\nA.2: /[ab]/\nN: /a+/ & /b?a?/\n%ignore " "',  # other lexemes, the same text
        'start: "a" "b" "c"\n%ignore /[ b]c*/',  # what is ignored takes the `c`
        'start: "a" TEXT\nTEXT: /a? +b/\n%ignore " "',
        'start: "a" <[7]>\n%ignore " "',
        'start: text "a"\ntext[lazy]: /a*b/\n%ignore " "',
        'start: x::0\nx::_: "." %if lt(_, 3) | "," x::incr(_)\n%ignore " "',
    ],
)
def test_not_seen(store: Store, grammar: str) -> None:
    assert not is_seen(store, grammar)


def test_large_grammars_without_white_space_are_not_compared(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = 'start: value\nvalue: TEXT | NUMBER | "[" (value ("," value)*)? "]"\n' + NAMES
    monkeypatch.setattr(module, "MOST_EDGES", 3)
    assert not is_seen(store, grammar)


TERMINALS = (
    *('"a"', '"b"', '"ab"', '"aa"', '"ba"', '"c"', '" "', "/a+/", "/[ab]+/", "/ab*/", "/a|abc/", "/[abc]+/", "/a*b/"),
    *("/(ab)+/", "/b+c?/", "/ab?/", "/[^a]/", "/ba*/", "/c+/", "/ ?a/", "/a b/"),
)
IGNORED = (None, '" "', "/ +/", "/[ c]+/", "/c/", "/ |cb*/", "/ |c[^d]*d/", "/( |c[^d]*d)+/", "/ a?/", "/c+d/", '"# #"')


def random_grammar(rng: random.Random) -> str:
    terminals = rng.sample(TERMINALS, rng.randint(2, 5))
    lines = [f"T{n}{rng.choice(('', '', '', '.1', '.2'))}: {text}" for n, text in enumerate(terminals)]
    rules = ["start", "x", "y"][: rng.randint(1, 3)]
    most_options, most_suffixes = rng.choice(((1, 1), (3, 7)))

    def options(depth: int) -> str:
        return " | ".join(row(depth) for _ in range(rng.randint(1, min(most_options, 3 - (depth > 0)))))

    def row(depth: int) -> str:
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = f"T{rng.randrange(len(terminals))}"
            if depth < 2 and rng.random() < 0.25:
                part = rng.choice((rng.choice(rules), f"({options(depth + 1)})"))
            parts.append(part + rng.choice(("", "", "", "", "?", "*", "+")[:most_suffixes]))
        return " ".join(parts)

    lines += [f"{name}: {options(0)}" for name in rules]
    ignored = rng.choice(IGNORED)
    return "\n".join([*lines, *([] if ignored is None else [f"%ignore {ignored}"])])


@pytest.mark.long
def test_a_search_finds_no_dead_end_where_none_is_said_to_be(
    byte_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no sentence is found of what is said to have none."""
    monkeypatch.setattr(dead_ends, "MAX_CONFIGURATIONS", 1000)
    monkeypatch.setattr(sentences, "MOST_STEPS", 2000)
    monkeypatch.setattr(sentences, "MOST_READ", 200)
    store = Store(byte_tokenizer, llmask.Limits())
    strings = Strings(store.nodes, store.table, store.lock)
    n_seen = n_empty = 0
    for _ in range(scaled(200)):
        text = random_grammar(rng)
        try:
            grammar = CompiledGrammar(MadeGrammar(store, compile_lark(store.nodes, text, llmask.Limits()).rules))
        except llmask.GrammarError:
            continue
        is_fine = has_no_dead_ends(store.nodes, strings, Network(grammar._loaded.own_rules))
        pairs, is_empty = blocked(store.nodes, strings, Network(grammar._loaded.own_rules))
        n_seen += is_fine
        n_empty += is_empty
        if is_fine:
            assert not pairs, text
            assert dead_ends.dead_end(grammar._loaded.generation) is None, text
        if is_empty:
            with pytest.raises(llmask.LlmaskError):  # it found none, or gave up
                grammar.shortest()
    assert n_seen > 0
    assert n_empty > 0
