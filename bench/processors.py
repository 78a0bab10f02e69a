"""What a second thread gains on this machine where threads share nothing: `python -m bench.processors`.

Two processors may be two threads of one core. A chain of dependent steps (SHA-256) then gains almost 2, while a loop
that keeps all units of the core busy gains almost nothing, and compiled code that is neither lies between.

In: nothing. Out: gains, between 1 and 2. Cost: two seconds.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

import numba

TEXT = b"x" * 10_000_000
N_STEPS = 10_000_000


@numba.njit("int64(int64)", nogil=True)
def _eight_sums(n: int) -> int:  # pragma: no cover: compiled
    a = b = c = d = e = f = g = h = 1
    for i in range(n):
        a = (a * 3) ^ i
        b = (b + i) ^ 5
        c = (c + 3) ^ i
        d = (d ^ i) + 7
        e = (e + i) ^ 9
        f = (f ^ i) + 1
        g = (g + 5) ^ i
        h = (h + i) ^ 2
    return a + b + c + d + e + f + g + h


def gain(job: Callable[[], object], repeat: int = 10) -> float:
    """Times that two threads do as much as one, each the best of `repeat`."""

    def elapsed(n_threads: int) -> float:
        threads = [threading.Thread(target=job) for _ in range(n_threads)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started

    one, two = (min(elapsed(n_threads) for _ in range(repeat)) for n_threads in (1, 2))
    return 2 * one / two


def gains() -> dict[str, float]:
    """Of a chain of dependent steps, and of a loop that keeps a core busy."""
    return {
        "SHA-256": gain(lambda: hashlib.sha256(TEXT).digest()),
        "eight sums at once": gain(lambda: _eight_sums(N_STEPS)),
    }


if __name__ == "__main__":
    for name, found in gains().items():
        print(f"{name}: two threads do {found:.2f} times as much as one")
