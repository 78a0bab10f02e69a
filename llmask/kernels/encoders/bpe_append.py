"""A text that grows by bytes, and the number of its tokens after each of them.

A word is counted for good when it is final (bpe_incremental.py); the rest, the *tail*, is nearly always one word. What
a byte more does to a tail depends on the tail alone: how many tokens it has then, and whether words of it become final.
So that is remembered, in a table from (name of a tail, byte) to the name of the longer tail and these numbers, and most
bytes of a text are one look-up: in 300 KB of English and Python nine of ten. A tail has one of four slots, and takes
that of another one where all are taken. Tails of more than MEMO_BYTES are not remembered.

What is not remembered is found out, step by step where one pattern splits the text and every byte is a token: the last
token of every prefix is known (bpe_prefixes.py), and one byte more takes one step of every token that is still running:
their beginnings and places in the trie are kept. So a text of one word, however long, costs no more than any other.

    text       "abac" + "b"      running before: "ac", "c"; after: "acb", "cb", "b"
    last token  of "abacb": the one among those that end here that is compatible with the last token before it

Where it does not match, or several patterns split, the tail is scanned anew.

    memo    16 bytes a slot:  int64 name << 8 | byte | int64 name of the longer tail << 24 | its tokens << 16 |
            bytes that became final << 8 | their tokens, 0 = free

In: an encoder's table, the state of `append_bytes`. Out: counts, rows of final words. Cost: 10 ns a byte that is
remembered, 100 ns another one.
"""

from __future__ import annotations

