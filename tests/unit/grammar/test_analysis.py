"""Which rules derive nothing, the empty string, or are never used."""

from __future__ import annotations

from llmask.grammar.analysis import nullable_rules, productive_rules, reachable_rules
from llmask.grammar.expressions import EMPTY, Grammar, Lexeme, Reference, Repeat, choice, optional, sequence

A, NOTHING, MAYBE = Lexeme(1, '"a"'), Lexeme(0, "/[]/"), Lexeme(2, "/a?/")
R = Reference


def test_rules_are_productive_that_come_to_an_end() -> None:
    rules = {
        "loop": sequence([A, R("loop")]),
        "list": choice([sequence([A, R("list")]), A]),
        "one": R("other"),
        "other": R("one"),
        "nothing": NOTHING,
        "maybe": optional(NOTHING),
        "user": sequence([R("list"), R("nothing")]),
        "never": Repeat(NOTHING, 1),
        "twice": Repeat(R("list"), 2, 2),
    }
    assert productive_rules(rules, lambda lexeme: lexeme == NOTHING) == {"list", "maybe", "twice"}


def test_rules_are_nullable_whose_parts_all_are() -> None:
    rules = {
        "empty": EMPTY,
        "both": sequence([R("empty"), R("star")]),
        "star": Repeat(A),
        "plus": Repeat(A, 1),
        "many": Repeat(R("both"), 3, 5),
        "one": choice([A, R("both")]),
        "some": sequence([A, R("both")]),
        "lexeme": MAYBE,
        "itself": R("itself"),
    }
    assert nullable_rules(rules, lambda lexeme: lexeme == MAYBE) == {"empty", "both", "star", "many", "one", "lexeme"}


def test_rules_are_reachable_through_others() -> None:
    rules = {"start": R("b"), "a": R("start"), "b": Repeat(R("c")), "c": A, "d": R("d")}
    assert reachable_rules(Grammar(rules)) == {"start", "b", "c"}


def test_a_long_chain_of_rules_takes_no_time() -> None:
    rules = {f"r{n}": R(f"r{n + 1}") for n in range(20_000)} | {"r20000": A}
    assert len(productive_rules(rules, lambda _: False)) == 20_001
    assert nullable_rules(rules, lambda _: False) == set()
