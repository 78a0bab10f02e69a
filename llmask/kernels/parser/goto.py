"""Steps from parse state to parse state: the parser takes a lexeme. They are a pure function, and remembered.

In: tables, a parse state, a set of lexemes. Out: parse states. Cost: a known step 10 ns, else that of earley_step.py.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import has_stopped
from .earley_step import row_after
from .rows import NO_PARSE_STATE
from .tracked_goto import tracked_goto


@inline
def known_goto(store, grammar, parse_state, scanned):
    """Parse state after the lexemes of set `scanned`, NO_PARSE_STATE or MISSING. Reads only."""
    if scanned == grammar.ignored:
        return parse_state
    return map_get(grammar.goto, (parse_state << 32) | scanned)


@kernel
def goto(store, grammar, parse_state, scanned):
    """Parse state after the lexemes of set `scanned` (at least one of them is expected), or NO_PARSE_STATE."""
    known = known_goto(store, grammar, parse_state, scanned)
    if known != MISSING:
        return known
    if grammar.tracks_values != 0:
        return tracked_goto(store, grammar, parse_state, scanned)
    target = row_after(store, grammar, parse_state, scanned)
    if has_stopped(store, grammar):
        return NO_PARSE_STATE
    map_put(grammar.goto, (parse_state << 32) | scanned, target)
    return target
