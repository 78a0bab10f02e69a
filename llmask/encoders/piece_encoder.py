"""SentencePiece vocabularies as their encoders share them: tokens as they are in normalized text, and normalization.

`Normalizer` is the normalization by itself, for encoders that match tokens without the model: blanks put before a text,
doubled ones removed, characters replaced, as the vocabulary says.

`PieceEncoder` makes one compiled call a text, in room that is kept. A line of source takes the compiled code less than
a microsecond, so a call must not cost more: the text goes over as an address, the ids come back through a view of the
room, and the room (the normalized text, the state of the search, words that are remembered) stays for the next call. A
thread takes a room from the list, or makes one, and puts it back: there are as many as threads that ever encoded at the
same time. Large rooms are not kept.

In: a vocabulary, text. Out: tables for `llmask/kernels`, token ids. Cost: 0.1 s for 250,000 tokens; to normalize a text
1 us and 2 ns a byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any

import numpy as np

from llmask.encoders.tables import (
    CONTENTS,
    SHORT_LIST,
    UNSPELLED,
    IntegerList,
    SlotTable,
    address_of,
    build_double_array,
    misspelled,
)
from llmask.errors import VocabularyError
from llmask.forks import cached_property
from llmask.vocabulary.strings import StringTable, freeze
from llmask.vocabulary.vocabulary import TokenType, Vocabulary

MAX_TEXT_BYTES = 2**28  # positions are int32, and normalization may lengthen a text
MAX_CAPACITY = 2**30
MAX_GROWTH = 32  # NFKC makes a text at most 11 times as long
MIN_LONG_BYTES = 1 << 20  # short texts may grow to so much
FIRST_CAPACITY = 1 << 13  # bytes of normalized text in a new room: 270 KB in all, and 1 MB for words
CACHE_LINE = 64  # bytes
KEPT_CAPACITY = 1 << 16  # larger rooms are given back after the call
Door = Callable[[int, int, int, int], int]


def matched_strings(vocabulary: Vocabulary) -> StringTable:
    """Bytes of each token as a normalized text spells it; none for tokens that are never found in one.

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


def put_normalization(table: SlotTable, vocabulary: Vocabulary) -> None:
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
        table.put_number(PieceSlot.N_UNITS, len(units))
        table.put(PieceSlot.UNITS, units)
        table.put(PieceSlot.REPLACEMENTS, replacements)
    if data.rules == "sentencepiece":
        users = user_defined_strings(vocabulary, vocabulary.texts)
        if len(users.data):
            is_plain[[byte for byte in (string[0] for string in users.strings() if string) if byte < 128]] = 0
            table.put(PieceSlot.USERS, build_double_array(users))
    table.put(PieceSlot.IS_PLAIN, is_plain)
    table.put_number(PieceSlot.ADDS_SPACE, data.add_space_prefix * (2 if data.space_prefix_once else 1))
    table.put_number(PieceSlot.SPACE_IS_SUFFIX, data.space_is_suffix)
    table.put_number(PieceSlot.REMOVES_SPACES, data.remove_extra_whitespaces)
    table.put_number(PieceSlot.ESCAPES_SPACES, data.escape_whitespaces)


def list_neighbours(tokens: StringTable) -> np.ndarray:
    """uint8[8192]: bit 256 * a + b is set when a token has byte b, which begins a character, right after byte a."""
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


def capacities(n_bytes: int) -> Iterator[int]:
    """Capacities to try for the normalized form of a text of `n_bytes`, one after the other.

    Raises
    ------
    VocabularyError : the text is too long, or none of them sufficed.
    """
    from ..kernels.encoders.charsmap_rules import MAX_REPLACEMENT_BYTES

    if n_bytes > MAX_TEXT_BYTES:
        raise VocabularyError(f"the text has {n_bytes} bytes, the limit is {MAX_TEXT_BYTES}", help="encode it in parts")
    capacity = n_bytes + n_bytes // 8 + 2 * MAX_REPLACEMENT_BYTES
    yield capacity
    while capacity <= max(MAX_GROWTH * n_bytes, MIN_LONG_BYTES) and 2 * capacity <= MAX_CAPACITY:
        capacity *= 2
        yield capacity
    raise VocabularyError(
        f"the character map makes the text more than {MAX_GROWTH} times as long", help="encode it in parts"
    )


class Normalizer:
    """What an SPM or UGM vocabulary makes of a text before it is cut into tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own table: addresses mean nothing elsewhere."""
        return Normalizer, (self._vocabulary,)

    @cached_property
    def _table(self) -> SlotTable:
        from ..kernels.encoders.piece_slots import N_PIECE_SLOTS
        from ..kernels.machine import jit

        jit.make_ready("charsmap")
        table = SlotTable(N_PIECE_SLOTS)
        put_normalization(table, self._vocabulary)
        return table

    def __call__(self, data: bytes) -> bytes:
        """The normalized text; `data` is UTF-8.

        Raises
        ------
        VocabularyError : the text is too long, or would be.
        """
        from ..kernels.encoders.charsmap_rules import normalize_text

        table = self._table
        for capacity in capacities(len(data)):
            out = np.empty(capacity, np.uint8)
            length = normalize_text(table.address, address_of(data), len(data), out.ctypes.data, capacity)
            if length >= 0:
                return out[:length].tobytes()
        raise AssertionError("capacities end with an error")


