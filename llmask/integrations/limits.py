"""The compiler of a server: with limits for grammars of strangers, unless its environment asks for the wider ones.

In: the environment, which all processes of a server share. Out: `Limits`, a `Compiler`. Cost: that of a compiler.
"""

from __future__ import annotations

import logging
import os

from ..compiling.compiled_grammar import CompiledGrammar
from ..compiling.compiler import Compiler
from ..errors import LlmaskError, short
from ..limits import Limits
from ..tokenizer.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

LIMITS_VARIABLE = "LLMASK_LIMITS"
MOST_LOGGED = 5  # warnings of one grammar
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


def compiler_of_server(tokenizer: Tokenizer, limits: Limits | None = None) -> Compiler:
    """A compiler that logs the warnings of each new grammar, where nobody would see those of Python.

    Raises
    ------
    LlmaskError : `limits` is None, and the environment names none.
    """
    return Compiler(tokenizer, limits=limits or limits_of_process(), warm="documents", on_warnings=_log_warnings)


def _log_warnings(grammar: CompiledGrammar) -> None:
    said = grammar.warnings
    logger.info("a grammar compiles with %d warnings: %s", len(said), short("; ".join(said[:MOST_LOGGED])))
