"""Where longest match would change what a grammar derives: known cases, and the promise that nothing is left out."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.frontends.bnf.gbnf import parse_gbnf
from llmask.frontends.regex import compile_pattern
from llmask.grammar import overlaps as module
from llmask.grammar.expressions import Expression, Grammar, Lexeme, Reference, Repeat, choice, sequence
from llmask.grammar.late import lower
from llmask.grammar.overlaps import overlaps
from llmask.store.store import Store
from tests.reference.bnf import Texts, gbnf, random_rules
from tests.reference.definition import all_strings


def found(store: Store, rules: dict[str, Callable[[Callable[[str], Expression]], Expression]]) -> set[tuple[str, str]]:
    """Overlaps of rules whose lexemes are patterns."""
    written: dict[int, str] = {}

    def lexeme(pattern: str) -> Lexeme:
        node = compile_pattern(store.nodes, pattern)
        written[node] = pattern
        return Lexeme(node, pattern)

    grammar = Grammar({name: write(lexeme) for name, write in rules.items()})
    pairs, _ = overlaps(store.nodes, lower(store.nodes, grammar).rules)
    assert pairs is not None
    return {(written[one], written[other]) for one, other in pairs}


def test_a_name_goes_on_with_what_may_follow_a_keyword(store: Store) -> None:
    both = {"start": lambda x: choice([sequence([x("[a-z]+"), x("=")]), sequence([x("if"), x("[a-z]+")])])}
    assert found(store, both) == {("if", "[a-z]+")}
    apart = {"start": lambda x: choice([sequence([x("[a-z]+"), x("=")]), sequence([x("if"), x("[(]")])])}
    assert found(store, apart) == set()


def test_a_lexeme_may_go_on_with_its_own_follower(store: Store) -> None:
    assert found(store, {"start": lambda x: sequence([x("a+"), x("ab")])}) == {("a+", "a+")}
    assert found(store, {"start": lambda x: sequence([x("a+"), x("b")])}) == set()
    assert found(store, {"start": lambda x: Repeat(x("a{1,2}"))}) == {("a{1,2}", "a{1,2}")}


def test_what_follows_is_found_behind_rules_and_empty_parts(store: Store) -> None:
    rules = {
        "start": lambda x: sequence([Reference("word"), Reference("gap"), x("c")]),
        "word": lambda x: choice([x("a"), x("ab")]),
        "gap": lambda x: choice([sequence([]), x("b")]),
    }
    assert found(store, rules) == {("a", "ab")}


def test_lexemes_that_are_never_expected_together_do_not_count(store: Store) -> None:
    """Behind `<` anything but `>` may stand, which would go on with everything, if it were expected elsewhere."""
    rules = {"start": lambda x: Repeat(choice([sequence([x("<"), x("[^>]+"), x(">")]), x("[a-z]"), x(" ")]))}
    assert found(store, rules) == set()


def test_lexemes_that_end_together_lead_on_together(store: Store) -> None:
    rules = {"start": lambda x: choice([sequence([x("a"), x("b"), x("c")]), sequence([x("[ax]"), x("bc+"), x("d")])])}
    assert found(store, rules) == {("b", "bc+")}
    rules = {"start": lambda x: choice([sequence([x("a"), x("b"), x("c")]), sequence([x("[x]"), x("bc+"), x("d")])])}
    assert found(store, rules) == set()


def test_too_many_places_tell_more_pairs_and_never_fewer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {"start": lambda x: Repeat(choice([sequence([x("<"), x("[^>]+"), x(">")]), x("[a-z]"), x(" ")]))}
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    assert found(store, rules) >= {("[a-z]", "[^>]+")}
    grammar = Grammar({"start": rules["start"](lambda pattern: Lexeme(compile_pattern(store.nodes, pattern), pattern))})
    lowered = lower(store.nodes, grammar).rules
    assert overlaps(store.nodes, lowered)[0] is not None
    monkeypatch.setattr(module, "MOST_PAIRS", 0)
    assert overlaps(store.nodes, lowered)[0] is None
    monkeypatch.setattr(module, "MOST_EDGES", 0)
    assert overlaps(store.nodes, lowered)[0] is None


def test_later_looks_have_the_steps_that_earlier_ones_left(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {"start": lambda x: Repeat(choice([sequence([x("<"), x("[^>]+"), x(">")]), x("[a-z]"), x(" ")]))}
    grammar = Grammar({"start": rules["start"](lambda pattern: Lexeme(compile_pattern(store.nodes, pattern), pattern))})
    lowered = lower(store.nodes, grammar).rules
    none, n_steps = overlaps(store.nodes, lowered)
    assert none == set()
    monkeypatch.setattr(module, "MOST_STEPS", n_steps)
    assert overlaps(store.nodes, lowered)[0] == set()
    told, n_steps = overlaps(store.nodes, lowered, n_steps)
    assert told  # as if all lexemes were expected together
    monkeypatch.setattr(module, "MOST_STEPS_OF_ALL", n_steps)
    assert overlaps(store.nodes, lowered, n_steps)[0] is None


def test_a_lexeme_that_nothing_follows_is_not_compared(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of a hundred counters took six seconds to be compared with itself, for nothing."""
    lowered = lower(store.nodes, Grammar({"start": Lexeme(compile_pattern(store.nodes, "(a{0,9}){9}b"), "x")})).rules
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(type(store.nodes), "extensions", lambda _, one, other: asked.append((one, other)) or (1, True))
    assert overlaps(store.nodes, lowered)[0] == set()
    assert all(one != other for one, other in asked)


@pytest.mark.long
def test_without_overlaps_longest_match_is_exact(rng: random.Random, scaled: Callable[[int], int]) -> None:
    """Texts of several letters are lexemes here, with nothing fused or split."""
    store = Store(llmask.Tokenizer.from_bytes([b"</s>", b"a", b"b"], eos=0), llmask.Limits())
    n_exact = n_wrong = 0
    while n_exact < scaled(60):
        rules = random_rules(rng)
        known = Texts(rules, 6).language()
        if known is None:
            continue
        lowered = lower(store.nodes, parse_gbnf(store.nodes, gbnf(rules))[0]).rules
        told, _ = overlaps(store.nodes, lowered)
        assert told is not None
        grammar = MadeGrammar(store, lowered)
        same = True
        for string in all_strings(b"ab", 6):
            matcher = grammar.matcher()
            try:
                matcher.accept_bytes(string)
                same &= string in known.live and matcher.is_accepting() == (string in known.sentences)
            except llmask.TokenRejected:
                same &= string not in known.live
        assert same or told, gbnf(rules)
        n_exact += not told
        n_wrong += not same
    assert n_wrong > 5


@pytest.mark.long
def test_rows_of_parts_that_may_all_be_left_out_are_too_much_to_look_at(store: Store) -> None:
    """Behind each of n names may be each later one: 3,000 of them took 15 seconds and a gigabyte."""

    def row(n: int) -> Any:
        names = [f"x{at}" for at in range(n)]
        parts = {name: Repeat(Lexeme(store.nodes.literal(name.encode()), name), 0, 1) for name in names}
        return lower(store.nodes, Grammar({"start": sequence(map(Reference, names)), **parts})).rules

    assert overlaps(store.nodes, row(30))[0] is not None
    assert overlaps(store.nodes, row(1000)) == (None, 0)
