"""Which parts of a grammar become lexemes; that it changes no mask is in tests/exhaustive/test_exact.py."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import LimitExceeded
from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.frontends.regex import compile_pattern
from llmask.grammar import overlaps as module_of_overlaps
from llmask.grammar.exact import fusing
from llmask.grammar.exact.fusing import exact_rules, spelled, woven
from llmask.grammar.expressions import Grammar, Lexeme, Reference, Repeat, Sequence, choice, leaves, sequence
from llmask.grammar.kinds import EDGE_FIELDS, SCAN
from llmask.grammar.late import lower
from llmask.grammar.overlaps import overlaps
from llmask.grammar.rules import Rules
from llmask.grammar.tails import join_tails
from llmask.store.store import Store
from tests.contract.gbnf_grammars import GRAMMARS, JSON, C
from tests.reference.definition import all_strings, read_mask
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes


def rules_of(store: Store, grammar: Grammar, fuse: bool = True) -> Rules:
    """Rules of a grammar; not fused, as one that is too large to look at, they have lexemes of one byte only."""
    with pytest.MonkeyPatch.context() as patch:
        if not fuse:
            patch.setattr(module_of_overlaps, "MOST_EDGES", 0)
        return exact_rules(store.nodes, grammar).rules


def lexemes(store: Store, text: str, fuse: bool = True) -> list[int]:
    """Nodes of the lexemes of a grammar in GBNF, one for each edge."""
    edges = rules_of(store, parse_gbnf(store.nodes, text)[0], fuse).edges
    return [edges[at + 2] for at in range(0, len(edges), EDGE_FIELDS) if edges[at + 1] == SCAN]


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a"',
        'root ::= key "=" value ("," key "=" value)*\nkey ::= [a-z]+\nvalue ::= key | [0-9]{1,5}',
        'root ::= "a" root | "b"',
        'root ::= root "a" | "b"',
        'root ::= root "+" root | one\none ::= [0-9]+ | "-" one',
        GRAMMARS["chess"],
    ],
)
def test_a_regular_grammar_is_one_lexeme(store: Store, text: str) -> None:
    assert len(lexemes(store, text)) == 1


def test_strings_and_numbers_of_json_are_lexemes(store: Store) -> None:
    found = lexemes(store, JSON)
    assert any(
        store.nodes.matches(node, b'"a b\\n\\u00e9"\n  ') and store.nodes.matches(node, b"-1.5e3 ") for node in found
    )
    assert len(found) < 25


def test_words_that_a_name_may_begin_with_are_spelled_out(store: Store) -> None:
    found = lexemes(store, GRAMMARS["names beside keywords"])
    assert not any(store.nodes.matches(node, b"return") for node in found)
    assert any(store.nodes.matches(node, b"return ") for node in lexemes(store, C))  # no name goes on with a blank


def test_without_fusing_all_lexemes_are_single_bytes(store: Store) -> None:
    for node in set(lexemes(store, JSON, fuse=False)):
        first = store.nodes.first_bytes(node)
        assert store.nodes.byte_set(first) == node


@pytest.mark.parametrize("name", GRAMMARS)
def test_no_lexeme_overlaps_in_the_end(store: Store, name: str) -> None:
    rules = exact_rules(store.nodes, parse_gbnf(store.nodes, GRAMMARS[name])[0]).rules
    assert overlaps(store.nodes, rules)[0] == set()


def test_large_regular_parts_are_not_written_out(store: Store) -> None:
    """Each rule is twice the one before: as one lexeme there were 2**40 parts."""
    rules = ['r0 ::= "a" | "b"', *(f"r{n} ::= r{n - 1} r{n - 1}" for n in range(1, 41)), "root ::= r40"]
    before = store.nodes.n_nodes
    matcher = MadeGrammar(store, exact_rules(store.nodes, parse_gbnf(store.nodes, "\n".join(rules))[0]).rules).matcher()
    matcher.accept_bytes(b"abba" * 100)
    assert not matcher.is_accepting()
    assert store.nodes.n_nodes - before < 100_000


def test_long_lists_of_words_are_one_lexeme(store: Store) -> None:
    words = [f"{number}word" for number in range(3000)]
    text = 'root ::= "(" root ")" root | word ("," root)*\nword ::= ' + " | ".join(f'"{word}"' for word in words)
    found = lexemes(store, text)
    assert any(store.nodes.matches(node, b"2999word") for node in found)
    assert len(found) < 20


@pytest.mark.parametrize("limit", ["MOST_ROUNDS", "MOST_EDGES"])
def test_limits_make_lexemes_smaller_and_change_no_mask(
    store: Store, monkeypatch: pytest.MonkeyPatch, limit: str, rng: random.Random
) -> None:
    text = GRAMMARS["names beside keywords"]
    usual = lexemes(store, text)
    matchers = [MadeGrammar(store, exact_rules(store.nodes, parse_gbnf(store.nodes, text)[0]).rules).matcher()]
    monkeypatch.setattr(fusing if limit == "MOST_ROUNDS" else module_of_overlaps, limit, 0)
    assert len(lexemes(store, text)) >= len(usual)
    matchers.append(MadeGrammar(store, exact_rules(store.nodes, parse_gbnf(store.nodes, text)[0]).rules).matcher())
    for _ in range(200):
        masks = [read_mask(matcher, 257) for matcher in matchers]
        assert masks[0] == masks[1]
        token = rng.choice(sorted(masks[0] - {256}))
        for matcher in matchers:
            matcher.accept_token(token)


def test_many_counts_in_counts_stay_rules(store: Store) -> None:
    text = 'root ::= ("a" ("b" ("c"{2,90} "d"){2,90} "e"){2,90} "f"){2,90}'
    matcher = MadeGrammar(store, exact_rules(store.nodes, parse_gbnf(store.nodes, text)[0]).rules).matcher()
    matcher.accept_bytes(b"ab" + b"ccd" * 2 + b"eb" + b"ccccd" * 3 + b"efa")
    text = 'root ::= "a"' + "{0,100}" * 50 + '"b"'
    assert len(lexemes(store, text)) <= 2


def test_what_is_ignored_may_stand_behind_every_lexeme_and_at_the_beginning(store: Store) -> None:
    def lexeme(pattern: str) -> Lexeme:
        return Lexeme(compile_pattern(store.nodes, pattern), pattern, priority=len(pattern))

    grammar = Grammar(
        {"start": sequence([Repeat(choice([lexeme("[a-z]+"), lexeme("if")]), 1, None), lexeme(";")])},
        ignored=(lexeme(" +"), lexeme("#.*\n")),
    )
    for fuse in (True, False):
        compiled = MadeGrammar(store, rules_of(store, grammar, fuse))
        for text, is_sentence in ((b" if x # ;\n ifx; ", True), (b"ab ;#;\n", True), (b"ab #;\n", False), (b";", None)):
            matcher = compiled.matcher()
            if is_sentence is None:
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_bytes(text)
            else:
                matcher.accept_bytes(text)
                assert matcher.is_accepting() == is_sentence, (text, fuse)
    once = woven(store.nodes, grammar)
    assert woven(store.nodes, once) == once


def test_what_is_ignored_once_is_not_ignored_twice(store: Store) -> None:
    """Exact grammars took it any number of times, and once more behind a lexeme that is the empty string."""
    word, blank, nothing = (Lexeme(compile_pattern(store.nodes, pattern), pattern) for pattern in ("a", " ", "b*"))
    grammar = Grammar({"start": sequence([word, nothing, word])}, ignored=(blank,), ignores_once=True)
    for fuse in (True, False):
        compiled = MadeGrammar(store, rules_of(store, grammar, fuse))
        compiled.matcher().accept_bytes(b" a bb a ")
        for text in (b"  a", b" a  ", b" abb  "):
            with pytest.raises(llmask.TokenRejected):
                compiled.matcher().accept_bytes(text)


PATTERNS = (
    "if", "a*b", "(ab|ba)*", "a{2,3}", "a?b?", "(a|b)*abb", "(a|b)*a(a|b)", "((ab)*a)*", "(?=.*b)a*.{2}", "é|ab", "b",
    "(?!ab)[ab]{2}", "a(b(ab?)*)?",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_matches_the_same(pattern: str) -> None:
    nodes = RegexNodes()
    node = compile_pattern(nodes, pattern)  # type: ignore[arg-type]
    found = spelled(nodes, node)  # type: ignore[arg-type]
    for leaf in [*leaves(found.start), *(leaf for rule in found.rules.values() for leaf in leaves(rule))]:
        assert isinstance(leaf, Reference) or nodes.extensions(leaf.node, leaf.node)[0] == 0, "more than one byte"
    grammar = Grammar({**found.rules, "start": found.start})
    rules = join_tails(lower(nodes, grammar).rules)  # type: ignore[arg-type]
    engine = Engine(rules, nodes.expressions)
    for string in [*all_strings(b"ab", 6), "é".encode(), b"\xc3"]:
        assert engine.accepts(string) == nodes.matches(node, string), string


def test_words_are_rows() -> None:
    nodes = RegexNodes()
    found = spelled(nodes, nodes.literal(b"while"))  # type: ignore[arg-type]
    assert not found.rules
    assert isinstance(found.start, Sequence)
    assert len(found.start.parts) == 5


@pytest.mark.long
def test_random_patterns_match_the_same(rng: random.Random, scaled: Callable[[int], int]) -> None:
    def pattern(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            return rng.choice("ab")
        if kind < 0.6:
            return pattern(depth - 1) + pattern(depth - 1)
        if kind < 0.8:
            return f"(?:{pattern(depth - 1)}|{pattern(depth - 1)})"
        return f"(?:{pattern(depth - 1)}){rng.choice('*+?')}"

    for _ in range(scaled(60)):
        test_it_matches_the_same(pattern(4))


def test_nothing_and_the_empty_string() -> None:
    nodes: Any = RegexNodes()
    assert spelled(nodes, nodes.EPSILON).start == sequence([])
    assert list(spelled(nodes, nodes.literal(b"a")).rules) == []


@pytest.mark.long
def test_large_automata_are_refused() -> None:
    nodes: Any = RegexNodes()
    letters = nodes.repeat(nodes.byte_set(6), 0, 2000)
    with pytest.raises(LimitExceeded, match="more than 1000 states"):
        spelled(nodes, letters)
