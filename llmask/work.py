"""Work: what compiling a grammar, and one step of a sequence, may take, counted in one unit of about a microsecond.

Seconds depend on the machine and on who else is on it; work depends on the input alone. Kernels count it in
`kernels/tables/memory.spend`, frontends with `spend` below: in every loop that input can make long. What a store has
already costs nothing, so a limit that is met on an empty store may not be met on a warm one, never the reverse.

    with metered(limits.max_compile_work, "max_compile_work"):
        ...                      # frontends spend, and every operation of the store (`Builder.run`) is charged

A meter belongs to the thread that began it. Without one a call of the store is bounded by `max_step_work` by itself.

In: units. Out: `LimitExceeded` when they are spent. Cost: 0.1 us a call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import sleep
from typing import TypeVar

from .errors import LimitExceeded

ENDLESS = 2**50
PART_WORK = 3000  # units after which an operation lets others in between
NAP = 0.0001  # seconds; a thread wakes up in half of it
PART_GROWTH = 4  # a part that repeats the last one is longer by the last one divided by this
Result = TypeVar("Result")


class Meter:
    """What is left of the work that one task may take; `with` counts that of a thread.

    Attributes
    ----------
    left : units left; below 0 when more were spent than there were.
    most : units at the beginning.
    limit : the field of `llmask.Limits` that it counts for.
    """

    __slots__ = ("left", "limit", "most", "outer")

    def __init__(self, most: int, limit: str) -> None:
        self.left = most
        self.most = most
        self.limit = limit

    def __enter__(self) -> Meter:
        self.outer, active.meter = active.meter, self
        return self

    def __exit__(self, *_: object) -> None:
        active.meter = self.outer

    @property
    def spent(self) -> int:
        """Units spent so far."""
        return self.most - self.left


metered = Meter  # in `with` it counts until the end of the block; an outer meter rests meanwhile


class _Active(threading.local):
    """The meter of each thread, if it is in `metered`."""

    meter: Meter | None = None


active = _Active()


def spend(n: int) -> None:
    """Charge this thread's meter, if it has one.

    Raises
    ------
    LimitExceeded : fewer than `n` units are left.
    """
    meter = active.meter
    if meter is not None:
        meter.left -= n
        if meter.left < 0:
            raise work_exceeded(meter.limit, meter.most)


@contextmanager
def share(part: int) -> Iterator[None]:
    """Let the block spend at most what this thread's meter began with, divided by `part`, and no more than is left."""
    outer = active.meter
    if outer is None:
        yield
        return
    with metered(max(min(outer.most // part, outer.left), 0), outer.limit) as meter:
        try:
            yield
        finally:
            outer.left -= meter.spent


def in_parts(act: Callable[[], Result], progress: Callable[[], int] = int) -> Result:
    """Do something again and again, each time with a little more work, until it comes to its end.

    An operation of the store has the lock until it ends. One that remembers what it finds on the way can stop after
    PART_WORK, so that others take their steps, and find most of its way known when it begins again. What it repeats is
    charged, too: with parts that grow, about as much again at most.

    Parameters
    ----------
    act : what is done.
    progress : how far it is, where it goes on from its last place: parts that change that need not grow.

    Raises
    ------
    LimitExceeded : a limit that is not that of a part.
    """
    outer, part, before = active.meter, PART_WORK, progress()
    while outer is not None and part < outer.left:
        active.meter = meter = Meter(part, outer.limit)
        try:
            return act()
        except LimitExceeded:
            if meter.left >= 0:
                raise
        finally:
            active.meter = outer
            outer.left -= meter.spent
        here = progress()
        if here == before:
            part += part // PART_GROWTH
        before = here
        let_others_in()
    return act()


def let_others_in() -> None:
    """Sleep for a moment between two operations that belong together.

    Whoever opens a lock and takes it again at once is faster than a thread that has to wake up first: a step waited for
    eight parts of one test, 122 ms. A lock that hands itself over in a queue would serve, too, but a thread that forks
    while it holds it would wait for itself.
    """
    sleep(NAP)


def unmetered() -> AbstractContextManager[Meter]:
    """Bound nothing until the end of the block: what is done once for all grammars is charged to none of them."""
    return metered(ENDLESS, "max_compile_work")


def work_exceeded(limit: str, most: int) -> LimitExceeded:
    """The error of a meter that is empty."""
    what = "compiling this takes" if limit == "max_compile_work" else "one step takes"
    return LimitExceeded(
        f"{what} more than {most} units of work (limits.{limit}; a unit is about a microsecond)",
        help="simplify the grammar (shorter repetitions, fewer alternatives that multiply) or raise the limit",
    )
