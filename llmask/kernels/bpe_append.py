"""A text that grows by bytes, and the number of its tokens after each of them.

A word is counted for good when it is final (bpe_incremental.py); of the rest, nearly always one word, the last token of
every prefix is known (bpe_prefixes.py), and one byte more takes one step of every token that is still running: their
beginnings and places in the trie are kept. So a text of one word, however long, costs no more than any other.

    text       "abac" + "b"      running before: "ac", "c"; after: "acb", "cb", "b"
    last token  of "abacb": the one among those that end here that is compatible with the last token before it

One pattern splits the text; where it does not match, the rest is scanned anew after every byte.

In: an encoder's table with one pattern, a text whose bytes are all tokens, the state of `append_bytes`. Out: counts,
rows of final words. Cost: 50 ns a byte.
"""

from __future__ import annotations

from .bpe_incremental import (
    LEVEL_BYTES,
    NEEDED,
    UNDECIDED,
    WORD_BUFFER,
    clear_levels,
    count_rest,
    count_word,
    is_cut_off,
    next_row,
    row_field,
    write_row,
)
from .bpe_pairs import are_compatible
from .bpe_words import NO_TOKEN, find_word
from .constants import MAX_TOKEN_BYTES
from .double_array import BASE_SHIFT, ENDING_MASK, ENDING_SHIFT, LABEL_MASK, ROOT_BASE
from .encoder_slots import (
    CLASS_BLOCKS,
    CLASS_INDEX,
    FORWARD,
    IS_WHOLE,
    LONGEST_WORD,
    MAX_PATTERNS,
    N_CLASSES,
    TRANSITIONS,
)
from .jit import door, kernel
from .memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64
from .pretokenize_scan import LENGTH_SHIFT, character_at
from .raw import borrow, borrow_zeros, give_back

RUNNING_BYTES = 16  # of a running token: where it began, base in the trie
PREFIX_BYTES = 8  # of a prefix: int32 last token, int32 number of tokens
MAX_RUNNING = MAX_TOKEN_BYTES + 1
# of the state, in bytes
FIRST, TOTAL_COUNT, ROW, PLACE, MATCHED, KNOWN, N_RUNNING, N_ROWS = range(0, 64, 8)
STATE_SIZE = 8


@kernel
def step(table, text, position, end, row):
    """Transition of the only pattern for the character at `position`, and the character's length; 0: it is cut off."""
    byte = load_u8(text + position)
    if byte < 0x80:
        number, length = load_u8(table[CLASS_BLOCKS] + byte), 1
    else:
        if is_cut_off(text, position, end):
            return 0, 0
        packed = character_at(table[CLASS_INDEX], table[CLASS_BLOCKS], text, position, end)
        number, length = packed & 0xFF, packed >> LENGTH_SHIFT
    return load_i32(table[TRANSITIONS] + (row + number) * 4), length


@kernel
def extend(table, text, first, start, end, prefixes, running, n_running):
    """Find the last tokens of the prefixes that end after `start` up to `end`, of a word that begins at `first`.

    `prefixes` has an entry a place of the text; `running` are the tokens that may go on at `start`. Returns how many
    may at `end`.
    """
    entries = table[FORWARD]
    for place in range(start, end):
        byte = load_u8(text + place)
        store_i64(running + n_running * RUNNING_BYTES, place)
        store_i64(running + n_running * RUNNING_BYTES + 8, ROOT_BASE)
        n_kept, is_found = 0, False
        for i in range(n_running + 1):
            begin = load_i64(running + i * RUNNING_BYTES)
            entry = load_i64(entries + (load_i64(running + i * RUNNING_BYTES + 8) + byte) * 8)
            if entry & LABEL_MASK != byte + 1:
                continue
            token = ((entry >> ENDING_SHIFT) & ENDING_MASK) - 1
            if token != NO_TOKEN and not is_found:
                before = prefixes + begin * PREFIX_BYTES
                count = 0 if begin == first else load_i32(before + 4)
                if begin == first or are_compatible(table, load_i32(before), token):
                    store_i32(prefixes + (place + 1) * PREFIX_BYTES, token)
                    store_i32(prefixes + (place + 1) * PREFIX_BYTES + 4, count + 1)
                    is_found = True
            if entry >> BASE_SHIFT != 0:
                store_i64(running + n_kept * RUNNING_BYTES, begin)
                store_i64(running + n_kept * RUNNING_BYTES + 8, entry >> BASE_SHIFT)
                n_kept += 1
        n_running = n_kept
    return n_running


