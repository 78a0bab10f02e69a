"""The lock of a store: threads get it in turn, and it notes how long they wait.

Only a thread that finds the lock closed reads the clock. What it waits for is the operation of another thread, a few
milliseconds of compiled code, and then its turn at the interpreter. An operation after that of the same thread has to
wait, too, when another thread is waiting: who opens the lock still runs, and would close it again before the other one
has woken up. And who opens it sleeps for a moment then (`let_in`): the other one would wait for the interpreter next,
five milliseconds more.

An interrupt may come between any two calls of Python, so the lock must be open again whatever happens: once `__enter__`
has returned that is the duty of `with`, whose other end is compiled code; before, its own.

In: threads. Out: how often and how long they waited. Cost: 0.1 us more than a lock of `threading`; compiling a median
schema takes it four times.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from time import perf_counter_ns, sleep
from typing import TYPE_CHECKING

from ..kernels import engine
from ..kernels.table import Table
from ..kernels.tables.store_layout import STORE
from ..kernels.tables.turns import FORKING
from ..work import NAP, let_others_in

if TYPE_CHECKING:
    from _thread import RLock
else:
    RLock = type(threading.RLock())


class Waits:
    """How threads waited for the locks of a compiler's stores, one after the other.

    Parameters
    ----------
    long_us : microseconds from which on a wait is long: what a step may take.

    Attributes
    ----------
    n, n_long : waits, and how many of them were long.
    longest_us : microseconds of the longest.
    """

    def __init__(self, long_us: int) -> None:
        self.long_us = long_us
        self.n = 0
        self.n_long = 0
        self.longest_us = 0

    def note(self, us: int) -> None:
        """Count a wait of `us` microseconds; by the thread that has the lock now."""
        self.n += 1
        self.n_long += us > self.long_us
        self.longest_us = max(self.longest_us, us)

    def statistics(self) -> dict[str, int]:
        """See `Compiler.statistics`."""
        return {"waits": self.n, "long_waits": self.n_long, "longest_wait_us": self.longest_us}


class StoreLock(RLock):  # type: ignore[misc]  # final says typeshed, it is not
    """A `threading.RLock` with `waits`: the thread that has it may take it again.

    Attributes
    ----------
    waits : what is noted.
    table : what is written under it, and by steps without it in turns (kernels/tables/turns.py).
    turn : held by the thread that gets the lock next.
    """

    waits: Waits
    table: Table

    def __init__(self) -> None:
        self.turn = threading.Lock()

    def hold(self) -> None:
        """Take it for a fork, and let no step of another thread build without it. A signal may fork once more."""
        self.acquire()
        while not engine.change_writer(self.table.address, 0, FORKING) and self.table.slots[STORE.writer] != FORKING:
            sleep(NAP)

    def let_go(self) -> None:
        """Undo `hold`, or what an interrupt let it do; a RuntimeError where that is nothing."""
        if self._is_owned():  # type: ignore[attr-defined]
            engine.change_writer(self.table.address, FORKING, 0)
        self.release()

    def after_fork(self) -> None:
        """Forget who waits: a forked child has none of those threads."""
        self.turn = threading.Lock()

    def let_in(self) -> None:
        """Let who waits for it have the interpreter, too, unless this thread has it still."""
        if not self._is_owned():  # type: ignore[attr-defined]
            let_others_in()

    def __enter__(self) -> bool:  # type: ignore[override]  # `with` gives no arguments
        comes_last = self.turn.locked() and not self._is_owned()  # type: ignore[attr-defined]
        try:
            if comes_last or not self.acquire(False):  # by position: naming it takes as long as the rest
                began = perf_counter_ns()
                with self.turn:
                    self.acquire()
                self.waits.note((perf_counter_ns() - began) // 1000)
        except BaseException:  # an interrupt: nobody else would open it
            with suppress(RuntimeError):  # it came before the lock was taken
                self.release()
            raise
        return True


def new_store_lock(table: Table, waits: Waits) -> StoreLock:
    """The lock of a store's table. (Some versions of Python take no arguments for a lock of this kind.)"""
    lock = StoreLock()
    lock.table, lock.waits = table, waits
    return lock
