"""Transcripts: what was read since the values that are being tracked began.

A run may remember the texts of values (uniqueItems), so the bytes of such a value are kept while it is read:

    transcript  node of a trie over symbols, 0 = nothing is tracked: (transcript before, symbol) -> transcript
    symbol      a byte, or VALUE_START + row where a tracked value begins in `row`, so that nested values find their
                own start: no later row inside the value is the same, as its kernel names this one as an origin

Bytes of the ignored lexeme are left out. Readers without the lock may follow transcripts: see interning.py.

In: a grammar's table, transcripts, symbols. Out: transcripts, texts. Cost: a known symbol 10 ns, a byte of a text 5 ns.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import map_get, map_key, map_put
from ..tables.memory import reserve, spend

NO_TRANSCRIPT = 0
VALUE_START = 256


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
def _last_symbol(grammar, transcript):
    return map_key(grammar.transcripts, transcript - 1) & 0xFFFFFFFF


@inline
def is_byte(grammar, transcript):
    """Whether the last symbol of a transcript is a byte, as 0 or 1."""
    return 1 if _last_symbol(grammar, transcript) < VALUE_START else 0


@inline
def transcript_before(grammar, transcript):
    """The transcript without its last symbol."""
    return map_key(grammar.transcripts, transcript - 1) >> 32


@inline
def value_start_before(grammar, transcript):
    """The newest transcript from this one on back that ends where a value starts, or NO_TRANSCRIPT."""
    while transcript != NO_TRANSCRIPT and _last_symbol(grammar, transcript) < VALUE_START:
        transcript = transcript_before(grammar, transcript)
    return transcript


@inline
def row_of_value_start(grammar, transcript):
    """The row of a transcript that ends where a value starts."""
    return _last_symbol(grammar, transcript) - VALUE_START


@kernel
def read_text(grammar, transcript, row):
    """Write the bytes since the newest value that started in `row` to `text`; returns how many."""
    n = 0
    start = transcript
    while start != NO_TRANSCRIPT:
        symbol = _last_symbol(grammar, start)
        if symbol == VALUE_START + row:
            break
        if symbol < VALUE_START:
            n += 1
        start = transcript_before(grammar, start)
    spend(grammar, 1 + n)
    text = reserve(grammar.text, n + 1)
    at = n
    while transcript != start:  # from the last byte to the first
        symbol = _last_symbol(grammar, transcript)
        if symbol < VALUE_START:
            at -= 1
            text[at] = symbol
        transcript = transcript_before(grammar, transcript)
    return n
