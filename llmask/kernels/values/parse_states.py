"""Parse states: what the parser knows of a text. A row; where a value is tracked, a row with a transcript.

Numbers from FIRST_TRACKED on are entries of `parse_states`, (row, transcript). Rows stay shared, as they do not know
the transcript: a row says whether a tracked value begins or goes on there (parser/rows.py), and where none does, the
parse state is the row's own number and costs nothing.

In: a grammar's table, parse states, bytes. Out: parse states. Cost: nothing in rows; a known byte of a value 0.1 us.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, map_get, map_key, map_put
from ..tables.memory import LIMIT_BYTES, exceed
from .transcripts import NO_TRANSCRIPT, transcript_with

FIRST_TRACKED = 1 << 30
MOST_ROWS = 1 << 29  # rows are smaller; the bit between is a flag of parser/tracked_goto.py


@inline
def row_of(grammar, parse_state):
    if parse_state < FIRST_TRACKED:
        return parse_state
    return map_key(grammar.parse_states, parse_state - FIRST_TRACKED) >> 32


@inline
def transcript_of(grammar, parse_state):
    if parse_state < FIRST_TRACKED:
        return NO_TRANSCRIPT
    return map_key(grammar.parse_states, parse_state - FIRST_TRACKED) & 0xFFFFFFFF


@kernel
def parse_state_of(grammar, row, transcript):
    """The parse state of a row with a transcript that is not NO_TRANSCRIPT."""
    key = (row << 32) | transcript
    known = map_get(grammar.parse_states, key)
    if known >= 0:
        return known
    fresh = FIRST_TRACKED + grammar.parse_states.count
    if fresh == 2**31 - 1:
        exceed(grammar, LIMIT_BYTES)
        return known
    map_put(grammar.parse_states, key, fresh)
    return fresh


@inline
def is_left_out(store, grammar, state):
    """Whether a byte that led to a lexer state certainly belongs to the ignored lexeme."""
    return grammar.ignored != 0 and store.states[state].single == grammar.ignored


@kernel
def parse_state_after(store, grammar, parse_state, byte, state):
    """The parse state, one from FIRST_TRACKED on, after a byte that led to a lexer state."""
    if is_left_out(store, grammar, state):
        return parse_state
    transcript = transcript_with(grammar, transcript_of(grammar, parse_state), byte)
    return parse_state_of(grammar, row_of(grammar, parse_state), transcript)


@kernel
def known_parse_state_after(store, grammar, parse_state, byte, state):
    """As `parse_state_after`, reading only, or MISSING."""
    if is_left_out(store, grammar, state):
        return parse_state
    transcript = map_get(grammar.transcripts, (transcript_of(grammar, parse_state) << 32) | byte)
    if transcript < 0:
        return MISSING
    return map_get(grammar.parse_states, (row_of(grammar, parse_state) << 32) | transcript)
