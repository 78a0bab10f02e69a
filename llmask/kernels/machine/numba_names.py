"""What kernels need of numba's names when they are declared: the real ones, or stand-ins where numba compiles nothing.

Where doors are prebuilt no body is run, so whatever they name may be anything; only what a module says at its top is
looked at: signatures, external functions. Interpreted kernels find primitives by their names in interpreted.py.

In: nothing. Out: `types`, `ir`, `intrinsic`, `primitive`; `TABLE` and primitives of fields.py.
Cost: numba's import, or none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .prebuilt import DOORS, INTERPRETED

__all__ = ["TABLE", "intrinsic", "ir", "item_bytes", "loaded_again", "primitive", "types"]


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


def primitive(signature: str, name: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Declare an operation of the machine that numba lacks: a function of LLVM's builder and of values.

        @primitive("int64(int64, int64)")
        def wrapped_sum(builder, left, right):
            return builder.add(left, right)

    Parameters
    ----------
    signature : types of its result and its values: names of numba's, or "table".
    name : what kernels call it, where one function makes several.
    """
    result_name, _, given = signature.rstrip(")").partition("(")

    def declare(emit: Callable[..., Any]) -> Any:
        emit.__name__ = name or emit.__name__
        if DOORS is not None or INTERPRETED:
            return intrinsic(emit)
        result, *arguments = (
            TABLE if one == "table" else getattr(types, one) for one in (result_name, *given.split(", "))
        )

        def typed(typingctx: Any, *given: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                value = emit(builder, *args)
                return context.get_dummy_value() if result == types.void else value

            return result(*arguments), codegen

        typed.__name__, typed.__doc__ = emit.__name__, emit.__doc__
        typed.__signature__ = inspect.signature(emit)  # type: ignore[attr-defined]
        return intrinsic(typed)

    return declare