from ..machine.constants import MAX_TOKEN_BYTES
from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, borrow_zeros, give_back, shift_right, wrapped_product
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64
from .bpe_incremental import (
    FAILED,
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
from .bpe_words import MIX, NO_TOKEN, find_word
from .double_array import ROOT_BASE, base_of, ending_of, is_child
from .encoder_slots import MAX_PATTERNS, EncoderSlot
from .pretokenize_scan import LENGTH_SHIFT, character_at

RUNNING_BYTES = 16  # of a running token: where it began, base in the trie
PREFIX_BYTES = 8  # of a prefix: int32 last token, int32 number of tokens
MAX_RUNNING = MAX_TOKEN_BYTES + 1
# of the state, in bytes
FIRST, TOTAL_COUNT, ROW, PLACE, MATCHED, KNOWN, N_RUNNING, N_ROWS, TAIL, N_NAMES = range(0, 80, 8)
STATE_SIZE = 10

MEMO_BITS = 14
LINE_BYTES = 64  # four slots: a line of the processor's cache
SLOT_BYTES = 16
MEMO_SIZE = LINE_BYTES << MEMO_BITS
MEMO_BYTES = 64
NO_TAIL, EMPTY_TAIL = -1, 0  # names of tails; EMPTY_TAIL is 0 so that a state of zeros has it
NAME_SHIFT, COUNT_SHIFT, FINAL_SHIFT = 24, 16, 8  # of what is remembered
FIELD = 0xFF


@inline
def step(table, text, position, end, row):
    """Transition of the only pattern for the character at `position`, and the character's length; 0: it is cut off."""
    byte = load_u8(text + position)
    if byte < 0x80:
        number, length = load_u8(table[EncoderSlot.CLASS_BLOCKS] + byte), 1
    else:
        if is_cut_off(text, position, end):
            return 0, 0
        packed = character_at(table[EncoderSlot.CLASS_INDEX], table[EncoderSlot.CLASS_BLOCKS], text, position, end)
        number, length = packed & 0xFF, packed >> LENGTH_SHIFT
    return load_i32(table[EncoderSlot.TRANSITIONS] + (row + number) * 4), length


@inline
def extend(table, text, first, start, end, prefixes, running, n_running):
    """Find the last tokens of the prefixes that end after `start` up to `end`, of a word that begins at `first`.

    `prefixes` has an entry a place of the text; `running` are the tokens that may go on at `start`. Returns how many
    may at `end`.
    """
    entries = table[EncoderSlot.FORWARD]
    for place in range(start, end):
        byte = load_u8(text + place)
        store_i64(running + n_running * RUNNING_BYTES, place)
        store_i64(running + n_running * RUNNING_BYTES + 8, ROOT_BASE)
        n_kept, is_found = 0, False
        for i in range(n_running + 1):
            begin = load_i64(running + i * RUNNING_BYTES)
            entry = load_i64(entries + (load_i64(running + i * RUNNING_BYTES + 8) + byte) * 8)
            if not is_child(entry, byte):
                continue
            token = ending_of(entry)
            if token != NO_TOKEN and not is_found:
                before = prefixes + begin * PREFIX_BYTES
                count = 0 if begin == first else load_i32(before + 4)
                if begin == first or are_compatible(table, load_i32(before), token):
                    store_i32(prefixes + (place + 1) * PREFIX_BYTES, token)
                    store_i32(prefixes + (place + 1) * PREFIX_BYTES + 4, count + 1)
                    is_found = True
            if base_of(entry) != 0:
                store_i64(running + n_kept * RUNNING_BYTES, begin)
                store_i64(running + n_kept * RUNNING_BYTES + 8, base_of(entry))
                n_kept += 1
        n_running = n_kept
    return n_running


@inline
def count_prefix(table, text, first, end, safe_end, prefixes):
    """Tokens of the word from `first` to `end`, whose prefixes are known."""
    count = load_i32(prefixes + end * PREFIX_BYTES + 4)
    if count > 1 and table[EncoderSlot.IS_WHOLE] and end - first <= table[EncoderSlot.LONGEST_WORD]:
        if find_word(table, text, first, end, safe_end) != NO_TOKEN:
            return 1
    return count


@inline
def begin_tail(table, state, first, total, n_rows):
    """Make the state that of a tail that begins at `first` and has not been read."""
    store_i64(state + FIRST, first)
    store_i64(state + TOTAL_COUNT, total)
    store_i64(state + ROW, table[EncoderSlot.N_CLASSES] + 1)
    store_i64(state + PLACE, first)
    store_i64(state + MATCHED, first)
    store_i64(state + KNOWN, first)
    store_i64(state + N_RUNNING, 0)
    store_i64(state + N_ROWS, n_rows)


@kernel
def read_on(table, state, text, n_read, tail_count, prefixes, running, rows, levels, buffer):
    """Read a text up to `n_read`, step by step; returns the number of its tokens. Final words become rows.

    `tail_count`: tokens of the tail without the last byte; -1: not known.
    """
    n_classes = table[EncoderSlot.N_CLASSES]
    first, total = load_i64(state + FIRST), load_i64(state + TOTAL_COUNT)
    # the running match from `first`: its state (0: there is none), the place it has come to, where it matched last
    row, place, matched = load_i64(state + ROW), load_i64(state + PLACE), load_i64(state + MATCHED)
    known, n_running = load_i64(state + KNOWN), load_i64(state + N_RUNNING)
    n_rows = load_i64(state + N_ROWS)
    needed = row_field(rows, n_rows - 1, NEEDED) if n_rows > 0 else 0
    while place < n_read and row != 0:
        entry, length = step(table, text, place, n_read, row)
        if length == 0:
            break
        if entry & 1:
            matched = place
        before, row = row, entry >> 1
        if row == 0 and matched > first:
            is_end = (
                matched == n_read - 1 and load_i32(table[EncoderSlot.TRANSITIONS] + (before + n_classes) * 4) & 1 != 0
            )
            if is_end and tail_count >= 0:  # the word is the tail that was counted: most misses are those
                total += tail_count
            else:
                n_running = extend(table, text, first, known, matched, prefixes, running, n_running)
                total += count_prefix(table, text, first, matched, n_read, prefixes)
            tail_count = -1  # it was that of the first word
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
    if place == n_read and row != 0 and load_i32(table[EncoderSlot.TRANSITIONS] + (row + n_classes) * 4) & 1:
        n_running = extend(table, text, first, known, n_read, prefixes, running, n_running)
        known = n_read
        count = total + count_prefix(table, text, first, n_read, n_read, prefixes)
    else:
        count = total + count_rest(table, levels, text, first, n_read, n_read, buffer)
    store_i64(state + FIRST, first)
    store_i64(state + TOTAL_COUNT, total)
    store_i64(state + ROW, row)
    store_i64(state + PLACE, place)
    store_i64(state + MATCHED, matched)
    store_i64(state + KNOWN, known)
    store_i64(state + N_RUNNING, n_running)
    store_i64(state + N_ROWS, n_rows)
    return count


@kernel
def scan_on(table, state, text, n_read, rows, levels, buffer):
    """As `read_on` for any patterns and vocabulary: the tail is scanned anew. FAILED: a byte is no token."""
    first, total, n_rows = load_i64(state + FIRST), load_i64(state + TOTAL_COUNT), load_i64(state + N_ROWS)
    position, count = first, total
    clear_levels(table, levels)
    while position < n_read:
        end, seen, may_restart = next_row(table, levels, text, position, n_read, 1)
        if seen == UNDECIDED:
            break
        found = count_word(table, text, position, end, n_read, buffer)
        if found == FAILED:
            return FAILED
        position, count = end, count + found
        if may_restart:
            first, total = position, count
            write_row(rows, n_rows, first, n_read, total, 1)
            n_rows += 1
    rest = count_rest(table, levels, text, first, n_read, n_read, buffer)
    if rest == FAILED:
        return FAILED
    store_i64(state + FIRST, first)
    store_i64(state + TOTAL_COUNT, total)
    store_i64(state + N_ROWS, n_rows)
    return total + rest


@inline
def recall(memo, key):
    """What is remembered for a key, 0: nothing."""
    slot = memo + shift_right(wrapped_product(key, MIX), 64 - MEMO_BITS) * LINE_BYTES
    for _ in range(LINE_BYTES // SLOT_BYTES):
        if load_i64(slot) == key:
            return load_i64(slot + 8)
        slot += SLOT_BYTES
    return 0


@inline
def remember(state, memo, key, n_tokens, n_final, final_tokens):
    """Remember what a byte does to a tail; returns the name of the longer one."""
    name = load_i64(state + N_NAMES) + 1
    store_i64(state + N_NAMES, name)
    line = memo + shift_right(wrapped_product(key, MIX), 64 - MEMO_BITS) * LINE_BYTES
    slot = line
    while slot < line + LINE_BYTES and load_i64(slot + 8) != 0:
        slot += SLOT_BYTES
    if slot == line + LINE_BYTES:
        slot = line + name % (LINE_BYTES // SLOT_BYTES) * SLOT_BYTES
    store_i64(slot, key)
    store_i64(slot + 8, name << NAME_SHIFT | n_tokens << COUNT_SHIFT | n_final << FINAL_SHIFT | final_tokens)
    return name


@inline
def name_tail(state, memo, text, first, end, n_tokens):
    """Name of a tail with so many tokens, no word of which is final; NO_TAIL where none is known for what is before."""
    name = EMPTY_TAIL
    if end - first > MEMO_BYTES:
        return NO_TAIL
    for place in range(first, end):
        key = name << 8 | load_u8(text + place)
        known = recall(memo, key)
        if known != 0:
            name = known >> NAME_SHIFT
        elif place == end - 1:
            return remember(state, memo, key, n_tokens, 0, 0)
        else:
            return NO_TAIL
    return name


@door("int64(int64, int64, int64, int64, int64, int64, int64, int64, int64, int32[::1])", group="counting")
def append_bytes(address, state, text, n_old, n_bytes, prefixes, running, rows, memo, counts):
    """Take the bytes from `n_old` to `n_bytes` in; returns the number of tokens of the text, or FAILED.

    `state` int64[STATE_SIZE] and `memo` (MEMO_SIZE bytes) are zeros at first, but for the
    start row in ROW. `prefixes`, 0 where texts are scanned anew, has PREFIX_BYTES for each place of the text and one
    more, `running` MAX_RUNNING entries. Final words become rows, for which there is room: one for each byte that is not
    in a final word yet. `counts` int32: the tokens after each byte; empty: nobody wants them.
    """
    table = as_table(address)
    levels, buffer = borrow_zeros(MAX_PATTERNS, LEVEL_BYTES), borrow(WORD_BUFFER * 4)
    is_listing = counts.shape[0] > 0
    tail, count = load_i64(state + TAIL), load_i64(state + TOTAL_COUNT)
    if not is_listing and n_bytes - n_old > 1:
        tail = NO_TAIL
    for n_read in range(n_old + 1 if is_listing else n_bytes, n_bytes + 1):
        first, total = load_i64(state + FIRST), load_i64(state + TOTAL_COUNT)
        key, known = -1, 0
        if tail != NO_TAIL:
            key = tail << 8 | load_u8(text + n_read - 1)
            known = recall(memo, key)
        if known != 0:
            tail, count = known >> NAME_SHIFT, known >> COUNT_SHIFT & FIELD
            n_final = known >> FINAL_SHIFT & FIELD
            if n_final > 0:
                first, total = first + n_final, total + (known & FIELD)
                n_rows = load_i64(state + N_ROWS)
                write_row(rows, n_rows, first, n_read, total, 1)
                begin_tail(table, state, first, total, n_rows + 1)
                tail = name_tail(state, memo, text, first, n_read, count)
            count += total
        else:
            if prefixes != 0:
                tail_count = count - total if is_listing and n_read > n_old + 1 else -1
                count = read_on(table, state, text, n_read, tail_count, prefixes, running, rows, levels, buffer)
            else:
                count = scan_on(table, state, text, n_read, rows, levels, buffer)
            if count == FAILED:
                break
            n_final = load_i64(state + FIRST) - first
            final_tokens = load_i64(state + TOTAL_COUNT) - total
            n_tokens = count - total - final_tokens
            is_short = n_read - first <= MEMO_BYTES
            tail = remember(state, memo, key, n_tokens, n_final, final_tokens) if key >= 0 and is_short else NO_TAIL
            if n_final > 0 or tail == NO_TAIL:
                tail = name_tail(state, memo, text, first + n_final, n_read, n_tokens)
        if is_listing:
            counts[n_read - n_old - 1] = count
    store_i64(state + TAIL, NO_TAIL if count == FAILED else tail)
    give_back(levels)
    give_back(buffer)
    return count