class Room:
    """Memory of one call at a time; the slots are in `llmask/kernels/encoders/piece_slots.py`.

    Attributes
    ----------
    address : of the slots; what doors take.
    capacity : bytes of the longest normalized text.
    ids : int32, where the result lies.
    """

    def __init__(self) -> None:
        from ..kernels.encoders.piece_slots import N_ROOM_SLOTS, RoomSlot
        from ..kernels.encoders.unigram_words import STATES_BYTES, WORDS_BYTES

        self._slots = np.zeros(N_ROOM_SLOTS, np.int64)
        self.address: int = self._slots.ctypes.data
        self._words = np.zeros(WORDS_BYTES + STATES_BYTES + CACHE_LINE, np.uint8)
        self._slots[RoomSlot.WORDS] = (self._words.ctypes.data + CACHE_LINE - 1) & -CACHE_LINE
        self.resize(FIRST_CAPACITY)

    def resize(self, capacity: int) -> None:
        """Make room for normalized texts of `capacity` bytes; words that are remembered stay."""
        from ..kernels.encoders.piece_slots import RECORD_BYTES, RoomSlot

        self.capacity = capacity
        ids = np.empty(3 * capacity + 1, np.int32)
        self._arrays: dict[int, np.ndarray] = {
            RoomSlot.NORMAL: np.empty(capacity, np.uint8),
            RoomSlot.RECORDS: np.zeros((capacity + 1) * RECORD_BYTES, np.uint8),
            RoomSlot.PATH: np.empty(capacity + 1, np.int32),
            RoomSlot.IDS: ids,
        }
        self.ids = memoryview(ids)  # type: ignore[arg-type] # older NumPy does not declare the buffer
        self._slots[RoomSlot.CAPACITY] = capacity
        for slot, array in self._arrays.items():
            self._slots[slot] = array.ctypes.data


class PieceEncoder(ABC):
    """Encoder of one vocabulary of SentencePiece.

    Parameters
    ----------
    vocabulary : of the kind that the subclass is for.
    """

    name: str

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._rooms: list[Room] = []  # that no call works in

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own tables: addresses mean nothing elsewhere."""
        return type(self), (self._vocabulary,)

    def _begin_table(self, strings: StringTable) -> SlotTable:
        """The table with what both kinds read; `strings` are the tokens as a normalized text spells them."""
        from ..kernels.encoders.piece_slots import N_PIECE_SLOTS, PieceSlot

        vocabulary = self._vocabulary
        table = SlotTable(N_PIECE_SLOTS)
        put_normalization(table, vocabulary)
        table.put(PieceSlot.NEIGHBOURS, list_neighbours(strings))
        table.put_number(PieceSlot.UNKNOWN_ID, vocabulary.encoder.unknown_id)
        table.put_number(PieceSlot.STOPS_AT_SPACES, vocabulary.encoder.stops_at_spaces)
        spelled = byte_tokens(vocabulary)
        if spelled is not None:
            table.put(PieceSlot.BYTE_TOKENS, spelled)
        return table

    @abstractmethod
    def _make_table(self) -> SlotTable:
        """The table of the compiled code."""

    @abstractmethod
    def _find_door(self) -> Door:
        """The compiled call, ready: addresses of table, room and text, bytes of the text; gives the number of ids."""

    @cached_property
    def encode(self) -> Callable[[str], list[int]]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a character that no token spells, in a vocabulary without a token for the unknown; the text
            is too long, or normalization makes it so.
        UnicodeEncodeError : a lone surrogate.
        """
        return self._make_encode()

    def _make_encode(self) -> Callable[[str], list[int]]:
        integers = IntegerList(self._vocabulary.tokens.n_strings)
        run = _make_run(self._find_door(), self._make_table(), self._rooms, integers)
        return run if self._vocabulary.encoder.unknown_id >= 0 else _refusing(run)


# Functions that know nothing of the encoder: looking up attributes would take a tenth of a call, and an encoder that a
# function of its own refers to would live, with all its tables, until garbage is collected.


def _make_run(door: Door, table: SlotTable, rooms: list[Room], integers: IntegerList) -> Callable[[str], list[int]]:
    """The function from a text to its ids, -1 for a character that no token spells."""
    address = table.address
    unpack = [Struct(f"={n}i").unpack_from for n in range(SHORT_LIST + 1)]

    def run(text: str) -> list[int]:
        data = text.encode()
        try:
            room = rooms.pop()
        except IndexError:
            room = Room()
        n_ids = door(address, room.address, id(data) + CONTENTS, len(data))
        if 0 <= n_ids <= SHORT_LIST:
            ids = [*unpack[n_ids](room.ids)]  # two thirds of the time of a slice and its list
        else:
            if n_ids < 0:
                n_ids = _enlarge(door, table, room, data)  # naming the table here keeps its arrays alive
            ids = integers.listed(np.frombuffer(room.ids, np.int32, n_ids))
            if room.capacity > KEPT_CAPACITY:
                room.resize(FIRST_CAPACITY)
        rooms.append(room)
        return ids

    return run


def _enlarge(door: Door, table: SlotTable, room: Room, data: bytes) -> int:
    """Number of ids of a text that the room was too small for."""
    for capacity in capacities(len(data)):
        room.resize(capacity)
        n_ids = door(table.address, room.address, address_of(data), len(data))
        if n_ids >= 0:
            return n_ids
    raise AssertionError("capacities end with an error")


def _refusing(run: Callable[[str], list[int]]) -> Callable[[str], list[int]]:
    """As `run`, with an error in place of -1."""

    def encode(text: str) -> list[int]:
        ids = run(text)
        if -1 not in ids:
            return ids
        place = next((place for place, character in enumerate(text) if -1 in run(character)), None)
        if place is None:
            raise VocabularyError("no token spells a character of the text, so it cannot be encoded", help=UNSPELLED)
        raise VocabularyError(
            f"no token spells {text[place]!r}, so the text cannot be encoded",
            where=f"character {place} of the text",
            help=UNSPELLED,
        )

    return encode
