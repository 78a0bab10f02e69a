"""Rules inside other rules: their own white space, the first lexeme without it, guards and sets."""

from __future__ import annotations

import pytest

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.expressions import Expression, Grammar, Inclusion, Lexeme, Reference, Repeat, choice, sequence
from llmask.grammar.inclusion import derives_nothing_too, include
from llmask.grammar.late import lower
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.guards import required_members


@pytest.fixture(scope="module")
def store() -> Store:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return Store(llmask.Tokenizer.from_bytes(tokens, eos=256, special=[256]), llmask.Limits())


def text(store: Store, letters: str) -> Lexeme:
    return Lexeme(store.nodes.literal(letters.encode()), f'"{letters}"')


def nested(store: Store) -> Rules:
    """Lists in parentheses, two or three in each, `_` ignored."""
    item: Expression = choice([text(store, "x"), Reference("start")])
    rules: dict[str, Expression] = {"start": sequence([text(store, "("), Repeat(item, 2, 3), text(store, ")")])}
    return lower(store.nodes, Grammar(rules, ignored=(text(store, "_"),))).rules


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"<(xx)>", True),
        (b"<(_x__x_)>", True),
        (b"<((xx)_(xxx)x)>", True),
        (b"<_(xx)>", False),
        (b"<(xx)_>", False),
        (b"<(x x)>", False),
        (b"< (xx) >", False),
        (b"<(xx) >", True),
        (b" <(xx)> ", True),
        (b"<(x)>", False),
        (b"<(xxxx)>", False),
    ],
)
def test_each_part_ignores_its_own(store: Store, document: bytes, expected: bool) -> None:
    inner = Inclusion(nested(store), "lists")
    rules: dict[str, Expression] = {"start": sequence([text(store, "<"), inner, text(store, ">")])}
    grammar = CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(rules, ignored=(text(store, " "),))).rules))
    assert grammar.accepts(document) == expected


@pytest.mark.parametrize("is_greedy", [False, True])
@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"<(xx)>", True),
        (b"<(x_x) >", True),
        (b"< (xx)>", True),
        (b"<(x x)>", False),
        (b"<( xx)>", False),
        (b"<((x x)x)>", False),
        (b"<( (xx)x)>", False),
        (b"<(xx) >.<(x x)>", False),
        (b"<(xx) >. <(xx) >", False),
    ],
)
def test_a_part_of_a_part_keeps_its_white_space(store: Store, document: bytes, expected: bool, is_greedy: bool) -> None:
    """What is ignored in the middle was taken inside of the innermost part, too."""
    inner = Inclusion(nested(store), "lists", is_greedy=is_greedy)
    rules: dict[str, Expression] = {"start": sequence([text(store, "<"), inner, text(store, ">")])}
    middle = Inclusion(lower(store.nodes, Grammar(rules, ignored=(text(store, " "),))).rules, "<>", is_greedy=is_greedy)
    outer: dict[str, Expression] = {"start": sequence([middle, Repeat(sequence([text(store, "."), middle]))])}
    assert CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(outer)).rules)).accepts(document) == expected


def test_a_part_is_written_once(store: Store) -> None:
    inner = Inclusion(nested(store), "lists")
    twice: dict[str, Expression] = {"start": sequence([inner, text(store, ";"), inner])}
    once: dict[str, Expression] = {"start": inner}
    sizes = [len(lower(store.nodes, Grammar(rules)).rules.names) for rules in (twice, once)]
    assert sizes[0] == sizes[1]


