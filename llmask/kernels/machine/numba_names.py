"""What kernels need of numba's names when they are declared: the real ones, or nothing where doors are prebuilt.

Bodies of kernels and of intrinsics are not run then, so whatever they name may be anything; only what a module says at
its top is looked at: signatures, external functions.

In: nothing. Out: `types`, `ir`, `intrinsic`. Cost: numba's import, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .prebuilt import DOORS

__all__ = ["intrinsic", "ir", "types"]

if DOORS is None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic
else:

    class _Nothing:
        """Has every attribute, takes every argument."""

        def __getattr__(self, name: str) -> _Nothing:
            return self

        def __call__(self, *given: Any, **named: Any) -> _Nothing:
            return self

    ir = types = _Nothing()

    def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that only compiled code calls."""
        return function
