"""The words of a text that grows at its end, as far as no further text can change them.

`llmask/kernels/bpe_incremental.py` says what a row holds. A rollback forgets the words that need more of the text than
is left.

In: an encoder, the address of a text. Out: the number of its tokens. Cost: 0.5 us a call and 50 ns a new byte.
"""

from __future__ import annotations

import numpy as np

from ..encoders.bpe import BpeEncoder

ROW_WIDTH = 4
END, NEEDED, TOTAL, RESTART = range(ROW_WIDTH)  # of a row, as in llmask/kernels/bpe_incremental.py
N_ROWS = 7  # number of rows in the state of llmask/kernels/bpe_append.py
FIRST_ROWS = 64


class FinalWords:
    """The final words of a text that grows at its end; what comes after them is counted anew each time."""

    def __init__(self, encoder: BpeEncoder) -> None:
        self._tables = encoder.tables
        self._rows = np.empty((FIRST_ROWS, ROW_WIDTH), np.int32)
        self._n_rows = 0  # the last of them ends where scanning may begin

    def count(self, text: int, n_bytes: int, _: np.ndarray) -> int:
        """Tokens of the text at an address, negative where a byte is no token."""
        tables = self._tables
        while True:
            rows = self._rows
            n_rows: int = tables.doors.measure_words(
                tables.address, text, n_bytes, 1, rows.ctypes.data, self._n_rows, len(rows)
            )
            if n_rows < 0:
                return n_rows
            if n_rows < len(rows) - 1:
                self._n_rows = n_rows
                return int(rows[n_rows, TOTAL])
            self._grow(2 * len(rows))

    def _grow(self, n_rows: int) -> None:
        rows = np.empty((n_rows, ROW_WIDTH), np.int32)
        rows[: self._n_rows] = self._rows[: self._n_rows]
        self._rows = rows

    def rollback(self, n_bytes: int) -> None:
        """Forget the words that more than the first `n_bytes` decided on."""
        n_rows = int(np.searchsorted(self._rows[: self._n_rows, NEEDED], n_bytes, side="right"))
        while n_rows > 0 and not self._rows[n_rows - 1, RESTART]:
            n_rows -= 1
        self._n_rows = n_rows


class RunningWord(FinalWords):
    """The same where one pattern splits and every byte is a token: a byte more is a step more, in a word of any length.

    After a rollback the last word is read again.
    """

    def __init__(self, encoder: BpeEncoder) -> None:
        super().__init__(encoder)
        from ..kernels import bpe_append

        self._state = np.zeros(bpe_append.STATE_SIZE, np.int64)
        self._running = np.empty((bpe_append.MAX_RUNNING, 2), np.int64)
        self._prefixes = np.empty(0, np.int64)
        self._start_row = encoder.splitter.n_classes + 1
        self._n_read, self._last = 0, 0
        self._restart(0, 0)
        self._set_addresses()

    def _set_addresses(self) -> None:
        arrays = (self._prefixes, self._running, self._rows)
        self._addresses = tuple(array.ctypes.data for array in arrays)
        self._state_address = self._state.ctypes.data

    def _restart(self, first: int, total: int) -> None:
        self._state[:] = first, total, self._start_row, first, first, first, 0, self._n_rows

    def count(self, text: int, n_bytes: int, counts: np.ndarray) -> int:
        """Tokens of the text at an address; `counts`: after every byte that is new."""
        if n_bytes == self._n_read:
            return self._last
        self._n_rows = self._state.item(N_ROWS)
        n_new = n_bytes - self._state.item(0)
        if self._n_rows + n_new >= len(self._rows) or n_bytes >= len(self._prefixes):
            self._grow(2 * (self._n_rows + n_new) + FIRST_ROWS)
            self._prefixes = np.append(self._prefixes, np.empty(n_bytes + 256, np.int64))
            self._set_addresses()
        self._last = self._tables.doors.append_bytes(
            self._tables.address, self._state_address, text, self._n_read, n_bytes, *self._addresses, counts
        )
        self._n_read = n_bytes
        return self._last

    def rollback(self, n_bytes: int) -> None:
        """Forget the words that more than the first `n_bytes` decided on."""
        self._n_rows = self._state.item(N_ROWS)
        n_before = self._n_rows
        super().rollback(n_bytes)
        if n_bytes < self._n_read or self._n_rows < n_before:
            end, total = (int(self._rows[self._n_rows - 1, i]) if self._n_rows else 0 for i in (END, TOTAL))
            self._restart(end, total)
            self._n_read, self._last = end, total
