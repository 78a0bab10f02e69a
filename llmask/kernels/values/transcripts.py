"""Transcripts: what was read since the values that are being tracked began.

A run may remember the texts of values (uniqueItems), so the bytes of such a value are kept while it is read:

    transcript  node of a trie over symbols, 0 = nothing is tracked: (transcript before, symbol) -> transcript
    symbol      a byte, or VALUE_START + row where a tracked value begins in `row`, so that nested values find their
                own start: no later row inside the value is the same, as its kernel names this one as an origin

Bytes of the ignored lexeme are left out. Readers without the lock may follow transcripts: see interning.py.

In: a grammar's table, transcripts, symbols. Out: transcripts, texts. Cost: a known symbol 10 ns, a byte of a text 5 ns.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import put
from ..tables.interning import map_get, map_key, map_put
from ..tables.memory import reserve, spend
from .json_values import list_begun

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
def with_value_start(grammar, transcript, row):
    """The transcript where a value starts in a row."""
    return transcript_with(grammar, transcript, VALUE_START + row)


@inline
def _last_symbol(grammar, transcript):
    return map_key(grammar.transcripts, transcript - 1) & 0xFFFFFFFF


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


@kernel
def list_open_starts(grammar, transcript):
    """List the starts of the tracked values that did not end, in `close_values`; returns how many, the innermost first.

    Of the first `n_near` no array or object goes on inside with more in it that began.
    """
    n = 0
    oldest = transcript
    start = value_start_before(grammar, transcript)
    while start != NO_TRANSCRIPT:
        n = put(reserve(grammar.close_values, n + 1), n, start)
        oldest = start
        start = value_start_before(grammar, transcript_before(grammar, start))
    grammar.n_near = n
    if grammar.is_json == 0 or n == 0:
        return n
    n_bytes = read_text(grammar, transcript, row_of_value_start(grammar, oldest))
    n_begun = list_begun(grammar, n_bytes)
    most_inside = n_begun - 2
    grammar.n_near = 0
    # positions of both go down, from the innermost value on
    n_listed = 0
    position = n_bytes
    at = transcript
    for k in range(n):
        start = grammar.close_values[k]
        while at != start:
            position -= 1 if _last_symbol(grammar, at) < VALUE_START else 0
            at = transcript_before(grammar, at)
        while n_begun > 0 and grammar.value_stack[n_begun - 1] > position:
            n_begun -= 1
        if position == n_bytes or (n_begun > 0 and grammar.value_stack[n_begun - 1] == position):
            n_listed = put(grammar.close_values, n_listed, start)
            if n_begun > most_inside:
                grammar.n_near = n_listed
    return n_listed
