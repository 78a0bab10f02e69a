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

from .bpe_encode import SMALL_BUFFER, encode_word
from .encoder_slots import CLASS_BLOCKS, CLASS_INDEX, MAX_PATTERNS, N_CLASSES, N_PATTERNS, TRANSITIONS
from .jit import door, kernel
from .memory import as_table, load_i32, load_i64, load_u8, store_i64
from .pretokenize_scan import LENGTH_SHIFT, character_at, character_end, match_end, word_end
from .raw import borrow, borrow_zeros, give_back

END, NEEDED, TOTAL, RESTART = range(4)
UNDECIDED = -1
FAILED = -1
LEVEL_BYTES = 24  # of a level: end of its word, 1: a match, 1: open
IS_MATCH, IS_OPEN = 8, 16


@kernel
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


@kernel
def open_match(table, level, text, position, frontier):
    """As `match_end` for a text that goes on after `frontier`; the second number is UNDECIDED where it matters how."""
    index, blocks, n_classes = table[CLASS_INDEX], table[CLASS_BLOCKS], table[N_CLASSES]
    transitions = table[TRANSITIONS + level]
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


@kernel
def open_word(table, level, text, position, frontier):
    """End of a word, as far as it is sure; how far the text was looked at, UNDECIDED for an open word; 1: a match."""
    matched, seen = open_match(table, level, text, position, frontier)
    if matched > position or seen == UNDECIDED:
        return matched, seen, 1
    furthest = seen
    start = character_end(text, position, frontier)
    while start < frontier:
        matched, seen = open_match(table, level, text, start, frontier)
        if seen == UNDECIDED and matched == start:
            return start, UNDECIDED, 0
        if matched > start:  # whatever its end is, it begins here
            return start, max(furthest, seen, matched), 0
        furthest = max(furthest, seen)
        start = character_end(text, start, frontier)
    return frontier, UNDECIDED, 0


@kernel
def next_row(table, levels, text, position, end, is_open):
    """End of the word at `position`, the text that decided on it (UNDECIDED: it is not final), 1: may restart there.

    `levels` int64[n_patterns, 3]: the word of each level, as `next_word` keeps them; zeros at first.
    """
    n_levels = table[N_PATTERNS]
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


@kernel
def clear_levels(table, levels):
    """Forget the words of all levels: scanning begins anew."""
    for level in range(table[N_PATTERNS]):
        store_i64(levels + level * LEVEL_BYTES, 0)


@kernel
def count_word(table, text, start, end, safe_end, buffer):
    """Tokens of a word; `buffer` has room for SMALL_BUFFER."""
    if end - start <= SMALL_BUFFER:
        return encode_word(table, text, start, end, safe_end, buffer)
    large = borrow((end - start) * 4)
    found = encode_word(table, text, start, end, safe_end, large)
    give_back(large)
    return found


@door("int64(int64, int64, int64, int64, int64, int32[:, ::1], int64)", group="tokenizer")
def measure_words(address, text, position, n_bytes, is_open, rows, n_rows):
    """Write the words from `position` on behind the first `n_rows` rows; returns the number of rows, or FAILED.

    With `is_open` only final words are written. Stops when `rows` is full. `position` must be where scanning may begin.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(SMALL_BUFFER * 4)
    needed = rows[n_rows - 1, NEEDED] if n_rows > 0 else 0
    total = rows[n_rows - 1, TOTAL] if n_rows > 0 else 0
    while position < n_bytes and n_rows < rows.shape[0]:
        end, seen, may_restart = next_row(table, levels, text, position, n_bytes, is_open)
        if seen == UNDECIDED:
            break
        found = count_word(table, text, position, end, n_bytes, buffer)
        if found == FAILED:
            n_rows = FAILED
            break
        total += found
        needed = max(needed, seen)
        rows[n_rows, END], rows[n_rows, NEEDED] = end, needed
        rows[n_rows, TOTAL], rows[n_rows, RESTART] = total, may_restart
        n_rows += 1
        position = end
    give_back(levels)
    give_back(buffer)
    return n_rows


@door("int64(int64, int64, int64, int64, int32[:, ::1], int32[::1])", group="tokenizer")
def count_interval(address, text, start, end, rows, row_at):
    """Number of tokens of the text from `start` to `end`, alone; FAILED: a byte is no token.

    `rows` are the words of the whole text; `row_at` int32[n_bytes + 1]: number of the first row that ends after a
    place, and -1 - it where that row does not begin there, or scanning may not begin there.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(SMALL_BUFFER * 4)
    total, position, is_synced = 0, start, False
    while position < end:
        if not is_synced and row_at[position] >= 0:
            # from here on the words are those of the whole text, as far as the text before `end` decides on them
            first = row_at[position]
            last = row_at[end]
            last = -1 - last if last < 0 else last
            while last > first and (rows[last - 1, NEEDED] > end or rows[last - 1, RESTART] == 0):
                last -= 1
            if last > first:
                total += rows[last - 1, TOTAL] - (rows[first - 1, TOTAL] if first > 0 else 0)
                position = rows[last - 1, END]
            is_synced = True
            clear_levels(table, levels)
            continue
        word, _, _ = next_row(table, levels, text, position, end, 0)
        found = count_word(table, text, position, word, end, buffer)
        if found == FAILED:
            total = FAILED
            break
        total += found
        position = word
    give_back(levels)
    give_back(buffer)
    return total


@door("void(int64, int64, int64, int32[::1])", group="tokenizer")
def count_every_prefix(address, text, n_bytes, counts):
    """Write to `counts` int32[n_bytes] the number of tokens after each byte; all bytes must be tokens.

    A word is counted for good when it is final, the rest anew after every byte.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(SMALL_BUFFER * 4)
    total, position = 0, 0
    for n_read in range(1, n_bytes + 1):
        while position < n_read:
            clear_levels(table, levels)
            end, seen, may_restart = next_row(table, levels, text, position, n_read, 1)
            if seen == UNDECIDED or not may_restart:
                break
            total += count_word(table, text, position, end, n_bytes, buffer)
            position = end
        count, start = total, position
        clear_levels(table, levels)
        while start < n_read:
            end, _, _ = next_row(table, levels, text, start, n_read, 0)
            count += count_word(table, text, start, end, n_bytes, buffer)
            start = end
        counts[n_read - 1] = count
    give_back(levels)
    give_back(buffer)
