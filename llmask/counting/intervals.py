"""Numbers of tokens of parts of one text.

What is noted beside each byte of the text says `llmask/kernels/encoders/bpe_intervals.py`.

In: a tokenizer, a text. Out: counts of `text[start:end]`. Cost: 0.3 us a byte once, 24 bytes of memory for a byte of
the text; then 0.6 us a count, more at a border inside of a word of more than 64 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import as_integer, check_type
from ..encoders.bpe import BpeEncoder
from ..encoders.tables import address_of
from ..errors import VocabularyError
from ..tokenizer.tokenizer import Tokenizer
from .final_words import ROW_WIDTH
from .growing import as_bytes, check_tokenizer

STEP_BYTES = 512


class IntervalCounter:
    """Numbers of tokens of parts of one text, each as if the part stood alone.

    Parameters
    ----------
    tokenizer : whose tokens are counted.
    text : indexed by characters, as Python does.

    Raises
    ------
    VocabularyError : not a string, lone surrogates, no tokens spell the text, or it has 2 GiB.

    Examples
    --------
    >>> tok = Tokenizer.default()
    >>> counter = IntervalCounter(tok, "What a wonderful world")
    >>> counter.count(5, 16) == tok.count("a wonderful")
    True
    """

    def __init__(self, tokenizer: Tokenizer, text: str) -> None:
        self._encoder = check_tokenizer(tokenizer)
        self._tokenizer = tokenizer
        check_type(text, str, "only strings are counted", "give a str; decode bytes first", VocabularyError)
        self._text = text
        self._n_characters = len(text)
        if self._encoder is None or tokenizer._parts.has_names(text):
            self._encoder = None
            tokenizer.count(text)
            return
        self._data = as_bytes(text, 0)
        self._encoder.count_bytes(self._data)  # raises where no tokens spell a byte
        self._note(self._encoder)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, is made anew: addresses mean nothing elsewhere."""
        return IntervalCounter, (self._tokenizer, self._text)

    def _note(self, encoder: BpeEncoder) -> None:
        from ..kernels.encoders.bpe_intervals import COUNTER
        from ..kernels.machine import jit

        tables, n_bytes = encoder.tables, len(self._data)
        rows = np.empty((n_bytes + 2, ROW_WIDTH), np.int32)  # memory is taken as they are written
        n_rows, end, step = 0, STEP_BYTES, STEP_BYTES
        # Where one pattern splits the words of another, the text is read as one that grows: what decides on a word is
        # near it then, and not at the end of the outer word.
        while len(encoder.patterns) > 1 and end < n_bytes:
            n_before = n_rows
            n_rows = tables.doors.measure_words(
                tables.address, address_of(self._data), end, 1, rows.ctypes.data, n_rows, len(rows)
            )
            step = 2 * step if n_rows == n_before else STEP_BYTES
            end += step
        n_rows = tables.doors.measure_words(
            tables.address, address_of(self._data), n_bytes, 0, rows.ctypes.data, n_rows, len(rows)
        )
        arrays = {
            "rows": rows[:n_rows].copy(),
            "begins": np.empty(n_bytes + 1, np.int64),
            "ends": np.empty(n_bytes + 1, np.int64),
        }
        if not self._text.isascii():
            is_first = np.frombuffer(self._data, np.uint8) & 0xC0 != 0x80
            arrays["offsets"] = np.append(np.flatnonzero(is_first), n_bytes)
        self._fields = np.zeros(COUNTER.n_fields, np.int64)
        self._address: int = self._fields.ctypes.data
        counter = COUNTER.at(self._address)
        counter.encoder, counter.text, counter.n_rows = tables.address, address_of(self._data), n_rows
        for name, array in arrays.items():
            setattr(counter, name, array.ctypes.data)
        self._arrays = arrays  # what lies at the addresses lives as long as this object
        tables.doors.note_places(self._address)
        self._count_interval = jit.entry_point(tables.doors.count_interval)

    def count(self, start: int, end: int) -> int:
        """Number of tokens of `text[start:end]`.

        Raises
        ------
        VocabularyError : not 0 <= start <= end <= len(text).
        LlmaskError : no integers.
        """
        if type(start) is not int or type(end) is not int:  # a call costs 0.6 us
            start, end = as_integer(start, "the start of a part"), as_integer(end, "the end of a part")
        if not 0 <= start <= end <= self._n_characters:
            raise VocabularyError(
                f"count({start}, {end}), but 0 <= start <= end <= {self._n_characters} is wanted",
                help="indices count characters from the beginning of the text",
            )
        if self._encoder is None:
            return self._tokenizer.count(self._text[start:end])
        found: int = self._count_interval(self._address, start, end)
        return found
