"""Which rules derive nothing, the empty string, or are never used."""

from __future__ import annotations

from llmask.grammar.analysis import as_repetition, folded, nullable_rules, productive_rules, reachable_rules
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


def test_recursion_at_the_ends_is_repetition() -> None:
    me, a, b, c, d = Reference("me"), *(Lexeme(number, letter) for number, letter in enumerate("abcd", 10))
    assert as_repetition("me", choice([sequence([a, me]), b])) == sequence([Repeat(a), b])
    assert as_repetition("me", choice([sequence([me, a]), b])) == sequence([b, Repeat(a)])
    both = choice([sequence([me, a, me]), sequence([b, me]), sequence([me, c]), d])
    one = [Repeat(b), d, Repeat(c)]
    assert as_repetition("me", both) == sequence([*one, Repeat(sequence([a, *one]))])
    assert as_repetition("me", choice([me, a])) == choice([me, a])
    assert as_repetition("me", sequence([a, me])) == sequence([a, me])
    assert as_repetition("me", sequence([a, me, b])) == sequence([a, me, b])


def test_repetitions_of_repetitions_are_one_where_no_count_is_left_out() -> None:
    letter = Lexeme(10, "a")

    def counts(low: int, high: int | None) -> set[int]:
        return set(range(low, 30 if high is None else min(high, 29) + 1))

    bounds = [(low, high) for low in range(4) for high in (*range(max(low, 1), 5), None)]
    n_folded = 0
    for inner in bounds:
        for outer in bounds:
            found = folded(Repeat(Repeat(letter, *inner), *outer))
            assert isinstance(found, Repeat)
            if found.part == letter:
                n_folded += 1
                wanted = {0} if outer[0] == 0 else set()
                for copies in counts(*outer):
                    low, high = copies * inner[0], None if inner[1] is None else copies * inner[1]
                    wanted |= counts(low, high) if copies else {0}
                assert {n for n in wanted if n < 12} == {n for n in counts(found.low, found.high) if n < 12}, (
                    inner,
                    outer,
                )
    assert n_folded > len(bounds) ** 2 / 2


def test_counts_beyond_every_text_are_open() -> None:
    """Fifty counters {0,100} in each other took two seconds a mask."""
    letter = Lexeme(10, "a")
    nested: Repeat = Repeat(letter, 0, 100)
    for _ in range(49):
        nested = Repeat(nested, 0, 100)
    assert folded(nested) == Repeat(letter, 0, None)
    assert folded(Repeat(Repeat(letter, 0, 1000), 0, 1000)) == Repeat(letter, 0, 10**6)
    assert folded(Repeat(Repeat(letter, 1, 10**5), 1, 10**5)) == Repeat(letter, 1, None)


def test_copies_of_a_rule_are_copies_of_what_it_repeats() -> None:
    part = Reference("a")
    rules = {
        "blanks": Repeat(part),
        "few": Repeat(part, 0, 3),
        "pairs": Repeat(part, 2, 2),
        "self": Repeat(Reference("self")),
    }
    assert folded(Repeat(Reference("blanks"), 0, 99_999), rules) == Repeat(part)
    assert folded(Repeat(Reference("blanks"), 2, 5), rules) == Repeat(part)
    assert folded(Repeat(Reference("few"), 0, 4), rules) == Repeat(part, 0, 12)
    assert folded(Repeat(Reference("pairs"), 0, 4), rules) == Repeat(Reference("pairs"), 0, 4)  # even numbers only
    assert folded(Repeat(Reference("self"), 0, 2), rules) == Repeat(Reference("self"))
    assert folded(Repeat(Reference("few"), 0, 4), {}) == Repeat(Reference("few"), 0, 4)
