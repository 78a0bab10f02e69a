"""What trees look like."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from interegular import patterns

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex import compile_pattern, shapes
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.regex.code_points import CodePointSet
from tests.reference.json_spellings import spell
from tests.unit.frontends.regex.test_meaning import WORDS, random_pattern


def test_several_patterns_are_searched_for_together(store: Any) -> None:
    patterns, nodes = ("ab", "^c", "d$", r"\be", "(?=f)f", "g|^h"), store.nodes
    together = compile_pattern(nodes, patterns, "ecma")
    apart = nodes.union([compile_pattern(nodes, pattern, "ecma") for pattern in patterns])
    assert nodes.is_empty(nodes.without(together, [apart]))
    assert nodes.is_empty(nodes.without(apart, [together]))
    with pytest.raises(GrammarError, match=r"\(b") as caught:
        compile_pattern(nodes, ("a", "(b"), "ecma")
    assert "the pattern (b" in str(caught.value)


def test_a_choice_of_characters_is_one_set() -> None:
    assert shapes.single_character(PythonParser("(?:a|[bc])").parse()) == CodePointSet.of("abc")
    assert shapes.single_character(PythonParser("a|bc").parse()) is None


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("(?!--).", True), ("a|(?=b)[bc]", True), ("ab", False), ("(?=a)", False), ("a?", False), (r"\b(?:a)$", True)],
)
def test_some_trees_take_one_character(pattern: str, expected: bool) -> None:
    assert shapes.takes_one_character(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^a", False),
        ("a$", True),
        (r"\b", True),
        ("(?<=a)", False),
        ("(?<=a(?=b))", True),
        ("(?>a|ab)", True),
        ("a*", False),
    ],
)
def test_some_trees_ask_what_follows(pattern: str, expected: bool) -> None:
    assert shapes.looks_ahead(PythonParser(pattern).parse()) == expected


def test_every_set_of_a_tree_is_found() -> None:
    sets = shapes.character_sets(PythonParser("a(?=[bc])|(?>d|e*)$").parse())
    assert {CodePointSet.of(one) for one in ("a", "bc", "d", "e", "\n")} <= set(sets)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a*+|b", True),
        ("(?>ab|c)", False),
        ("(?>a?)", True),
        ("(?=a)", True),
        ("a|(?=a)b", False),
        ("(?:a?b?){3}", True),
    ],
)
def test_some_trees_may_match_nothing(pattern: str, expected: bool) -> None:
    assert shapes.may_be_empty(PythonParser(pattern).parse()) == expected


def test_rounds_of_a_long_row() -> None:
    assert shapes.rounds_in("x" * 100) == [(0, 100, 1)]
    assert shapes.rounds_in("x" * 1000) == [(0, 1, 1000)]
    assert shapes.rounds_in("a" + "xy" * 100 + "b") == [(0, 1, 1), (1, 3, 100), (201, 202, 1)]
    assert shapes.rounds_in("ab" * 50 + "xyz" * 40 + "c") == [(0, 2, 50), (100, 103, 40), (220, 221, 1)]


def test_pieces_of_a_row_give_the_row(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_counted = 0
    for _ in range(scaled(200)):
        row = ""
        while len(row) < 200:
            unit = "".join(rng.choice("ab") for _ in range(rng.choice((1, 2, 3, 7, 20))))
            row += unit * rng.choice((1, 1, 2, 5, 16, 17, 40)) + rng.choice(("", "a", "c"))
        pieces = shapes.rounds_in(row)
        assert "".join(row[first:end] * n for first, end, n in pieces) == row
        places = [0]
        for first, end, n in pieces:
            assert first == places[-1] < end
            places.append(first + (end - first) * n)
            n_counted += n > 1
    assert n_counted > 0


def test_the_frame_is_interegulars() -> None:
    assert (shapes.Alternatives, shapes.Sequence, shapes.Repeated) == (
        patterns.Pattern,
        patterns._Concatenation,
        patterns._Repeated,
    )


@pytest.mark.long
def test_a_negated_pattern_is_of_all_other_texts(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    patterns = ["a", "^a", "a$", "^a$", "^a$|b", "", "^", "$", "(?!)", "^(?=a)[^]*"]
    patterns += [random_pattern(rng, 3) for _ in range(scaled(80))]
    for pattern in patterns:
        for dialect in ("ecma", "python"):
            try:
                node = compile_pattern(nodes, pattern, dialect, json_string=True)
            except GrammarError:  # Python's syntax has more than ECMA's, and less
                continue
            negated = compile_pattern(nodes, pattern, dialect, json_string=True, is_negated=True)
            for word in rng.sample(WORDS, 25):
                text = spell(rng, word)
                assert nodes.matches(node, text) != nodes.matches(negated, text), (pattern, dialect, word)


def test_a_negated_search_is_empty_once_the_pattern_was_found(nodes: Any) -> None:
    node = compile_pattern(nodes, "^a|bc", "ecma", json_string=True, is_negated=True)
    assert nodes.derivative(node, ord("a")) == nodes.EMPTY
    for byte in b"xbc":
        assert node != nodes.EMPTY
        node = nodes.derivative(node, byte)
    assert node == nodes.EMPTY


def test_of_a_negated_pattern_only_text_is_left(nodes: Any) -> None:
    node = compile_pattern(nodes, "^a$", "ecma", is_negated=True)
    assert [text for text in (b"\xff", b"\xc3", b"\xed\xa0\x80") if nodes.matches(node, text)] == []
    assert all(nodes.matches(node, text.encode()) for text in ("", "b", "aa", "é"))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", (0, 0)),
        ("abc|d", (1, 3)),
        ("a{2,5}b?", (2, 6)),
        ("(ab)*", (0, shapes.UNBOUNDED)),
        ("(?:){3}", (0, 0)),
        ("(?=abc)a", (1, 1)),
        ("(a{1000000}){1000000}", (10**12, 10**12)),
        ("((a*)*)*", (0, shapes.UNBOUNDED)),
    ],
)
def test_widths(pattern: str, expected: tuple[int, int]) -> None:
    assert shapes.width(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", None),
        ("a(?=b)b", None),
        ("a(?=b)", "a lookahead"),
        ("a(?!bc)b", "a lookahead"),
        ("(?<!a)b", "a lookbehind"),
        ("a(?<!a)b", None),
        ("a?(?<!a)b", "a lookbehind"),
        (r"\ba", r"\b"),
        (r"a\b b", None),
        ("^a", '"^"'),
        ("a$", '"$"'),
        ("(?m:a^b)", None),
        ("(?m:a$)", "an anchor at the end of a line"),
        ("a*+", "an atomic group"),
        ("a*+b", None),
        ("(?>a|ab)c", None),
        ("(?>a|abc)c", "an atomic group"),
        ("(?>a|a(?=b))c", None),
        ("(?>a|ab(?=b))c", "a lookahead"),
        ("(?:ab)*+c", "an atomic group"),
        (r'".*?(?<!\\)(\\\\)*?"', None),
    ],
)
def test_what_looks_outside(pattern: str, expected: str | None) -> None:
    assert shapes.looks_outside(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "tails"),
    [
        ("a*", []),
        ("a*?bc", [(2, 2)]),
        ("(x|y*?)z", [(1, 1)]),
        ("a*?b*?c", [(1, shapes.UNBOUNDED), (1, 1)]),
        ("(a*?b)*", [None]),
    ],
)
def test_what_follows_lazy_quantifiers(pattern: str, tails: list[tuple[int, int] | None]) -> None:
    found = shapes.lazy_tails(PythonParser(pattern).parse())
    assert [None if tail is None else shapes.width(shapes.Sequence(tail)) for tail in found] == tails


@pytest.mark.parametrize(
    ("pattern", "lazy"),
    [("ab|c", [False]), ("a*?b|c", [True, False]), ("x(a*?b|c)(d|e)", [True, False]), ("(a*?b)?c", [True, False])],
)
def test_alternatives_of_which_some_are_lazy_are_taken_apart(pattern: str, lazy: list[bool]) -> None:
    assert [shapes.has_lazy(case) for case in shapes.lazy_cases(PythonParser(pattern).parse())] == lazy


@pytest.mark.parametrize(
    ("pattern", "is_found"),
    [
        ("(a*?b)*", True),
        ("x(a*?b|c)+", True),
        ("(a*?b){0,3}", True),
        ("(a*?b){2,3}", False),  # the first turn may have to be longer so that there is a second one
        ("(a*?b)*c", False),
        ("(a*?b)*?", False),
        ("a*?b(a*?c)*", False),
        ("(a*?b(?=c))*", False),  # the next turn is seen
        ("(a*?b)?", False),
        ("(ab)*", False),
    ],
)
def test_a_repetition_of_lazy_turns_at_the_end_is_found(pattern: str, is_found: bool) -> None:
    rest, loop = shapes.last_loop(PythonParser(pattern).parse().options[0])
    assert (loop is not None) == is_found
    assert not (is_found and shapes.has_lazy(rest))


def test_many_combinations_meet_a_limit() -> None:
    with pytest.raises(LimitExceeded, match="more than 64 combinations"):
        shapes.lazy_cases(PythonParser("(a*?b|c)" * 7).parse())


def test_a_row_is_looked_through_without_copies_of_what_is_left() -> None:
    class Row(tuple[object, ...]):
        def __getitem__(self, at: object) -> object:
            raise AssertionError("a text of 30,000 letters took 6 s: what follows was copied for each of them")

    row = Row(PythonParser("abc").parse().options[0].parts)
    assert not shapes.has_lazy(shapes.Sequence(row))
    assert list(shapes.lazy_tails(shapes.Sequence(row))) == []
