"""Numbers of tokens of parts of one text, each a sum of two numbers that were noted for the bytes at its borders.

A part begins in the middle of a word, as a rule, and soon it has the words of the whole text: from the part's
*meeting* on, a beginning of a word of the whole text. It ends in the middle of a word, too; its last words are found
from its *last start*, up to which the text before the end has decided. The first does not depend on where the part
ends, the second not on where it begins, so both are noted for every byte, and a count is the sum of both:

    the text       The quick brown fox jumps over
    words          |The| quick| brown| fox| jumps| over|
    a part               uick brown fox ju
    noted at "u"         |uick|                                 tokens up to the meeting - tokens of the whole before it
    noted after "u"                   | fox| ju|                tokens of the whole up to the last start + tokens after

The sum is right where the meeting, and all the text that decided on the words before it, lie before the last start. In
short parts they do not, and near long words (more than MAX_SCAN bytes) nothing is noted: such parts are counted word
by word, from one border to the other.

    begins   int64[n + 1]:  least last start, NEVER where nothing is noted << 32 | tokens, a signed difference
    ends     int64[n + 1]:  last start, -1 where nothing is noted << 32 | tokens

In: the words of a text as `bpe_incremental.measure_words` writes them. Out: counts. Cost: 0.3 us a byte once; a count
reads two of these numbers.
"""

from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, borrow_zeros, give_back
from ..machine.records import Record
from ..tables.memory import as_table, load_i64, load_u8, store_i64
from .bpe_encode import WORD_BUFFER, count_word
from .bpe_incremental import FAILED, LEVEL, ROW, UNDECIDED, clear_levels, count_rest, next_row
from .encoder_slots import MAX_PATTERNS
from .pretokenize_scan import next_word

COUNTER = Record(
    *("a counter: addresses, and how much lies there", 64),
    encoder="the encoder's table",
    text="",
    rows="a row a word",
    n_rows="",
    begins="see above",
    ends="",
    offsets="int64 for every character: where it begins; 0: a character is a byte",
)
MAX_SCAN = 64  # bytes that are looked at from one place; bounds the cost where words are long
NEVER = 0x7FFFFFFF


@inline
def start_of(rows, row):
    """Where the word of a row begins; the text's end for the row after the last."""
    return rows[row - 1].end if row > 0 else 0


@inline
def total_before(rows, row):
    """Tokens of the words before that of a row."""
    return rows[row - 1].total if row > 0 else 0


@inline
def begins_at(rows, row, position):
    """Whether the word of a row begins at a position, and scanning may begin there."""
    return start_of(rows, row) == position and (row == 0 or rows[row - 1].may_restart != 0)


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
        while row < n_rows and rows[row].end <= position:
            row += 1
        if row == n_rows or begins_at(rows, row, position):
            return pack(max(needed, position), n_tokens - total_before(rows, row))
    return pack(NEVER, 0)


@door("void(int64)", group="counting")
def note_places(address):
    """Fill `begins` and `ends`, int64 for every byte and one more, of a counter whose other fields are filled."""
    counter = COUNTER.at(address)
    table, text, rows, n_rows = as_table(counter.encoder), counter.text, ROW.at(counter.rows), counter.n_rows
    n_bytes = start_of(rows, n_rows)
    levels, buffer = LEVEL.at(borrow_zeros(MAX_PATTERNS, LEVEL.n_bytes)), borrow(WORD_BUFFER * 4)
    row = 0
    for place in range(n_bytes + 1):
        while row < n_rows and rows[row].end <= place:
            row += 1
        if row == n_rows or begins_at(rows, row, place):
            noted = pack(place, -total_before(rows, row))
        elif rows[row].end - place > MAX_SCAN or load_u8(text + place) & 0xC0 == 0x80:
            noted = pack(NEVER, 0)
        else:
            noted = note_begin(table, levels, text, place, n_bytes, rows, n_rows, row, buffer)
        store_i64(counter.begins + place * 8, noted)
    row = last = 0  # how many rows the text before `place` has decided on; the last where scanning may begin
    for place in range(n_bytes + 1):
        while row < n_rows and rows[row].needed <= place:
            row += 1
            if rows[row - 1].may_restart != 0:
                last = row
        start = start_of(rows, last)
        noted = pack(-1, 0)
        if place - start <= MAX_SCAN and (place == n_bytes or load_u8(text + place) & 0xC0 != 0x80):
            found = count_rest(table, levels, text, start, place, n_bytes, buffer)
            if found != FAILED:
                noted = pack(start, total_before(rows, last) + found)
        store_i64(counter.ends + place * 8, noted)
    give_back(levels.address)
    give_back(buffer)


@inline
def row_at(rows, n_rows, position):
    """The first row whose word ends after a position."""
    first, last = 0, n_rows
    while first < last:
        middle = (first + last) >> 1
        if rows[middle].end <= position:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def count_words(counter, start, end):
    """Number of tokens of a part, word by word at its borders."""
    table, text, rows, n_rows = as_table(counter.encoder), counter.text, ROW.at(counter.rows), counter.n_rows
    levels, buffer = LEVEL.at(borrow_zeros(MAX_PATTERNS, LEVEL.n_bytes)), borrow(WORD_BUFFER * 4)
    total, position = 0, start
    first = row_at(rows, n_rows, position)
    while position < end and not begins_at(rows, first, position):
        word = next_word(table, levels.address, text, position, end)
        total += count_word(table, text, position, word, end, buffer)
        position = word
        while first < n_rows and rows[first].end <= position:
            first += 1
    if position < end:
        # from here on the part has the words of the whole text, as far as the text before `end` decides on them
        last = row_at(rows, n_rows, end)
        while last > first and (rows[last - 1].needed > end or rows[last - 1].may_restart == 0):
            last -= 1
        total += total_before(rows, last) - total_before(rows, first)
        total += count_rest(table, levels, text, start_of(rows, last), end, end, buffer)
    give_back(levels.address)
    give_back(buffer)
    return total


@door("int64(int64, int64, int64)", group="counting")
def count_interval(address, start, end):
    """Number of tokens of the characters from `start` to `end` of a counter's text, all of whose bytes are tokens."""
    counter = COUNTER.at(address)
    if counter.offsets != 0:
        start, end = load_i64(counter.offsets + start * 8), load_i64(counter.offsets + end * 8)
    begin, stop = load_i64(counter.begins + start * 8), load_i64(counter.ends + end * 8)
    if begin >> 32 <= stop >> 32:
        return (begin + stop) & 0xFFFFFFFF  # a difference of 32 bits and a sum: the carry is cut off
    return count_words(counter, start, end)
