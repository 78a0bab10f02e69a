"""What patterns see beyond themselves, how long matches are, and what follows lazy quantifiers."""

from __future__ import annotations

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.lark.looks import UNBOUNDED, has_lazy, last_loop, lazy_cases, lazy_tails, looks_outside, width
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import Sequence


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", (0, 0)),
        ("abc|d", (1, 3)),
        ("a{2,5}b?", (2, 6)),
        ("(ab)*", (0, UNBOUNDED)),
        ("(?:){3}", (0, 0)),
        ("(?=abc)a", (1, 1)),
        ("(a{1000000}){1000000}", (10**12, 10**12)),
        ("((a*)*)*", (0, UNBOUNDED)),
    ],
)
def test_widths(pattern: str, expected: tuple[int, int]) -> None:
    assert width(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", None),
        ("a(?=b)b", None),
        ("a(?=b)", "a look-ahead"),
        ("a(?!bc)b", "a look-ahead"),
        ("(?<!a)b", "a look-behind"),
        ("a(?<!a)b", None),
        ("a?(?<!a)b", "a look-behind"),
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
        ("(?>a|ab(?=b))c", "a look-ahead"),
        ("(?:ab)*+c", "an atomic group"),
        (r'".*?(?<!\\)(\\\\)*?"', None),
    ],
)
def test_what_looks_outside(pattern: str, expected: str | None) -> None:
    assert looks_outside(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "tails"),
    [
        ("a*", []),
        ("a*?bc", [(2, 2)]),
        ("(x|y*?)z", [(1, 1)]),
        ("a*?b*?c", [(1, UNBOUNDED), (1, 1)]),
        ("(a*?b)*", [None]),
    ],
)
def test_what_follows_lazy_quantifiers(pattern: str, tails: list[tuple[int, int] | None]) -> None:
    found = lazy_tails(PythonParser(pattern).parse())
    assert [None if tail is None else width(Sequence(tail)) for tail in found] == tails


@pytest.mark.parametrize(
    ("pattern", "lazy"),
    [("ab|c", [False]), ("a*?b|c", [True, False]), ("x(a*?b|c)(d|e)", [True, False]), ("(a*?b)?c", [True, False])],
)
def test_alternatives_of_which_some_are_lazy_are_taken_apart(pattern: str, lazy: list[bool]) -> None:
    assert [has_lazy(case) for case in lazy_cases(PythonParser(pattern).parse())] == lazy


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
    rest, loop = last_loop(PythonParser(pattern).parse().options[0])
    assert (loop is not None) == is_found
    assert not (is_found and has_lazy(rest))


def test_many_combinations_meet_a_limit() -> None:
    with pytest.raises(LimitExceeded, match="more than 64 combinations"):
        lazy_cases(PythonParser("(a*?b|c)" * 7).parse())


def test_a_row_is_looked_through_without_copies_of_what_is_left() -> None:
    class Row(tuple[object, ...]):
        def __getitem__(self, at: object) -> object:
            raise AssertionError("a text of 30,000 letters took 6 s: what follows was copied for each of them")

    row = Row(PythonParser("abc").parse().options[0].parts)
    assert not has_lazy(Sequence(row))
    assert list(lazy_tails(Sequence(row))) == []
