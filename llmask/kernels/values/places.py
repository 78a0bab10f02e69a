"""Records: what was read since the values that are being tracked began.

A run may remember the texts of values (uniqueItems), so the bytes of such a value are kept while it is read:

    record     node of a trie over bytes and marks, 0 = nothing is recorded: RECORDS maps (record before, symbol) to it
    symbol     a byte, or ROW_MARK + row where a tracked value begins in `row`, so that nested values find their own
               beginning: no later row inside the value is the same, as its kernel names this one as an origin
    place      a row, or a row with a record: numbers from FIRST_PLACE on are entries of `places`, (row, record)

Rows stay shared: they do not know the record. A row says whether something is recorded there (parser/rows.py), and
where nothing is, the place is the row's own number and costs nothing. Bytes of the ignored lexeme are left out.

Readers without the lock may follow places: see interning.py.

In: a grammar's table, places, bytes. Out: places, texts. Cost: a known byte 0.1 us, nothing where nothing is recorded.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, map_get, map_key, map_put
from ..tables.memory import LIMIT_BYTES, exceed, reserve, spend

NO_RECORD = 0
ROW_MARK = 256
FIRST_PLACE = 1 << 30
MOST_ROWS = 1 << 29  # rows are smaller; the bit between is a flag of goto.py


@inline
def row_of(grammar, place):
    return place if place < FIRST_PLACE else map_key(grammar.places, place - FIRST_PLACE) >> 32


@inline
def record_of(grammar, place):
    return NO_RECORD if place < FIRST_PLACE else map_key(grammar.places, place - FIRST_PLACE) & 0xFFFFFFFF


@kernel
def record_with(grammar, record, symbol):
    """The record with one more symbol."""
    key = (record << 32) | symbol
    known = map_get(grammar.records, key)
    if known >= 0:
        return known
    fresh = grammar.records.count + 1
    map_put(grammar.records, key, fresh)
    return fresh


@kernel
def place_of(grammar, row, record):
    """The place of a row with a record that is not 0."""
    key = (row << 32) | record
    known = map_get(grammar.places, key)
    if known >= 0:
        return known
    fresh = FIRST_PLACE + grammar.places.count
    if fresh == 2**31 - 1:
        exceed(grammar, LIMIT_BYTES)
        return known
    map_put(grammar.places, key, fresh)
    return fresh


@inline
def is_left_out(store, grammar, state):
    """Whether a byte that led to a lexer state certainly belongs to the ignored lexeme."""
    return grammar.ignored != 0 and store.states[state].single == grammar.ignored


@kernel
def place_after(store, grammar, place, byte, state):
    """The place, one from FIRST_PLACE on, after a byte that led to a lexer state."""
    if is_left_out(store, grammar, state):
        return place
    return place_of(grammar, row_of(grammar, place), record_with(grammar, record_of(grammar, place), byte))


@kernel
def known_place_after(store, grammar, place, byte, state):
    """As `place_after`, reading only, or MISSING."""
    if is_left_out(store, grammar, state):
        return place
    record = map_get(grammar.records, (record_of(grammar, place) << 32) | byte)
    if record < 0:
        return MISSING
    return map_get(grammar.places, (row_of(grammar, place) << 32) | record)


@inline
def mark_before(grammar, record):
    """The newest record from `record` on back that ends with a mark, or NO_RECORD."""
    while record != NO_RECORD and map_key(grammar.records, record - 1) & 0xFFFFFFFF < ROW_MARK:
        record = map_key(grammar.records, record - 1) >> 32
    return record


@inline
def marked_row(grammar, record):
    """The row of a record that ends with a mark."""
    return (map_key(grammar.records, record - 1) & 0xFFFFFFFF) - ROW_MARK


@inline
def record_before(grammar, record):
    return map_key(grammar.records, record - 1) >> 32


@kernel
def read_text(grammar, record, row):
    """Write the bytes since the newest mark of `row` to `text`; returns how many."""
    n = 0
    at = record
    while at != NO_RECORD:
        symbol = map_key(grammar.records, at - 1) & 0xFFFFFFFF
        if symbol == ROW_MARK + row:
            break
        if symbol < ROW_MARK:
            n += 1
        at = record_before(grammar, at)
    spend(grammar, 1 + n)
    text = reserve(grammar.text, n + 1)
    end = at
    at = record
    place = n
    while at != end:
        symbol = map_key(grammar.records, at - 1) & 0xFFFFFFFF
        if symbol < ROW_MARK:
            place -= 1
            text[place] = symbol
        at = record_before(grammar, at)
    return n
