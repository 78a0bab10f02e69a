"""Words of a text that is not finished, with their token counts: what appending, prepending and intervals stand on.

A word is *final* when no further text can change it: the scanner decided on a character, not on the end of the text.
Where a pattern is still running at the end, the outer word is *open*: it goes on at least up to a frontier, and inner
patterns that decide before the frontier are final all the same.

A word is written as a row of int32:

    END      where it ends
    NEEDED   the text up to here has decided on it and on all words before it
    TOTAL    tokens of all words up to its end
    RESTART  1: scanning may begin anew at its end. With one pattern always; with several, where no outer word that
             a pattern matched goes on

In: an encoder's table, a text. Out: rows of words; counts. Cost: as encoding.
"""

from __future__ import annotations

from ..machine.jit import door, inline
from ..machine.raw import borrow, borrow_zeros, give_back
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64
from .bpe_encode import encode_word
from .encoder_slots import MAX_PATTERNS, EncoderSlot
from .pretokenize_scan import LENGTH_SHIFT, character_at, character_end, match_end, next_word, search_end, word_end

END, NEEDED, TOTAL, RESTART = range(4)
ROW_WIDTH = 4
UNDECIDED = -1
FAILED = -1
WORD_BUFFER = 240  # tokens: 1 KB, which malloc hands out in 20 ns; longer words get room of their own
LEVEL_BYTES = 24  # of a level: end of its word, 1: a match, 1: open
IS_MATCH, IS_OPEN = 8, 16


@inline
def is_cut_off(text, position, end):
    """Whether the text ends inside of the character at `position`."""
    lead = load_u8(text + position)
    length = 1 + (lead >= 0xC2) + (lead >= 0xE0) + (lead >= 0xF0)
    if lead >= 0xF5 or position + length <= end:
        return False
    for i in range(position + 1, end):
        if load_u8(text + i) & 0xC0 != 0x80:
            return False
    return True


@inline
def open_match(table, level, text, position, frontier):
    """As `match_end` for a text that goes on after `frontier`; the second number is UNDECIDED where it matters how."""
    index, blocks, n_classes = (
        table[EncoderSlot.CLASS_INDEX],
        table[EncoderSlot.CLASS_BLOCKS],
        table[EncoderSlot.N_CLASSES],
    )
    transitions = table[EncoderSlot.TRANSITIONS + level]
    row = n_classes + 1
    matched = position
    while position < frontier:
        packed = character_at(index, blocks, text, position, frontier)
        if load_u8(text + position) >= 0x80 and is_cut_off(text, position, frontier):
            break
        entry = load_i32(transitions + (row + (packed & 0xFF)) * 4)
        if entry & 1:
            matched = position
        row = entry >> 1
        if row == 0:
            return matched, position
        position += packed >> LENGTH_SHIFT
    return matched, UNDECIDED


@inline
def open_word(table, level, text, position, frontier):
    """End of a word, as far as it is sure; how far the text was looked at, UNDECIDED for an open word; 1: a match."""
    matched, seen = open_match(table, level, text, position, frontier)
    if matched > position or seen == UNDECIDED:
        return matched, seen, 1
    furthest = seen
    start = character_end(text, position, frontier)
    trail = borrow_zeros(3, 8)
    is_decided = False
    while start < frontier:
        matched, seen = search_end(table, level, text, start, frontier, trail)
        if seen >= frontier or (load_u8(text + seen) >= 0x80 and is_cut_off(text, seen, frontier)):
            matched, seen = open_match(table, level, text, start, frontier)
        if matched > start:  # whatever its end is, it begins here
            furthest, is_decided = max(furthest, seen, matched), True
            break
        if seen == UNDECIDED:
            break
        furthest = max(furthest, seen)
        start = character_end(text, start, frontier)
    give_back(trail)
    return start, furthest if is_decided else UNDECIDED, 0


