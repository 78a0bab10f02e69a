"""Threads that help to write a batch of known masks, and stay awake for a moment in case the next one follows.

In: arrays of a batch. Out: its masks are written. Cost: 2 us a call; a sleeping thread joins about 40 us late.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import numpy as np

from ..forks import OfProcess
from ..kernels import engine
from ..kernels.mask import batch

LOOKS = 300_000  # about 0.2 ms awake after a batch, as runtimes for parallel loops do


class _Helpers:
    """The helping threads of this process."""

    def __init__(self) -> None:
        self.address = engine.new_control()
        self.in_use = threading.Lock()  # one batch at a time is shared; others are written by their callers alone
        self.calls: SimpleQueue[None] = SimpleQueue()
        self.n_threads = 0
        self.n_awake = 0
        self.counting = threading.Lock()

    def wake(self, n: int) -> None:
        """See to it that `n` threads are awake or about to be; they end with the process."""
        while self.n_threads < n:
            threading.Thread(target=self._serve, name=f"llmask-{self.n_threads}", daemon=True).start()
            self.n_threads += 1
        with self.counting:
            asleep = n - self.n_awake
            self.n_awake = max(self.n_awake, n)
        for _ in range(asleep):
            self.calls.put(None)

    def _serve(self) -> None:
        while True:
            self.calls.get()
            engine.help_with_masks(self.address, LOOKS)
            with self.counting:
                self.n_awake -= 1


_helpers = OfProcess(_Helpers)


def fill_together(cells: Any, rows: Any, mask: Any, statuses: Any, n_threads: int) -> None:
    """Write the known masks of a batch in up to `n_threads` threads, the calling one included.

    Parameters
    ----------
    cells : int64[n], addresses of matchers' cells.
    rows : int64[n], the row of each.
    mask : int32[n_rows, row_words].
    statuses : int8[n], gets what `engine.fill_mask` returns.
    """
    if n_threads > 1:
        helpers = _helpers.get()
        if helpers.in_use.acquire(blocking=False):
            try:
                helpers.wake(n_threads - 1)
                engine.fill_masks(helpers.address, cells, rows, mask, statuses, n_threads - 1)
            finally:
                helpers.in_use.release()
            return
    control = np.zeros(batch.CONTROL_FIELDS, np.int64)
    engine.fill_masks(control.ctypes.data, cells, rows, mask, statuses, 0)
