"""The lexemes and tokens that a text was read as.

With the greedy lexer a unit is a lexeme, with all terminals that it may be, or a token that the grammar names; what is
ignored is left out. With exact lexing a unit is a byte, or a named token: where lexemes end is for the parser to find.

In: a sequence. Out: units. Cost: 2 us a token and byte.
"""

from __future__ import annotations

from functools import cache
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
    generation, here, at = sequence.generation, sequence.generation.start, 0
    units: list[Unit] = []
    begin = 0  # of the lexeme in hand
    nodes_of = cache(lambda lexemes: frozenset(generation.listed(Operation.LEXEMES_OF, lexemes).tolist()))

    def end(lexemes: int, stop: int) -> None:
        """A lexeme ends, which may be any of a set; 0: no lexeme."""
        nonlocal begin
        if lexemes != 0:
            if nodes_of(lexemes) != {ignored}:
                units.append(Unit(begin, stop, nodes_of(lexemes)))
            begin = stop

    for data, token, after in steps_of(sequence):
        if token >= 0:
            end(sequence.run(Operation.ENDING, here), at)
            begin = at + len(data)
            units.append(Unit(at, begin, frozenset(), token))
        else:
            reached, ends = generation.traced(here, data)
            for n, (before, ended) in enumerate(ends.tolist()):
                end(before, at + n)
                end(ended, at + n + 1)
            if reached != after:  # the matcher closed the lexeme
                end(sequence.run(Operation.ENDING, reached), at + len(data))
        at += len(data)
        here = after
    if here != ENDED and engine.is_accepting(sequence.grammar_address, here):
        end(sequence.run(Operation.ENDING, here), at)
    return units