@inline
def next_row(table, levels, text, position, end, is_open):
    """End of the word at `position`, the text that decided on it (UNDECIDED: it is not final), 1: may restart there.

    `levels` int64[n_patterns, 3]: the word of each level, as `next_word` keeps them; zeros at first.
    """
    n_levels = table[EncoderSlot.N_PATTERNS]
    if n_levels == 0:
        return end, UNDECIDED if is_open else end, 1
    outer, needed = end, 0
    for level in range(n_levels):
        entry = levels + level * LEVEL_BYTES
        if load_i64(entry) <= position:
            if is_open:
                found, seen, is_match = open_word(table, level, text, position, outer)
            else:
                found, seen = word_end(table, level, text, position, outer)
                is_match = 1
                if n_levels > 1 and match_end(table, level, text, position, outer)[0] == position:
                    is_match = 0
            store_i64(entry, found)
            store_i64(entry + IS_MATCH, is_match)
            store_i64(entry + IS_OPEN, 1 if seen == UNDECIDED else 0)
            needed = max(needed, min(seen + 1, outer))
        outer = load_i64(entry)
        is_open = load_i64(entry + IS_OPEN)
        if is_open and outer <= position:
            return position, UNDECIDED, 0
    may_restart = 1
    for level in range(n_levels - 1):
        entry = levels + level * LEVEL_BYTES
        if load_i64(entry + IS_MATCH) and (load_i64(entry) != outer or load_i64(entry + IS_OPEN)):
            may_restart = 0
    return outer, UNDECIDED if is_open else needed, may_restart


@inline
def clear_levels(table, levels):
    """Forget the words of all levels: scanning begins anew."""
    for level in range(table[EncoderSlot.N_PATTERNS]):
        store_i64(levels + level * LEVEL_BYTES, 0)


@inline
def count_word(table, text, start, end, safe_end, buffer):
    """Tokens of a word; `buffer` has room for WORD_BUFFER."""
    if end - start <= WORD_BUFFER:
        return encode_word(table, text, start, end, safe_end, buffer)
    large = borrow((end - start) * 4)
    found = encode_word(table, text, start, end, safe_end, large)
    give_back(large)
    return found


@inline
def row_field(rows, row, field):
    """A number of a row."""
    return load_i32(rows + (row * ROW_WIDTH + field) * 4)


@inline
def write_row(rows, row, end, needed, total, may_restart):
    """Write a row."""
    address = rows + row * ROW_WIDTH * 4
    store_i32(address + END * 4, end)
    store_i32(address + NEEDED * 4, needed)
    store_i32(address + TOTAL * 4, total)
    store_i32(address + RESTART * 4, may_restart)


@inline
def count_rest(table, levels, text, position, end, safe_end, buffer):
    """Tokens of the words from `position` on, where scanning may begin, up to `end`; FAILED: a byte is no token.

    `levels` is room that is written anew.
    """
    for level in range(table[EncoderSlot.N_PATTERNS]):
        store_i64(levels + level * 8, 0)
    total = 0
    while position < end:
        word = next_word(table, levels, text, position, end)
        found = count_word(table, text, position, word, safe_end, buffer)
        if found == FAILED:
            return FAILED
        total += found
        position = word
    return total


@door("int64(int64, int64, int64, int64, int64, int64, int64)", group="counting")
def measure_words(address, text, n_bytes, is_open, rows, n_rows, capacity):
    """Write the words behind the first `n_rows` rows; returns the number of rows, or FAILED.

    With `is_open` only final words are written, up to the last where scanning may restart; the row behind them gets as
    TOTAL the tokens of the whole text. Stops when there is room for one more row only.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(WORD_BUFFER * 4)
    position = needed = total = 0
    if n_rows > 0:
        position, needed = row_field(rows, n_rows - 1, END), row_field(rows, n_rows - 1, NEEDED)
        total = row_field(rows, n_rows - 1, TOTAL)
    while position < n_bytes and n_rows < capacity - 1:
        end, seen, may_restart = next_row(table, levels, text, position, n_bytes, is_open)
        if seen == UNDECIDED:
            break
        found = count_word(table, text, position, end, n_bytes, buffer)
        if found == FAILED:
            n_rows = FAILED
            break
        total += found
        needed = max(needed, seen)
        write_row(rows, n_rows, end, needed, total, may_restart)
        n_rows += 1
        position = end
    if is_open and 0 <= n_rows < capacity - 1:
        while n_rows > 0 and row_field(rows, n_rows - 1, RESTART) == 0:
            n_rows -= 1
        position = row_field(rows, n_rows - 1, END) if n_rows > 0 else 0
        total = row_field(rows, n_rows - 1, TOTAL) if n_rows > 0 else 0
        found = count_rest(table, levels, text, position, n_bytes, n_bytes, buffer)
        write_row(rows, n_rows, n_bytes, needed, total + found, 0)
        n_rows = FAILED if found == FAILED else n_rows
    give_back(levels)
    give_back(buffer)
    return n_rows
