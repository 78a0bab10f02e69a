"""Lexemes read byte by byte, several at once: this is kernels/lexer.

A state is what is left of each lexeme that is still possible. A lexeme goes on as long as one of them can (greedy); all
that may end where none goes on end together, and the parser takes them all.
"""

from __future__ import annotations

from collections.abc import Iterable

from .regex import Regex, derivative, is_empty, is_nullable, letters
from .rules import Lexemes

Left = tuple[tuple[int, Regex], ...]  # (lexeme, what is left of it), by the lexeme's number


def start(lexemes: Lexemes, expected: Iterable[int]) -> Left:
    """Nothing read."""
    return tuple((lexeme, lexemes[lexeme]) for lexeme in sorted(expected))


def step(left: Left, byte: int) -> Left:
    """What is left after one more byte; () where the lexeme cannot go on."""
    after = ((lexeme, derivative(rest, byte)) for lexeme, rest in left)
    return tuple((lexeme, rest) for lexeme, rest in after if not is_empty(rest))


def goes_on(left: Left) -> bool:
    """Whether some byte belongs to the lexeme."""
    return any(step(left, byte) for _, rest in left for byte in letters(rest))


def ending(left: Left) -> frozenset[int]:
    """The lexemes that may end here."""
    return frozenset(lexeme for lexeme, rest in left if is_nullable(rest))
