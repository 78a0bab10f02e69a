"""What kernels need of numba's names when they are declared: the real ones, or stand-ins where numba compiles nothing.

Where doors are prebuilt no body is run, so whatever they name may be anything; only what a module says at its top is
looked at: signatures, external functions. Interpreted kernels have primitives in Python under the names of `intrinsic`,
which `named` gives to those that are made by the half-dozen.

In: nothing. Out: `types`, `ir`, `intrinsic`, `named`; `TABLE` and primitives of fields.py.
Cost: numba's import, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .prebuilt import DOORS, INTERPRETED

__all__ = ["TABLE", "intrinsic", "ir", "item_bytes", "lists_at", "loaded_again", "map_at", "named", "types"]


class _Nothing:
    """Has every attribute, takes every argument."""

    def __getattr__(self, name: str) -> _Nothing:
        return self

    def __call__(self, *given: Any, **named: Any) -> _Nothing:
        return self


_fields: Any = _Nothing()  # whose primitives look into tables by their names
intrinsic: Any
ir: Any
types: Any
if INTERPRETED:
    from . import interpreted

    intrinsic, ir, types = interpreted.intrinsic, _Nothing(), interpreted.types
    _fields = interpreted
elif DOORS is None:
    import llvmlite.ir
    import numba.extending

    from . import fields

    intrinsic, ir, types = numba.extending.intrinsic, llvmlite.ir, numba.types
    _fields = fields
else:
    intrinsic, ir, types = lambda function: function, _Nothing(), _Nothing()

TABLE = _fields.TABLE
item_bytes, loaded_again = _fields.item_bytes, _fields.loaded_again
lists_at, map_at = _fields.lists_at, _fields.map_at


def named(name: str) -> Callable[[Callable[..., Any]], Any]:
    """An intrinsic under another name than its function has."""

    def rename(function: Callable[..., Any]) -> Any:
        function.__name__ = name
        return intrinsic(function)

    return rename
