"""Parse states: what the parser knows of a text. A row; where a value is tracked, a row with a transcript.

A run may remember the texts of values (uniqueItems), so the bytes of such a value are kept while it is read:

    transcript   node of a trie over symbols, 0 = nothing is tracked: (transcript before, symbol) -> transcript
    symbol       a byte, or VALUE_START + row where a tracked value begins in `row`, so that nested values find their
                 own start: no later row inside the value is the same, as its kernel names this one as an origin;
                 or WHOLE + number of the text of a JSON value that ended, in place of its start and bytes

So an outer value, which is read again for every token, grows by its members, not by what is in them. Bytes of the
ignored lexeme are left out. Parse states from FIRST_TRACKED on are entries of `parse_states`, (row, transcript). Rows
stay shared, as they do not know the transcript: a row says whether a tracked value begins or goes on there
(parser/rows.py), and where none does, the parse state is the row's own number and costs nothing. Readers without the
lock may follow both: see interning.py.

In: a grammar's table, parse states, bytes. Out: parse states, texts. Cost: nothing in rows; a known byte of a value
0.1 us, a symbol of a text 5 ns.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import put
from ..tables.interning import MISSING, map_get, map_key, map_put
from ..tables.memory import LIMIT_BYTES, exceed, reserve, spend
from .json_values import WHOLE

NO_TRANSCRIPT = 0
VALUE_START = 256
FIRST_TRACKED = 1 << 30
MOST_ROWS = 1 << 29  # rows are smaller; the bit between is a flag of parser/tracked_goto.py


@kernel
def transcript_with(grammar, transcript, symbol):
    """The transcript with one more symbol."""
    key = (transcript << 32) | symbol
    known = map_get(grammar.transcripts, key)
    if known >= 0:
        return known
    fresh = grammar.transcripts.count + 1
    map_put(grammar.transcripts, key, fresh)
    return fresh


@inline
def with_value_start(grammar, transcript, row):
    """The transcript where a value starts in a row."""
    return transcript_with(grammar, transcript, VALUE_START + row)


@kernel
def with_value(grammar, transcript, row, text):
    """The transcript in which the JSON value that began in `row` and ends is one symbol."""
    start = transcript if grammar.is_json != 0 else NO_TRANSCRIPT
    while start != NO_TRANSCRIPT and _last_symbol(grammar, start) != VALUE_START + row:
        start = transcript_before(grammar, start)
    if start == NO_TRANSCRIPT:
        return transcript
    return transcript_with(grammar, transcript_before(grammar, start), WHOLE + text)


@inline
def _last_symbol(grammar, transcript):
    return map_key(grammar.transcripts, transcript - 1) & 0xFFFFFFFF


@inline
def _is_read(symbol):
    """Whether a symbol belongs to the text: a byte, or a value."""
    return symbol < VALUE_START or symbol >= WHOLE


@inline
def transcript_before(grammar, transcript):
    """The transcript without its last symbol."""
    return map_key(grammar.transcripts, transcript - 1) >> 32


@inline
def value_start_before(grammar, transcript):
    """The newest transcript from this one on back that ends where a value starts, or NO_TRANSCRIPT."""
    while transcript != NO_TRANSCRIPT and _is_read(_last_symbol(grammar, transcript)):
        transcript = transcript_before(grammar, transcript)
    return transcript


@inline
def row_of_value_start(grammar, transcript):
    """The row of a transcript that ends where a value starts."""
    return _last_symbol(grammar, transcript) - VALUE_START


@kernel
def read_text(grammar, transcript, row):
    """Write the symbols since the newest value that started in `row` to `text`; returns how many."""
    n = 0
    start = transcript
    while start != NO_TRANSCRIPT:
        symbol = _last_symbol(grammar, start)
        if symbol == VALUE_START + row:
            break
        if _is_read(symbol):
            n += 1
        start = transcript_before(grammar, start)
    spend(grammar, 1 + n)
    text = reserve(grammar.text, n + 1)
    at = n
    while transcript != start:  # from the last symbol to the first
        symbol = _last_symbol(grammar, transcript)
        if _is_read(symbol):
            at -= 1
            text[at] = symbol
        transcript = transcript_before(grammar, transcript)
    return n


@kernel
def list_starts(grammar, transcript):
    """List where tracked values start, in `close_values`, the innermost first; returns how many.

    Of JSON they are those that have not ended: in place of the others is their number.
    """
    n = 0
    start = value_start_before(grammar, transcript)
    while start != NO_TRANSCRIPT:
        n = put(reserve(grammar.close_values, n + 1), n, start)
        start = value_start_before(grammar, transcript_before(grammar, start))
    return n


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