def test_guards_are_copied(store: Store) -> None:
    other, rules = Rules(), Rules()
    start = other.start_state(other.rule("start"))
    end = other.state(other.start)
    other.scan(start, store.nodes.literal(b"a"), end, other.guard(high=3, add=1, cap=4))
    other.scan(start, store.nodes.literal(b"b"), end, other.add_guard(40, 5, [0, 31, 40]))
    other.final(end, other.check_guard(1, 2, [3]))
    rules.guard(7, 9)
    include(rules, other)
    rows = [tuple(rules.guards[at : at + 5]) for at in range(0, len(rules.guards), 5)]
    assert (0, 0, 3, 1, 4) in rows
    adding = next(row for row in rows if row[0] == 1)
    checking = next(row for row in rows if row[0] == 2)
    assert (adding[1], adding[2], required_members(rules, adding[3])) == (40, 5, {0, 31, 40})
    assert (checking[1], checking[2], required_members(rules, checking[3])) == (1, 2, {3})
    assert rules.n_members == other.n_members


def spread(store: Store, comment: str) -> Rules:
    """`a? "b"` by way of a rule that may be empty, with comments to the end of a line ignored."""
    rules: dict[str, Expression] = {
        "start": sequence([Reference("first"), text(store, "b")]),
        "first": Repeat(text(store, "a"), 0, 1),
    }
    dash = store.nodes.literal(comment.encode())
    line = store.nodes.concat([dash, store.nodes.repeat(store.nodes.byte_set(2**256 - 1 - (1 << 10)), 0)])
    return lower(store.nodes, Grammar(rules, ignored=(Lexeme(line, "COMMENT"), text(store, "\n")))).rules


@pytest.mark.parametrize(
    ("document", "alone", "inside", "whole"),
    [
        (b"ab", True, True, True),
        (b"b", True, True, True),
        (b"a-x\nb", True, True, True),
        (b"a-b", False, False, False),  # a comment is as long as it can be; once it gave its last letter back
        (b"\nb", True, False, True),  # nothing is read yet behind a rule that was empty
        (b"-x\nab", True, False, True),
        (b"ab\n", True, False, True),
        (b"ab-x", True, False, True),
    ],
)
def test_what_is_ignored_is_as_long_as_outside(
    store: Store, document: bytes, alone: bool, inside: bool, whole: bool
) -> None:
    rules = spread(store, "-")
    assert CompiledGrammar(MadeGrammar(store, rules)).accepts(document) == alone
    for is_whole, expected in ((False, inside), (True, whole)):
        outer: dict[str, Expression] = {"start": Inclusion(rules, "part", is_whole)}
        made = CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(outer)).rules))
        assert made.accepts(document) == expected


def test_the_empty_string_is_left_to_others(store: Store) -> None:
    counted = Repeat(text(store, "x"), 0, 3)
    least = Repeat(text(store, "x"), 2, 3)
    for part, is_empty in ((counted, True), (least, False), (Repeat(sequence([counted, counted]), 1, 2), True)):
        rules = lower(store.nodes, Grammar({"start": part}, ignored=(text(store, "_"),))).rules
        assert derives_nothing_too(rules) == is_empty
        for is_whole in (False, True):
            outer: dict[str, Expression] = {"start": Inclusion(rules, "part", is_whole)}
            grammar = CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar(outer)).rules))
            assert not grammar.accepts(b"")
            assert grammar.accepts(b"xx")
            assert grammar.accepts(b"_xx_") == is_whole
            assert grammar.accepts(b"_") == (is_whole and is_empty)


def test_a_part_that_calls_itself_may_have_parts(store: Store) -> None:
    inner = Inclusion(nested(store), "lists")
    rules: dict[str, Expression] = {
        "start": choice([sequence([text(store, "<"), Reference("other"), text(store, ">")]), text(store, "!")]),
        "other": choice([Reference("start"), inner]),
    }
    middle = Inclusion(lower(store.nodes, Grammar(rules, ignored=(text(store, " "),))).rules, "<>")
    grammar = CompiledGrammar(MadeGrammar(store, lower(store.nodes, Grammar({"start": middle})).rules))
    accepted = [b"<(xx)>", b"< (xx) >", b"<<!> >", b"< < ! > >", b"<< (x_x) > >"]
    assert [document for document in accepted if not grammar.accepts(document)] == []
    assert [document for document in (b"<(x x)>", b"<< (xx )>>") if grammar.accepts(document)] == []
