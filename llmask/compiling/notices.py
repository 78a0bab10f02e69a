"""What is to be known of a new grammar, told to the one who compiled it: one warning of Python for each grammar.

`grammar.warnings` has the sentences. The warning says how many and where the first is, and no more of the schema:
Python keeps the text of every warning that it has shown, so that strangers' schemas could fill memory. For the same
reason no warning is given where limits are as tight as `Limits.for_untrusted()`.

In: a compiled grammar. Out: a warning at the caller's line. Cost: none without warnings, else some microseconds.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import GrammarNotice, GrammarWarning, level_outside, short
from ..limits import Limits

_PLACE = re.compile(r"#/?[^\s\"]*|line \d+, column \d+")


OnWarnings = Callable[[Any], object]  # called with a compiled grammar


def tell_of(grammar: Any, on_warnings: OnWarnings | None, limits: Limits, is_new: bool = True) -> None:
    """Tell what is to be known of a grammar that is compiled: to a function once, by Python to each who compiles it."""
    said, dead_ends = grammar._loaded.own_warnings, grammar._loaded.dead_ends
    if not (said or dead_ends):
        return
    if on_warnings is None:
        tell(said, dead_ends, limits)
    elif is_new:
        on_warnings(grammar)


def tell(said: Sequence[str], dead_ends: Sequence[str], limits: Limits) -> None:
    """Warn the caller of a grammar compiled within these limits.

    Parameters
    ----------
    said : what the frontend says; only its number and the first place are told.
    dead_ends : sentences about texts that may be written and begin no document, each told in full.
    """
    if limits.are_for_strangers:
        return
    if said:
        first = next((short(place[0]) for place in map(_PLACE.search, said) if place), None)
        where = "" if first is None else f" at {first}" if len(said) == 1 else f", the first at {first}"
        number = "a warning" if len(said) == 1 else f"{len(said)} warnings"
        text = f"the grammar compiles with {number}{where}: grammar.warnings and `llmask check` say what is meant"
        warnings.warn(text, GrammarNotice, stacklevel=level_outside())
    for sentence in dead_ends:
        warnings.warn(sentence, GrammarWarning, stacklevel=level_outside())
