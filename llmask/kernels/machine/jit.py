"""How kernels are declared and made ready; compiled on this machine, as the package brought them, or interpreted.

Two decorators: `kernel` for helpers that only compiled code calls, `door` for entry points that Python calls. Where
`prebuilt` found a library, a door is the library's builtin function of that name, its body is never run, and numba is
not imported. Elsewhere `compiling` makes machine code with numba, or `interpreted` runs the bodies as they are.

In: functions. Out: compiled functions. Cost: prebuilt none; else see compiling.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .prebuilt import CHECK_BOUNDS, DOORS, INTERPRETED

__all__ = [
    "CHECK_BOUNDS",
    "PREBUILT",
    "door",
    "entry_point",
    "is_cached",
    "kernel",
    "make_everything_ready",
    "make_ready",
    "never_inline",
]

PREBUILT = DOORS is not None

if INTERPRETED:
    from .interpreted import door, entry_point, is_cached, kernel, make_everything_ready, make_ready, never_inline
elif DOORS is None:
    from .compiling import door, entry_point, is_cached, kernel, make_everything_ready, make_ready, never_inline
else:
    _doors: dict[str, Any] = DOORS

    def kernel(function: Callable[..., Any]) -> Any:
        """A helper that only compiled code calls."""
        return function

    def never_inline() -> None:
        """Nothing: no body is run."""

    def door(signature: str, group: str, holds_lock: bool = False) -> Callable[[Callable[..., Any]], Any]:
        """An entry point of compiled code."""

        def declare(function: Callable[..., Any]) -> Any:
            name = function.__name__
            if name not in _doors:
                raise LookupError(f"the prebuilt kernels have no door {name!r}; set LLMASK_PREBUILT=0 to compile it")
            return _doors[name]

        return declare

    def entry_point(door: Any) -> Callable[..., Any]:
        """The door itself: it is called as it is."""
        function: Callable[..., Any] = door
        return function

    def is_cached(group: str) -> bool:
        """True: there is nothing to compile."""
        return True

    def make_ready(group: str, announce: bool | None = None) -> None:
        """Do nothing: the doors are there."""

    def make_everything_ready() -> str:
        """Do nothing: all doors are there; returns where they come from, for people."""
        return "prebuilt, there is nothing to compile"
