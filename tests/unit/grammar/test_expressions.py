"""The normal form in which grammars are written, and the laws of the constructors."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from llmask.frontends.lark.tokens import read_change, read_condition
from llmask.frontends.places import Source
from llmask.grammar.expressions import (
    EMPTY,
    Attributes,
    Choice,
    Expression,
    Grammar,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    choice,
    leaves,
    optional,
    sequence,
    written,
)

A, B = Lexeme(1, '"a"'), Lexeme(2, '"b"')
NUMBER = Lexeme(3, "/[0-9]+/", "NUMBER")
R = Reference("rule")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A, '"a"'),
        (NUMBER, "NUMBER"),
        (EMPTY, ""),
        (sequence([A, R, B]), '"a" rule "b"'),
        (choice([A, sequence([B, R])]), '"a" | "b" rule'),
        (choice([EMPTY, A]), '() | "a"'),
        (sequence([A, choice([A, B])]), '"a" ("a" | "b")'),
        (optional(A), '"a"?'),
        (Repeat(sequence([A, B])), '("a" "b")*'),
        (Repeat(choice([A, B]), 1), '("a" | "b")+'),
        (Repeat(A, 2, 2), '"a"{2}'),
        (Repeat(A, 2, 5), '"a"{2,5}'),
        (Repeat(A, 2), '"a"{2,}'),
        (Repeat(A, 0, 0), '"a"{0}'),
        (Repeat(optional(A)), '("a"?)*'),
        (sequence([optional(A), Repeat(B)]), '"a"? "b"*'),
        (Repeat(EMPTY), "()*"),
    ],
)
def test_expressions_are_written_with_the_parentheses_they_need(expression: Expression, text: str) -> None:
    assert written(expression) == text


def test_sequences_and_choices_are_flat_and_options_stand_once() -> None:
    assert sequence([A, sequence([B, EMPTY]), R]) == Sequence((A, B, R))
    assert sequence([EMPTY, A]) == A
    assert sequence([]) == EMPTY
    assert choice([A, choice([B, A]), B]) == Choice((A, B))
    assert choice([A, A]) == A


def test_leaves_come_from_left_to_right() -> None:
    assert list(leaves(sequence([A, Repeat(choice([R, NUMBER])), B]))) == [A, R, NUMBER, B]


def test_a_grammar_is_written_start_first_and_terminals_once() -> None:
    blank = Lexeme(4, "/ +/", "BLANK", 2)
    grammar = Grammar(
        {"item": choice([NUMBER, Reference("list")]), "list": sequence([A, Repeat(Reference("item")), B])},
        "list",
        (blank, Lexeme(5, '"#"')),
    )
    assert str(grammar) == (
        'list: "a" item* "b"\nitem: NUMBER | list\n\nNUMBER: /[0-9]+/\nBLANK.2: / +/\n%ignore BLANK\n%ignore "#"'
    )
    assert str(Grammar({"start": A})) == 'start: "a"'


def test_attributes_are_written_as_in_grammars() -> None:
    assert str(Attributes()) == ""
    assert str(Attributes(capture="x", temperature=0.5, max_tokens=3)) == '[capture="x", temperature=0.5, max_tokens=3]'


ALL = 2**64 - 1
CHANGES: dict[str, Callable[[int], int]] = {
    "_": lambda p: p,
    "5": lambda p: 5,
    "0x1F": lambda p: 31,
    "set_bit(3)": lambda p: p | 8,
    "clear_bit(63)": lambda p: p & ~(1 << 63),
    "bit_and(0xF0)": lambda p: p & 0xF0,
    "bit_or( 9 )": lambda p: p | 9,
    "incr([2:4])": lambda p: p if p >> 2 & 3 == 3 else p + 4,
    "decr([2:4])": lambda p: p if p >> 2 & 3 == 0 else p - 4,
    "incr(_)": lambda p: min(p + 1, ALL),
    "decr(_)": lambda p: max(p - 1, 0),
}
CONDITIONS: dict[str, Callable[[int], bool]] = {
    "true": lambda p: True,
    "true()": lambda p: True,
    "bit_set(2)": lambda p: p >> 2 & 1 == 1,
    "bit_clear(2)": lambda p: p >> 2 & 1 == 0,
    "is_ones([1:3])": lambda p: p >> 1 & 3 == 3,
    "is_zeros([1:3])": lambda p: p >> 1 & 3 == 0,
    "is_zeros(_)": lambda p: p == 0,
    "eq([0:3], 5)": lambda p: p & 7 == 5,
    "ne([0:3], 5)": lambda p: p & 7 != 5,
    "lt([0:3], 5)": lambda p: p & 7 < 5,
    "le([0:3], 5)": lambda p: p & 7 <= 5,
    "gt([0:3], 5)": lambda p: p & 7 > 5,
    "ge([0:3], 5)": lambda p: p & 7 >= 5,
    "lt(_, 0x8000000000000000)": lambda p: p < 2**63,
    "bit_count_eq([1:5], 2)": lambda p: (p >> 1 & 15).bit_count() == 2,
    "bit_count_ne([1:5], 2)": lambda p: (p >> 1 & 15).bit_count() != 2,
    "bit_count_lt([1:5], 2)": lambda p: (p >> 1 & 15).bit_count() < 2,
    "bit_count_le([1:5], 2)": lambda p: (p >> 1 & 15).bit_count() <= 2,
    "bit_count_gt([1:5], 2)": lambda p: (p >> 1 & 15).bit_count() > 2,
    "bit_count_ge(_, 30)": lambda p: p.bit_count() >= 30,
    "and(bit_set(0), not(bit_set(1)))": lambda p: p & 3 == 1,
    "or(bit_set(0), bit_set(1))": lambda p: p & 3 != 0,
}


def parameters() -> list[int]:
    generator = random.Random(4)
    return [*range(40), ALL, ALL - 1, 2**63, *(generator.getrandbits(64) for _ in range(40))]


@pytest.mark.parametrize("text", CHANGES)
def test_changes(text: str) -> None:
    change, end = read_change(Source(text + " "), 0)
    assert end == len(text)
    assert [change.of(p) for p in parameters()] == [CHANGES[text](p) for p in parameters()]


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions(text: str) -> None:
    condition, end = read_condition(Source(text + " "), 0)
    assert end == len(text)
    assert [condition.holds(p) for p in parameters()] == [CONDITIONS[text](p) for p in parameters()]
