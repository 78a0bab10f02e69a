"""The limits of a server's grammars: those for grammars of strangers, unless its environment asks for the wider ones.

In: the environment, which all processes of a server share. Out: `Limits`. Cost: none.
"""

from __future__ import annotations

import os

from ..errors import LlmaskError
from ..limits import Limits

LIMITS_VARIABLE = "LLMASK_LIMITS"
_NAMED = {"untrusted": Limits.for_untrusted, "default": Limits}


def limits_of_process() -> Limits:
    """What the environment says of limits.

    Raises
    ------
    LlmaskError : it names none.
    """
    name = os.environ.get(LIMITS_VARIABLE, "untrusted")
    if name not in _NAMED:
        raise LlmaskError(f'{LIMITS_VARIABLE} is "untrusted" or "default", not {name!r}', help="or leave it unset")
    return _NAMED[name]()
