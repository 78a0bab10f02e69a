"""The words of a text that grows at its end, as far as no further text can change them.

`llmask/kernels/encoders/bpe_incremental.py` says what a row holds, `llmask/kernels/encoders/bpe_append.py` how bytes
are taken in and what is remembered of the last, open words. A rollback forgets the words that need more of the text
than is left; what comes after them is read again.

In: an encoder, the address of a text. Out: the number of its tokens. Cost: 0.5 us a call and 10 to 100 ns a new byte.
"""

from __future__ import annotations

import numpy as np

from ..encoders.bpe import BpeEncoder

ROW_WIDTH = 4
END, NEEDED, TOTAL, RESTART = range(ROW_WIDTH)  # of a row, as in llmask/kernels/encoders/bpe_incremental.py
N_ROWS = 7  # in the STATE of llmask/kernels/encoders/bpe_append.py
N_KEPT = 9  # of the state; what follows numbers the tails that are remembered
FIRST_ROWS = 64


class FinalWords:
    """The final words of a text that grows at its end, and how far what follows them was read."""

    def __init__(self, encoder: BpeEncoder) -> None:
        from ..kernels.encoders import bpe_append

        self._tables = encoder.tables
        self._rows = np.empty((FIRST_ROWS, ROW_WIDTH), np.int32)
        # one pattern, and every byte a token: a byte more is a step more, in a word of any length
        self._is_stepwise = len(encoder.patterns) == 1 and bool((encoder.tables.byte_tokens >= 0).all())
        self._state = np.zeros(bpe_append.STATE.n_fields, np.int64)
        self._running = np.empty((bpe_append.MAX_RUNNING if self._is_stepwise else 0, 2), np.int64)
        self._memo = np.zeros(
            bpe_append.MEMO_SIZE + bpe_append.LINE_BYTES, np.uint8
        )  # memory is taken as it is written
        self._memo_address = (self._memo.ctypes.data + bpe_append.LINE_BYTES - 1) & -bpe_append.LINE_BYTES
        self._prefixes = np.empty(1 if self._is_stepwise else 0, np.int64)
        self._start_row = encoder.splitter.n_classes + 1
        self._begin_after(0)
        self._set_addresses()

    def _set_addresses(self) -> None:
        prefixes = self._prefixes.ctypes.data if self._is_stepwise else 0
        self._addresses = (prefixes, self._running.ctypes.data, self._rows.ctypes.data, self._memo_address)
        self._state_address = self._state.ctypes.data

    def _begin_after(self, n_rows: int) -> None:
        """Set the state to the one of a text that ends after the first `n_rows` rows."""
        self._n_rows = n_rows  # the last of them ends where scanning may begin
        end, total = (int(self._rows[n_rows - 1, i]) if n_rows else 0 for i in (END, TOTAL))
        self._n_read, self._last = end, total
        self._state[:N_KEPT] = end, total, self._start_row, end, end, end, 0, n_rows, 0

    def count(self, text: int, n_bytes: int, counts: np.ndarray) -> int:
        """Tokens of the text at an address, negative where a byte is no token; `counts`: after every new byte."""
        if n_bytes == self._n_read:
            return self._last
        self._n_rows = self._state.item(N_ROWS)
        n_new = n_bytes - self._state.item(0)
        if self._n_rows + n_new >= len(self._rows) or (self._is_stepwise and n_bytes >= len(self._prefixes)):
            self._grow(2 * (self._n_rows + n_new) + FIRST_ROWS, n_bytes)
        found: int = self._tables.doors.append_bytes(
            self._tables.address, self._state_address, text, self._n_read, n_bytes, *self._addresses, counts
        )
        if found < 0:  # the rows go as far as there were tokens
            self.rollback(self._n_read)
        else:
            self._n_read, self._last = n_bytes, found
        return found

    def _grow(self, n_rows: int, n_bytes: int) -> None:
        rows = np.empty((n_rows, ROW_WIDTH), np.int32)
        rows[: self._n_rows] = self._rows[: self._n_rows]
        self._rows = rows
        if self._is_stepwise:
            self._prefixes = np.append(self._prefixes, np.empty(n_bytes + 256, np.int64))
        self._set_addresses()

    def rollback(self, n_bytes: int) -> None:
        """Forget the words that more than the first `n_bytes` decided on."""
        needed = self._rows[: self._state.item(N_ROWS), NEEDED]
        self._begin_after(int(np.searchsorted(needed, n_bytes, side="right")))
