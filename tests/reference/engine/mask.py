"""What may come next after some bytes: this is kernels/mask.

    configuration      a row and a state of the lexer; what may follow is a function of it alone
    inside             tokens behind which the lexeme in hand still goes on: a function of the lexer's state alone
    crossing           tokens on whose way, or at whose end, a lexeme ends

A byte goes on in the lexeme in hand if it can. Else the lexeme ends before it, the parser takes all lexemes that may
end there, and the byte begins the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import lexer
from .earley import Parser
from .rules import Lexemes
from .trie import make_trie, walk
from .values import MakeVariant, Record, Values


class Configuration(NamedTuple):
    """`is_new`: nothing of a lexeme was read; `is_after_ignored`: the one before was the ignored one; `record`: see
    values.py; `lexeme`: the bytes that are read of it, where something is recorded.
    """

    row: int
    left: lexer.Left
    is_new: bool
    is_after_ignored: bool
    record: Record = frozenset()
    lexeme: bytes = b""


class Engine:
    """One grammar and one vocabulary.

    Parameters
    ----------
    written : the columns of the rules, see rules.py.
    lexemes : expressions by the numbers that the rules name.
    tokens : bytes of each token; those of special ones are empty here.
    make_variant : writes the rule of what a rule derives without some texts; None where no values must differ.
    """

    def __init__(
        self, written: Any, lexemes: Lexemes, tokens: Sequence[bytes] = (), make_variant: MakeVariant | None = None
    ) -> None:
        self.written, self.lexemes = written, lexemes
        self.trie = make_trie(tokens)
        values = Values(written, lexemes, make_variant)
        self.parser = Parser(values) if values.network else None

    def start(self) -> Configuration | None:
        """Nothing read; None where there is no document."""
        return None if self.parser is None else self._begin(0, False, frozenset())

    def read(self, data: bytes) -> Configuration | None:
        """Some bytes read, or None where they begin no document."""
        at = self.start()
        for byte in data:
            at = at and self.step(at, byte)
        return at

    def _begin(self, row: int, is_after_ignored: bool, record: Record) -> Configuration:
        """A row, nothing read of what may follow."""
        assert self.parser is not None
        if self.parser.begins_value(row):
            record = frozenset((begun, text) for begun, text in record if begun != row) | {(row, b"")}
        edges = [edge for edge, _ in self.parser.scans(row)]
        expected = {edge.symbol for edge in edges}
        may_stand = self.written.ignored_at_ends or (row != 0 and expected)
        may_stand = may_stand and (self.parser.accepts(row) or not edges or any(not edge.is_bare for edge in edges))
        if self.written.ignored is not None and may_stand and not is_after_ignored:
            expected |= {self.written.ignored}
        return Configuration(row, lexer.start(self.lexemes, expected), True, is_after_ignored, record)

    def step(self, at: Configuration, byte: int) -> Configuration | None:
        """One more byte, or None where it cannot follow."""
        left = lexer.step(at.left, byte)
        if not left:
            ended = self.end_lexeme(at)
            left = lexer.step(ended.left, byte) if ended else ()
            if ended is None or not left:
                return None
            at = ended
        lexeme = at.lexeme + bytes([byte]) if at.record else b""
        after = at._replace(left=left, is_new=False, lexeme=lexeme)
        if at.record and not lexer.goes_on(left) and self.end_lexeme(after) is None:
            return None  # a value that is in its set already
        return after

    def end_lexeme(self, at: Configuration) -> Configuration | None:
        """The lexeme in hand ends here, or None where it cannot, or where there is none."""
        assert self.parser is not None
        ending = lexer.ending(at.left)
        if at.is_new or not ending:
            return None
        if ending == {self.written.ignored}:
            return self._begin(at.row, not self.written.ignored_repeats, at.record)
        priority = self.written.ignored_priority if self.written.ignored in ending else None
        record = frozenset((row, text + at.lexeme) for row, text in at.record)
        row = self.parser.goto(at.row, ending - {self.written.ignored}, priority, dict(record))
        return self._begin(row, False, record) if self.parser.scans(row) or self.parser.accepts(row) else None

    def may_end(self, at: Configuration) -> bool:
        """Whether the document may end here."""
        assert self.parser is not None
        if at.is_new:
            return self.parser.accepts(at.row) and (self.written.ignored_at_ends or not at.is_after_ignored)
        ended = self.end_lexeme(at)
        return ended is not None and self.may_end(ended)

    def accepts(self, data: bytes) -> bool:
        """Whether some bytes are a document."""
        at = self.read(data)
        return at is not None and self.may_end(at)

    def inside(self, at: Configuration) -> set[int]:
        """Tokens that stay inside the lexeme in hand, or the next one where it cannot go on, whatever is recorded."""
        here = at if lexer.goes_on(at.left) else self.end_lexeme(at) or at
        found = walk(self.trie, here.left, lambda left, byte: lexer.step(left, byte) or None)
        return {token for token, left in found.items() if lexer.goes_on(left)}

    def allowed(self, at: Configuration) -> set[int]:
        """Tokens that may come next, ends of sequence left aside."""
        return set(walk(self.trie, at, self.step))
