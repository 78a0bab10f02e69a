"""Threads that wait for work, so that a batch does not pay for starting them.

In: a function that shares out its own work. Out: it has run in every thread. Cost: about 10 us to wake a thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

_Task = tuple[Callable[[], object], "SimpleQueue[BaseException | None]"]
_tasks: SimpleQueue[_Task] = SimpleQueue()
_n_threads = 0
_lock = threading.Lock()


def run_together(work: Callable[[], object], n_threads: int) -> None:
    """Call `work` in `n_threads` threads at once, the calling one included, and wait for all of them.

    Raises
    ------
    Whatever one of the calls raised.
    """
    others = n_threads - 1
    if others == 0:
        work()
        return
    _start(others)
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    for _ in range(others):
        _tasks.put((work, done))
    try:
        work()
    finally:
        failures = [done.get() for _ in range(others)]
    for failure in failures:
        if failure is not None:
            raise failure


def _start(n_threads: int) -> None:
    """See to it that so many threads wait; they end with the process."""
    global _n_threads
    if _n_threads >= n_threads:
        return
    with _lock:
        while _n_threads < n_threads:
            threading.Thread(target=_serve, name=f"llmask-{_n_threads}", daemon=True).start()
            _n_threads += 1


def _serve() -> None:
    while True:
        work, done = _tasks.get()
        try:
            work()
        except BaseException as failure:
            done.put(failure)
        else:
            done.put(None)
        del work, done  # or the last batch's arrays would live until the next batch


def _forget_threads() -> None:
    """A forked child has none of its parent's threads."""
    global _n_threads, _tasks, _lock
    _n_threads = 0
    _tasks = SimpleQueue()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
