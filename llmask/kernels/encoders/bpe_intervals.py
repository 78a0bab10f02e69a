"""Numbers of tokens of parts of one text, from what was noted beside each of its bytes.

A part begins in the middle of a word, as a rule, and soon its words are those of the whole text: at the part's
*meeting*, a beginning of a word of the whole text. It ends in the middle of a word, too; its last words are found from
its *last start*, up to which the text before the end has decided. The first does not depend on where the part ends, the
second not on where it begins, so both are noted for every byte, and a count is a sum of two numbers:

    the text       The quick brown fox jumps over
    words          |The| quick| brown| fox| jumps| over|
    a part               uick brown fox ju
    noted at "u"         |uick|                                 tokens up to the meeting - tokens of the whole before it
    noted behind "u"                  | fox| ju|                tokens of the whole up to the last start + tokens behind

The sum is right where the meeting, and all the text that decided on the words before it, lie before the last start. In
short parts they do not, and beside long words (more than MAX_SCAN bytes) nothing is noted: such parts are counted word
by word, from one border to the other.

    begins   int64[n + 1]:  least last start, NEVER where nothing is noted << 32 | tokens, a signed difference
    ends     int64[n + 1]:  last start, -1 where nothing is noted << 32 | tokens

In: the words of a text as `bpe_incremental.measure_words` writes them. Out: counts. Cost: 0.3 us a byte once; a count
reads two of these numbers.
"""

from __future__ import annotations

from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, borrow_zeros, give_back
from ..tables.memory import as_table, load_i64, load_u8, store_i64
from .bpe_incremental import (
    END,
    FAILED,
    LEVEL_BYTES,
    NEEDED,
    RESTART,
    TOTAL,
    UNDECIDED,
    WORD_BUFFER,
    clear_levels,
    count_rest,
    count_word,
    next_row,
    row_field,
)
from .encoder_slots import MAX_PATTERNS
from .pretokenize_scan import next_word

# slots of the table that a counter is
ENCODER = 0  # address of the encoder's table
TEXT = 1
ROWS = 2
N_ROWS = 3
BEGINS = 4
ENDS = 5
OFFSETS = 6  # int64 for every character: where it begins; 0: a character is a byte
N_COUNTER_SLOTS = 7

MAX_SCAN = 64  # bytes that are looked at from one place; bounds the cost where words are long
NEVER = 0x7FFFFFFF


@inline
def start_of(rows, row):
    """Where the word of a row begins; the text's end for the row behind the last."""
    return row_field(rows, row - 1, END) if row > 0 else 0


@inline
def total_before(rows, row):
    """Tokens of the words before that of a row."""
    return row_field(rows, row - 1, TOTAL) if row > 0 else 0


@inline
def may_begin(rows, row):
    """Whether scanning may begin where a row's word begins."""
    return row == 0 or row_field(rows, row - 1, RESTART) != 0


@inline
def pack(place, n_tokens):
    """A place, and a number that may be negative."""
    return place << 32 | n_tokens & 0xFFFFFFFF


@inline
def note_begin(table, levels, text, place, n_bytes, rows, n_rows, row, buffer):
    """What is noted in `begins` for a place in the word of a row."""
    limit = min(n_bytes, place + MAX_SCAN)
    clear_levels(table, levels)
    position, needed, n_tokens = place, place, 0
    while position < limit:
        end, seen, _ = next_row(table, levels, text, position, limit, limit < n_bytes)
        if seen == UNDECIDED:
            break
        needed = max(needed, seen)
        found = count_word(table, text, position, end, n_bytes, buffer)
        if found == FAILED:
            break
        n_tokens += found
        position = end
        while row < n_rows and row_field(rows, row, END) <= position:
            row += 1
        if row == n_rows or (start_of(rows, row) == position and may_begin(rows, row)):
            return pack(max(needed, position), n_tokens - total_before(rows, row))
    return pack(NEVER, 0)


@door("void(int64)", group="counting")
def note_places(address):
    """Fill BEGINS and ENDS, int64 for every byte and one more, of a counter whose other slots are filled."""
    counter = as_table(address)
    table, text, rows, n_rows = as_table(counter[ENCODER]), counter[TEXT], counter[ROWS], counter[N_ROWS]
    n_bytes = start_of(rows, n_rows)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(WORD_BUFFER * 4)
    row = 0
    for place in range(n_bytes + 1):
        while row < n_rows and row_field(rows, row, END) <= place:
            row += 1
        if row == n_rows or (start_of(rows, row) == place and may_begin(rows, row)):
            noted = pack(place, -total_before(rows, row))
        elif row_field(rows, row, END) - place > MAX_SCAN or load_u8(text + place) & 0xC0 == 0x80:
            noted = pack(NEVER, 0)
        else:
            noted = note_begin(table, levels, text, place, n_bytes, rows, n_rows, row, buffer)
        store_i64(counter[BEGINS] + place * 8, noted)
    row = last = 0  # rows that the text before `place` has decided on; those of them before a place to begin at
    for place in range(n_bytes + 1):
        while row < n_rows and row_field(rows, row, NEEDED) <= place:
            row += 1
            if may_begin(rows, row):
                last = row
        start = start_of(rows, last)
        noted = pack(-1, 0)
        if place - start <= MAX_SCAN and (place == n_bytes or load_u8(text + place) & 0xC0 != 0x80):
            found = count_rest(table, levels, text, start, place, n_bytes, buffer)
            if found != FAILED:
                noted = pack(start, total_before(rows, last) + found)
        store_i64(counter[ENDS] + place * 8, noted)
    give_back(levels)
    give_back(buffer)


@inline
def row_at(rows, n_rows, position):
    """The first row whose word ends behind a position."""
    first, last = 0, n_rows
    while first < last:
        middle = (first + last) >> 1
        if row_field(rows, middle, END) <= position:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def count_words(counter, start, end):
    """Number of tokens of a part, word by word at its borders."""
    table, text, rows, n_rows = as_table(counter[ENCODER]), counter[TEXT], counter[ROWS], counter[N_ROWS]
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(WORD_BUFFER * 4)
    total, position = 0, start
    first = row_at(rows, n_rows, position)
    while position < end and not (start_of(rows, first) == position and may_begin(rows, first)):
        word = next_word(table, levels, text, position, end)
        total += count_word(table, text, position, word, end, buffer)
        position = word
        while first < n_rows and row_field(rows, first, END) <= position:
            first += 1
    if position < end:
        # from here on the words are those of the whole text, as far as the text before `end` decides on them
        last = row_at(rows, n_rows, end)
        while last > first and (row_field(rows, last - 1, NEEDED) > end or not may_begin(rows, last)):
            last -= 1
        total += total_before(rows, last) - total_before(rows, first)
        total += count_rest(table, levels, text, start_of(rows, last), end, end, buffer)
    give_back(levels)
    give_back(buffer)
    return total


@door("int64(int64, int64, int64)", group="counting")
def count_interval(address, start, end):
    """Number of tokens of the characters from `start` to `end` of a counter's text, all of whose bytes are tokens."""
    counter = as_table(address)
    offsets = counter[OFFSETS]
    if offsets != 0:
        start, end = load_i64(offsets + start * 8), load_i64(offsets + end * 8)
    begin, stop = load_i64(counter[BEGINS] + start * 8), load_i64(counter[ENDS] + end * 8)
    if begin >> 32 <= stop >> 32:
        return (begin + stop) & 0xFFFFFFFF  # a difference of 32 bits and a sum: the carry is cut off
    return count_words(counter, start, end)
