"""The normal form in which grammars are written, and the laws of the constructors."""

from __future__ import annotations

import pytest

from llmask.grammar.expressions import (
    EMPTY,
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
