"""Incremental tokenization: the words of a text that is not finished, with their token counts.

A word is *final* when no further text can change it: the scanner decided on a character, not on the end of the text.
Where a pattern is still running at the end, the outer word is *open*: it goes on at least up to a frontier, and inner
patterns that decide before the frontier are final all the same.

Scanning may begin anew at the end of a word: with one pattern always; with several, where no outer word that a pattern
matched goes on.

In: an encoder's table, a text. Out: rows of words; counts. Cost: as encoding.
"""

from ..machine.jit import door, inline
from ..machine.raw import borrow, borrow_zeros, give_back
from ..machine.records import Record
from ..tables.memory import as_table, load_u8, store_i64
from .bpe_encode import WORD_BUFFER, count_word
from .encoder_slots import MAX_PATTERNS, EncoderSlot
from .pretokenize_scan import TRAIL, character_end, first_row, match_end, next_state, next_word, search_end, word_end

ROW = Record(
    "a word of a text that is not finished",
    end="where it ends",
    needed="the text up to here has decided on it and on all words before it",
    total="tokens of all words up to its end",
    may_restart="1: scanning may begin anew at its end",
)
LEVEL = Record("the word of a pattern", 64, end="", is_match="1: a pattern matched it", is_open="1: it may go on")
UNDECIDED = -1
FAILED = -1


@inline
def is_cut_off(text, position, end):
    """Whether the text ends inside of the character at `position`."""
    lead = load_u8(text + position)
    if lead < 0x80:
        return False
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
    row, matched = first_row(table), position
    while position < frontier and not is_cut_off(text, position, frontier):
        entry, length = next_state(table, level, row, text, position, frontier)
        if entry & 1:
            matched = position
        row = entry >> 1
        if row == 0:
            return matched, position
        position += length
    return matched, UNDECIDED


@inline
def open_word(table, level, text, position, frontier):
    """End of a word, as far as it is sure; how far the text was looked at, UNDECIDED for an open word; 1: a match."""
    matched, seen = open_match(table, level, text, position, frontier)
    if matched > position or seen == UNDECIDED:
        return matched, seen, 1
    furthest = seen
    start = character_end(text, position, frontier)
    trail = TRAIL.at(borrow_zeros(1, TRAIL.n_bytes))
    is_decided = False
    while start < frontier:
        matched, seen = search_end(table, level, text, start, frontier, trail)
        if seen >= frontier or is_cut_off(text, seen, frontier):
            matched, seen = open_match(table, level, text, start, frontier)
        if matched > start:  # whatever its end is, it begins here
            furthest, is_decided = max(furthest, seen, matched), True
            break
        if seen == UNDECIDED:
            break
        furthest = max(furthest, seen)
        start = character_end(text, start, frontier)
    give_back(trail.address)
    return start, furthest if is_decided else UNDECIDED, 0


@inline
def next_row(table, levels, text, position, end, is_open):
    """End of the word at `position`, the text that decided on it (UNDECIDED: it is not final), 1: may restart there.

    `levels`: the word of each pattern; zeros at first.
    """
    n_levels = table[EncoderSlot.N_PATTERNS]
    if n_levels == 0:
        return end, UNDECIDED if is_open else end, 1
    outer, needed = end, 0
    for level in range(n_levels):
        word = levels[level]
        if word.end <= position:
            if is_open:
                found, seen, is_match = open_word(table, level, text, position, outer)
            else:
                found, seen = word_end(table, level, text, position, outer)
                is_match = 1
                if n_levels > 1 and match_end(table, level, text, position, outer)[0] == position:
                    is_match = 0
            word.end, word.is_match, word.is_open = found, is_match, 1 if seen == UNDECIDED else 0
            needed = max(needed, min(seen + 1, outer))
        outer, is_open = word.end, word.is_open
        if is_open and outer <= position:
            return position, UNDECIDED, 0
    may_restart = 1
    for level in range(n_levels - 1):
        word = levels[level]
        if word.is_match and (word.end != outer or word.is_open):
            may_restart = 0
    return outer, UNDECIDED if is_open else needed, may_restart


@inline
def clear_levels(table, levels):
    """Forget the words of all levels: scanning begins anew."""
    for level in range(table[EncoderSlot.N_PATTERNS]):
        levels[level].end = 0


@inline
def write_row(rows, n_rows, end, needed, total, may_restart):
    """Append a row; returns how many there are."""
    row = rows[n_rows]
    row.end, row.needed, row.total, row.may_restart = end, needed, total, may_restart
    return n_rows + 1


@inline
def count_rest(table, levels, text, position, end, safe_end, buffer):
    """Tokens of the words from `position` on, where scanning may begin, up to `end`; FAILED: a byte is no token.

    `levels` is room that is written anew.
    """
    for level in range(table[EncoderSlot.N_PATTERNS]):
        store_i64(levels.address + level * 8, 0)
    total = 0
    while position < end:
        word = next_word(table, levels.address, text, position, end)
        found = count_word(table, text, position, word, safe_end, buffer)
        if found == FAILED:
            return FAILED
        total += found
        position = word
    return total


@door("int64(int64, int64, int64, int64, int64, int64, int64)", group="counting")
def measure_words(address, text, n_bytes, is_open, rows_address, n_rows, capacity):
    """Write the words after the first `n_rows` rows; returns the number of rows, or FAILED.

    With `is_open` only final words are written, up to the last where scanning may restart; the row after them gets as
    `total` the tokens of the whole text. Stops when there is room for one more row only.
    """
    table, rows = as_table(address), ROW.at(rows_address)
    levels, buffer = LEVEL.at(borrow_zeros(MAX_PATTERNS, LEVEL.n_bytes)), borrow(WORD_BUFFER * 4)
    position = needed = total = 0
    if n_rows > 0:
        last = rows[n_rows - 1]
        position, needed, total = last.end, last.needed, last.total
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
        n_rows = write_row(rows, n_rows, end, needed, total, may_restart)
        position = end
    if is_open and 0 <= n_rows < capacity - 1:  # back to where scanning may restart
        while n_rows > 0 and rows[n_rows - 1].may_restart == 0:
            n_rows -= 1
        position = rows[n_rows - 1].end if n_rows > 0 else 0
        total = rows[n_rows - 1].total if n_rows > 0 else 0
        found = count_rest(table, levels, text, position, n_bytes, n_bytes, buffer)
        write_row(rows, n_rows, n_bytes, needed, total + found, 0)
        n_rows = FAILED if found == FAILED else n_rows
    give_back(levels.address)
    give_back(buffer)
    return n_rows
