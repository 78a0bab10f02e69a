"""What the encoders of SentencePiece vocabularies share: tokens as they stand in normalized text, and its rules.

Compiled code reads one table of numbers and addresses. `PieceTable` keeps the arrays that the addresses point to.

In: a vocabulary. Out: tables for `llmask/kernels`. Cost: 0.1 s for 250,000 tokens.
"""

from __future__ import annotations

import numpy as np

from ..vocabulary.strings import StringTable, freeze
from ..vocabulary.vocabulary import TokenType, Vocabulary
from .misspelled import misspelled
from .tables import build_double_array


class PieceTable:
    """The table that a compiled encoder reads, and the arrays that belong to it.

    Parameters
    ----------
    n_slots : size of the table.
    """

    def __init__(self, n_slots: int) -> None:
        self._slots = np.zeros(n_slots, np.int64)
        self._arrays: list[np.ndarray] = []
        self.address = int(self._slots.ctypes.data)

    def put(self, slot: int, number: int) -> None:
        """Store a number or flag."""
        self._slots[slot] = number

    def put_array(self, slot: int, array: np.ndarray) -> None:
        """Store the address of an array and keep the array."""
        array = np.ascontiguousarray(array)
        self._arrays.append(array)
        self._slots[slot] = array.ctypes.data


def matched_strings(vocabulary: Vocabulary) -> StringTable:
    """Bytes of each token as they stand in a normalized text; none for tokens that are never found in one.

    Tokens of single bytes are not found in a text: they spell what no token spells.
    """
    data = vocabulary.encoder
    source = vocabulary.tokens if data.escape_whitespaces else vocabulary.texts
    is_hidden = (vocabulary.types == TokenType.BYTE) | misspelled(vocabulary)
    is_hidden[vocabulary.special_ids] = True
    return without(source, is_hidden)


def user_defined_strings(vocabulary: Vocabulary, source: StringTable) -> StringTable:
    """The strings of `source`, one for each token, that belong to user-defined tokens."""
    return without(source, vocabulary.types != TokenType.USER_DEFINED)


def without(strings: StringTable, is_hidden: np.ndarray) -> StringTable:
    """The same strings, the hidden ones empty."""
    lengths = np.diff(strings.offsets)
    data = strings.data[np.repeat(~is_hidden, lengths)]
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(np.where(is_hidden, 0, lengths), out=offsets[1:])
    return freeze(offsets, data)


def put_normalization(table: PieceTable, vocabulary: Vocabulary) -> None:
    """Fill the slots that the compiled `normalize` reads."""
    from ..kernels.encoders import charsmap_rules
    from ..kernels.encoders.piece_slots import PieceSlot
    from ..kernels.machine import jit

    data = vocabulary.encoder
    is_plain = np.ones(128, np.uint8)
    is_plain[0] = 0
    if data.charsmap is not None:
        jit.make_ready("charsmap")
        units, replacements = (np.array(part) for part in data.charsmap)
        charsmap_rules.find_plain_bytes(units, is_plain)
        table.put(PieceSlot.N_UNITS, len(units))
        table.put_array(PieceSlot.UNITS, units)
        table.put_array(PieceSlot.REPLACEMENTS, replacements)
    if data.rules == "sentencepiece":
        users = user_defined_strings(vocabulary, vocabulary.texts)
        if len(users.data):
            is_plain[[byte for byte in (string[0] for string in users.strings() if string) if byte < 128]] = 0
            table.put_array(PieceSlot.USERS, build_double_array(users))
    table.put_array(PieceSlot.IS_PLAIN, is_plain)
    table.put(PieceSlot.ADDS_SPACE, data.add_space_prefix * (2 if data.space_prefix_once else 1))
    table.put(PieceSlot.SPACE_IS_SUFFIX, data.space_is_suffix)
    table.put(PieceSlot.REMOVES_SPACES, data.remove_extra_whitespaces)
    table.put(PieceSlot.ESCAPES_SPACES, data.escape_whitespaces)


def list_neighbours(tokens: StringTable) -> np.ndarray:
    """uint8[8192]: bit 256 * a + b is set when a token has byte b, which begins a character, right behind byte a."""
    first, second = tokens.data[:-1].astype(np.int64), tokens.data[1:]
    is_inside = (second & 0xC0) != 0x80
    starts = tokens.offsets[1:-1]
    is_inside[starts[(starts > 0) & (starts < len(tokens.data))] - 1] = False
    bits = np.zeros(65536, bool)
    bits[(first * 256 + second)[is_inside]] = True
    return np.packbits(bits, bitorder="little")


def byte_tokens(vocabulary: Vocabulary) -> np.ndarray | None:
    """int32[256]: the token of each single byte, None when a byte has none."""
    found = np.full(256, -1, np.int32)
    tokens = np.flatnonzero(vocabulary.types == TokenType.BYTE)[::-1]  # of several the first stays
    tokens = tokens[np.diff(vocabulary.tokens.offsets)[tokens] == 1]
    found[vocabulary.tokens.data[vocabulary.tokens.offsets[tokens]]] = tokens
    return None if (found < 0).any() else found
