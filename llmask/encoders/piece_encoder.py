"""What the encoders of SentencePiece vocabularies have in common: one compiled call a text, in room that is kept.

A line of source takes the compiled code less than a microsecond, so a call must not cost more: the text goes over as
an address, the ids come back through a view of the room, and the room (the normalized text, the state of the search,
words that are remembered) stays for the next call. A thread takes a room from the list, or makes one, and puts it back:
there are as many as threads that ever encoded at the same time. Large rooms are not kept.

In: a vocabulary, text. Out: token ids. Cost: 1 us a call, beside what the compiled code takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

from ..errors import VocabularyError
from ..forks import cached_property
from ..vocabulary.vocabulary import Vocabulary
from .pieces import PieceTable, capacities
from .tables import CONTENTS, SHORT_LIST, UNSPELLED, IntegerList, address_of

FIRST_CAPACITY = 1 << 13  # bytes of normalized text in a new room: 270 KB in all, and 1 MB for words
CACHE_LINE = 64  # bytes
KEPT_CAPACITY = 1 << 16  # larger rooms are given back after the call
Door = Callable[[int, int, int, int], int]


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
        """Make room for normalized texts of so many bytes; words that are remembered stay."""
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

    @abstractmethod
    def _make_table(self) -> PieceTable:
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


def _make_run(door: Door, table: PieceTable, rooms: list[Room], integers: IntegerList) -> Callable[[str], list[int]]:
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


def _enlarge(door: Door, table: PieceTable, room: Room, data: bytes) -> int:
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
