"""The lexemes and tokens that a text was read as.

With the greedy lexer a unit is a lexeme, with all terminals that it may be, or a token that the grammar names; what is
ignored is left out. With exact lexing a unit is a byte, or a named token: where lexemes end is for the parser to find.

In: a sequence. Out: units. Cost: 2 us a token and byte.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernels import engine
from ...kernels.mask.configurations import ENDED
from ...kernels.tables.operations import Operation
from ..expected import named_ranges
from ..history import BYTES_TOKEN
from ..sequence import Sequence

ANY_BYTE = frozenset((-1,))


class Unit(NamedTuple):
    """One lexeme, byte, or token.

    begin, end  its bytes in the text
    nodes       of the terminals that it may be; ANY_BYTE with exact lexing, none where it is a token
    token       its id, or -1
    """

    begin: int
    end: int
    nodes: frozenset[int]
    token: int = -1


def steps_of(sequence: Sequence) -> list[tuple[bytes, int, int]]:
    """The text step by step: bytes, the token's id where the grammar named it or -1, the configuration after it."""
    pieces = dict(sequence.pieces)
    tokenizer = sequence.grammar.tokenizer
    before = sequence.generation.start
    found = []
    for position, (token, after) in enumerate(sequence.history.pairs()):
        if position < sequence.begin:
            continue
        data = pieces[position] if token == BYTES_TOKEN else tokenizer.token_bytes(token)
        is_named = token != BYTES_TOKEN and any(low <= token <= high for low, high in named_ranges(sequence, before))
        if is_named or data:
            found.append((b"" if is_named and not data else data, token if is_named else -1, after))
        before = after
    return found


def byte_units(sequence: Sequence) -> list[Unit]:
    """Units with exact lexing."""
    found: list[Unit] = []
    at = 0
    for data, token, _ in steps_of(sequence):
        if token >= 0:
            found.append(Unit(at, at + len(data), frozenset(), token))
        else:
            found += [Unit(at + n, at + n + 1, ANY_BYTE) for n in range(len(data))]
        at += len(data)
    return found


def lexeme_units(sequence: Sequence, ignored: int | None) -> list[Unit]:
    """Units with the greedy lexer; the lexeme in hand is the last one where the document may end with it.

    Parameters
    ----------
    ignored : node of what is ignored: such units are left out, and those that may be something else, too, have it.
    """
    return _Lexemes(sequence, ignored).find()


class _Lexemes:
    def __init__(self, sequence: Sequence, ignored: int | None) -> None:
        self.sequence = sequence
        self.ignored = ignored
        self.units: list[Unit] = []
        self.begin = 0
        self._nodes: dict[int, frozenset[int]] = {}

    def find(self) -> list[Unit]:
        run = self.sequence.run
        here = self.sequence.generation.start
        at = 0
        for data, token, after in steps_of(self.sequence):
            if token >= 0:
                self._end(run(Operation.ENDING, here), at)
                self.units.append(Unit(at, at + len(data), frozenset(), token))
                self.begin = at + len(data)
            else:
                reached, ends = self.sequence.generation.traced(here, data)
                for n, (before, ended) in enumerate(ends.tolist()):
                    self._end(before, at + n)
                    self._end(ended, at + n + 1)
                if reached != after:  # the matcher closed the lexeme
                    self._end(run(Operation.ENDING, reached), at + len(data))
            at += len(data)
            here = after
        if here != ENDED and engine.is_accepting(self.sequence.grammar_address, here):
            self._end(run(Operation.ENDING, here), at)
        return self.units

    def _end(self, lexemes: int, end: int) -> None:
        """A lexeme ends, which may be any of a set; 0: no lexeme."""
        if lexemes == 0:
            return
        nodes = self._nodes.get(lexemes)
        if nodes is None:
            found = self.sequence.generation.listed(Operation.LEXEMES_OF, lexemes)
            nodes = self._nodes[lexemes] = frozenset(found.tolist())
        if nodes != {self.ignored}:
            self.units.append(Unit(self.begin, end, nodes))
        self.begin = end
