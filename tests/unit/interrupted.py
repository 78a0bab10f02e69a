"""KeyboardInterrupt at every place where Python may raise it, one after the other.

Python looks for interrupts when a function of Python begins and when one of C has returned; a profile function is told
of both, and what it raises comes up there.

In: something to do, from a fresh state each time. Out: each state that an interrupt has left. Cost: microseconds.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, TypeVar

State = TypeVar("State")


def interrupted(make: Callable[[], State], work: Callable[[State], Any]) -> Iterator[State]:
    """States in which `work` was interrupted, at its first place, its second, ...; until it ends undisturbed."""
    for number in count(1):
        state = make()
        left = number

        def interrupt(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal left
            if event in ("call", "c_return"):
                left -= 1
                if left == 0:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        gc.disable()  # its callbacks, hypothesis has one, would be interrupted instead
        sys.setprofile(interrupt)
        try:
            work(state)
        except KeyboardInterrupt:
            yield state
        else:
            sys.setprofile(None)
            return
        finally:
            sys.setprofile(None)
            gc.enable()
