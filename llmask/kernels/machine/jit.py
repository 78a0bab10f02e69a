"""How kernels are declared and made ready; compiled on this machine, as the package brought them, or interpreted.

    kernel   a helper that only kernels call
    inline   the same, a small one: its code may be copied to where it is called
    door     an entry point that Python calls

Where `prebuilt` found a library, a door is the library's builtin function of that name, its body is never run, and
numba is not imported. Elsewhere `compiling` makes machine code, or `interpreted` runs the bodies as they are.

In: functions. Out: compiled functions. Cost: prebuilt none; else see compiling.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .prebuilt import CHECK_BOUNDS, DOORS, INTERPRETED

__all__ = [
    "CHECK_BOUNDS", "PREBUILT", "door", "entry_point", "inline", "is_cached", "kernel", "make_everything_ready",
    "make_ready",
]  # fmt: skip

PREBUILT = DOORS is not None

if DOORS is None and not INTERPRETED:
    from .compiling import door, entry_point, inline, is_cached, kernel, make_everything_ready, make_ready
else:  # there is nothing to compile

    def kernel(function: Callable[..., Any]) -> Any:
        """A helper that only kernels call: the function itself."""
        return function

    inline = kernel

    def entry_point(door: Any) -> Callable[..., Any]:
        """The door itself: it is called as it is."""
        function: Callable[..., Any] = door
        return function

    def is_cached(group: str) -> bool:
        """True: nothing is missing."""
        return True

    def make_ready(group: str) -> None:
        """Do nothing: the doors are there."""

    def make_everything_ready() -> str:
        """Do nothing; returns how kernels run, for people."""
        return f"{'interpreted' if INTERPRETED else 'prebuilt'}, there is nothing to compile"

    if INTERPRETED:
        from .interpreted import door
    else:
        _doors: dict[str, Any] = DOORS or {}

        def door(signature: str, group: str, holds_lock: bool = False) -> Callable[[Callable[..., Any]], Any]:
            """An entry point of compiled code."""

            def declare(function: Callable[..., Any]) -> Any:
                name = function.__name__
                if name not in _doors:
                    raise LookupError(
                        f"the prebuilt kernels have no door {name!r}; set LLMASK_PREBUILT=0 to compile it"
                    )
                return _doors[name]

            return declare
