"""What may come next after some bytes: this is kernels/mask.

    configuration      a row and a state of the lexer; what may follow is a function of it alone
    inside             tokens whose bytes all belong to the lexeme in hand: a function of the lexer's state alone
    crossing           tokens on whose way a lexeme ends

A byte goes on in the lexeme in hand if it can. Else the lexeme ends before it, the parser takes all lexemes that may
end there, and the byte begins the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import lexer
from .earley import Parser
from .regex import Regex
from .rules import read_rules
from .trie import make_trie, walk


class Configuration(NamedTuple):
    """`is_new`: nothing of a lexeme was read; `is_after_ignored`: the one before was the ignored one."""

    row: int
    left: lexer.Left
    is_new: bool
    is_after_ignored: bool


class Engine:
    """One grammar and one vocabulary.

    Parameters
    ----------
    written : the columns of the rules, see rules.py.
    lexemes : expressions by the numbers that the rules name.
    tokens : bytes of each token; those of special ones are empty here.
    """

    def __init__(self, written: Any, lexemes: Mapping[int, Regex], tokens: Sequence[bytes]) -> None:
        self.written, self.lexemes = written, lexemes
        self.trie = make_trie(tokens)
        network = read_rules(written, lexemes)
        self.parser = Parser(network) if network else None

    def start(self) -> Configuration | None:
        """Nothing read; None where there is no document."""
        return None if self.parser is None else self._begin(0, False)

    def _begin(self, row: int, is_after_ignored: bool) -> Configuration:
        """A row, nothing read of what may follow."""
        assert self.parser is not None
        expected = self.parser.expected(row)
        may_stand = self.written.ignored_at_ends or (row != 0 and expected)
        if self.written.ignored is not None and may_stand and not is_after_ignored:
            expected |= {self.written.ignored}
        return Configuration(row, lexer.start(self.lexemes, expected), True, is_after_ignored)

    def step(self, at: Configuration, byte: int) -> Configuration | None:
        """One more byte, or None where it cannot follow."""
        left = lexer.step(at.left, byte)
        if left:
            return at._replace(left=left, is_new=False)
        ended = self.end_lexeme(at)
        left = lexer.step(ended.left, byte) if ended else ()
        return ended._replace(left=left, is_new=False) if ended and left else None

    def end_lexeme(self, at: Configuration) -> Configuration | None:
        """The lexeme in hand ends here, or None where it cannot, or where there is none."""
        assert self.parser is not None
        ending = lexer.ending(at.left)
        if at.is_new or not ending:
            return None
        if ending == {self.written.ignored}:
            return self._begin(at.row, not self.written.ignored_repeats)
        is_ignored = self.written.ignored in ending
        return self._begin(self.parser.goto(at.row, ending - {self.written.ignored}, is_ignored), False)

    def may_end(self, at: Configuration) -> bool:
        """Whether the document may end here."""
        assert self.parser is not None
        if at.is_new:
            return self.parser.accepts(at.row) and (self.written.ignored_at_ends or not at.is_after_ignored)
        ended = self.end_lexeme(at)
        return ended is not None and self.may_end(ended)

    def inside(self, at: Configuration) -> set[int]:
        """Tokens that stay inside the lexeme in hand."""
        return set(walk(self.trie, at.left, lambda left, byte: lexer.step(left, byte) or None))

    def allowed(self, at: Configuration) -> set[int]:
        """Tokens that may come next, ends of sequence left aside."""
        return set(walk(self.trie, at, self.step))
