"""The normalization of a SentencePiece vocabulary by itself, for encoders that match tokens without its model.

In: bytes of a text. Out: bytes as tokens spell them: blanks put in front, doubled ones removed, characters replaced, as
the vocabulary says. Cost: 1 us a call and 2 ns a byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import VocabularyError
from ..forks import cached_property
from ..vocabulary.vocabulary import Vocabulary
from .pieces import PieceTable, put_normalization
from .tables import address_of

MAX_TEXT_BYTES = 2**28  # positions are int32, and normalization may lengthen a text
MAX_CAPACITY = 2**30
MAX_GROWTH = 32  # NFKC makes a text at most 11 times as long
MIN_LONG_BYTES = 1 << 20  # short texts may grow to so much


def capacities(n_bytes: int) -> Iterator[int]:
    """Room to try for the normalized text of so many bytes, one after the other.

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
    def _table(self) -> PieceTable:
        from ..kernels.encoders.piece_slots import N_PIECE_SLOTS
        from ..kernels.machine import jit

        jit.make_ready("charsmap")
        table = PieceTable(N_PIECE_SLOTS)
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