@kernel
def count_prefix(table, text, first, end, safe_end, prefixes):
    """Tokens of the word from `first` to `end`, whose prefixes are known."""
    count = load_i32(prefixes + end * PREFIX_BYTES + 4)
    if count > 1 and table[IS_WHOLE] and end - first <= table[LONGEST_WORD]:
        if find_word(table, text, first, end, safe_end) != NO_TOKEN:
            return 1
    return count


@door("int64(int64, int64, int64, int64, int64, int64, int64, int64, int32[::1])", group="counting")
def append_bytes(address, state, text, n_old, n_bytes, prefixes, running, rows, counts):
    """Take the bytes from `n_old` to `n_bytes` in; returns the number of tokens of the text.

    `state` int64[STATE_SIZE] is zeros at first, but for the start row in ROW. `prefixes` has PREFIX_BYTES for each
    place of the text and one more, `running` MAX_RUNNING entries. Final words become rows, for which there is room: one
    for each byte that is not in a final word yet. `counts` int32: the tokens after each byte; empty: nobody wants them.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(WORD_BUFFER * 4)
    n_classes = table[N_CLASSES]
    first, total = load_i64(state + FIRST), load_i64(state + TOTAL_COUNT)
    # the running match from `first`: its state (0: there is none), the place it has come to, where it matched last
    row, place, matched = load_i64(state + ROW), load_i64(state + PLACE), load_i64(state + MATCHED)
    known, n_running = load_i64(state + KNOWN), load_i64(state + N_RUNNING)
    n_rows = load_i64(state + N_ROWS)
    needed = row_field(rows, n_rows - 1, NEEDED) if n_rows > 0 else 0
    count = total
    for n_read in range(n_old + 1, n_bytes + 1):
        while place < n_read and row != 0:
            entry, length = step(table, text, place, n_read, row)
            if length == 0:
                break
            if entry & 1:
                matched = place
            row = entry >> 1
            if row == 0 and matched > first:
                n_running = extend(table, text, first, known, matched, prefixes, running, n_running)
                total += count_prefix(table, text, first, matched, n_read, prefixes)
                needed = max(needed, place + 1)
                write_row(rows, n_rows, matched, needed, total, 1)
                n_rows += 1
                first = place = known = matched
                row, n_running = n_classes + 1, 0
            else:
                place += length
        while row == 0 and first < n_read:
            clear_levels(table, levels)
            end, seen, _ = next_row(table, levels, text, first, n_read, 1)
            if seen == UNDECIDED:
                break
            total += count_word(table, text, first, end, n_read, buffer)
            needed = max(needed, seen)
            write_row(rows, n_rows, end, needed, total, 1)
            n_rows += 1
            first = place = matched = known = end
            n_running = 0
        if row == 0 and first == n_read:
            row = n_classes + 1
        if counts.shape[0] == 0 and n_read < n_bytes:
            continue
        if place == n_read and row != 0 and load_i32(table[TRANSITIONS] + (row + n_classes) * 4) & 1:
            n_running = extend(table, text, first, known, n_read, prefixes, running, n_running)
            known = n_read
            count = total + count_prefix(table, text, first, n_read, n_read, prefixes)
        else:
            count = total + count_rest(table, levels, text, first, n_read, n_read, buffer)
        if counts.shape[0] > 0:
            counts[n_read - n_old - 1] = count
    store_i64(state + FIRST, first)
    store_i64(state + TOTAL_COUNT, total)
    store_i64(state + ROW, row)
    store_i64(state + PLACE, place)
    store_i64(state + MATCHED, matched)
    store_i64(state + KNOWN, known)
    store_i64(state + N_RUNNING, n_running)
    store_i64(state + N_ROWS, n_rows)
    give_back(levels)
    give_back(buffer)
    return count
