"""The references judge each other and are judged by Python's `re`, before they judge the engine."""

from __future__ import annotations

import re

import pytest

from tests.exhaustive.worlds import ALPHABET, PLAIN, expressions, letters, to_dfa, to_pattern
from tests.reference.definition import from_membership


def n_letters(expression: tuple) -> int:
    """Letters of the expression with its counted repetitions unrolled."""
    kind, *parts = expression
    if kind == "set":
        return 1
    if kind == "rep":
        return n_letters(parts[0]) * (parts[2] or parts[1] or 1)
    return sum(n_letters(part) for part in parts)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_automata_have_the_language_that_re_has(size: int) -> None:
    for expression in expressions(size, PLAIN):
        pattern = re.compile(to_pattern(expression).encode(), re.DOTALL)
        wanted = from_membership(pattern.fullmatch, ALPHABET, max_bytes=3, completion=n_letters(expression))
        assert to_dfa(expression).language(3) == wanted, expression


def test_a_class_of_bytes_is_one_letter() -> None:
    assert letters(b"abcd\xff\x00") == b"abcccc"
