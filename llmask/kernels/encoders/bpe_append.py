"""Incremental tokenization byte by byte: the number of tokens after each byte of a text that grows at its end.

A word is counted for good when it is final (bpe_incremental.py); the rest, the *tail*, is nearly always one word. What
a byte more does to a tail depends on the tail alone: how many tokens it has then, and whether words of it become final.
So that is remembered, in a table from (name of a tail, byte) to the name of the longer tail and these numbers, and most
bytes of a text are one look-up: in 300 KB of English and Python nine of ten. A tail has one of four slots, and takes
that of another one where all are taken. Tails of more than MEMO_BYTES are not remembered.

What is not remembered is found out, step by step where one pattern splits the text and every byte is a token: the last
token of every prefix is known (bpe_backtrack.py), and one byte more takes one step of every token that still runs:
their beginnings and places in the trie are kept. So a text of one word, however long, costs no more than any other.

    text       "abac" + "b"      running before: "ac", "c"; after: "acb", "cb", "b"
    last token  of "abacb": the one among those that end here that is compatible with the last token before it

Where it does not match, or several patterns split, the tail is scanned anew.

In: an encoder's table, the state of `append_bytes`. Out: counts, rows of final words. Cost: 10 ns a byte that is
remembered, 100 ns another one.
"""

from ..machine.constants import MAX_TOKEN_BYTES
from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, borrow_zeros, give_back, shift_right, wrapped_product
from ..machine.records import Record
from ..tables.memory import as_table, load_i64, load_u8
from .bpe_encode import WORD_BUFFER, count_word, whole_word
from .bpe_incremental import (
    FAILED,
    LEVEL,
    ROW,
    UNDECIDED,
    clear_levels,
    count_rest,
    is_cut_off,
    next_row,
    write_row,
)
from .bpe_pairs import are_compatible
from .bpe_words import MIX, NO_TOKEN
from .double_array import ROOT_BASE, base_of, ending_of, is_child
from .encoder_slots import MAX_PATTERNS, EncoderSlot
from .pretokenize_scan import first_row, next_state

RUNNING = Record("a token that may go on", 64, begin="where it began", base="of its children in the trie")
PREFIX = Record("a prefix of a word", token="its last", count="its tokens")
STATE = Record(
    *("how far a text was read", 64),
    first="where the tail begins",
    total="tokens before it",
    row="of the match that runs there; 0: none",
    place="where that has come to",
    matched="where it matched last",
    known="the prefixes up to here are known",
    n_running="tokens that may go on there",
    n_rows="final words",
    tail="its name",
    n_names="of tails, so far",
)
REMEMBERED = Record(
    *("what a byte does to a tail", 64),
    key="name of the tail << 8 | byte",
    found="name of the longer tail << 24 | its tokens << 16 | bytes that became final << 8 | their tokens, 0: free",
)
MAX_RUNNING = MAX_TOKEN_BYTES + 1

MEMO_BITS = 14
LINE_BYTES = 64  # a line of the processor's cache
LINE_SLOTS = LINE_BYTES // REMEMBERED.n_bytes
MEMO_SIZE = LINE_BYTES << MEMO_BITS
MEMO_BYTES = 64
NO_TAIL, EMPTY_TAIL = -1, 0  # names of tails; EMPTY_TAIL is 0 so that a state of zeros has it
NAME_SHIFT, COUNT_SHIFT, FINAL_SHIFT = 24, 16, 8  # of what is remembered
FIELD = 0xFF


@inline
def extend(table, text, first, start, end, prefixes, running, n_running):
    """Find the last tokens of the prefixes that end after `start` up to `end`, of a word that begins at `first`.

    `prefixes` has an entry a place of the text; `running` are the tokens that may go on at `start`. Returns how many
    may at `end`.
    """
    entries = table[EncoderSlot.FORWARD]
    for place in range(start, end):
        byte = load_u8(text + place)
        running[n_running].begin, running[n_running].base = place, ROOT_BASE
        n_kept, is_found = 0, False
        for i in range(n_running + 1):
            begin = running[i].begin
            entry = load_i64(entries + (running[i].base + byte) * 8)
            if not is_child(entry, byte):
                continue
            token = ending_of(entry)
            if token != NO_TOKEN and not is_found:
                count = 0 if begin == first else prefixes[begin].count
                if begin == first or are_compatible(table, prefixes[begin].token, token):
                    prefixes[place + 1].token, prefixes[place + 1].count = token, count + 1
                    is_found = True
            if base_of(entry) != 0:
                running[n_kept].begin, running[n_kept].base = begin, base_of(entry)
                n_kept += 1
        n_running = n_kept
    return n_running


@inline
def count_prefix(table, text, first, end, safe_end, prefixes):
    """Tokens of the word from `first` to `end`, whose prefixes are known."""
    count = prefixes[end].count
    if count > 1 and table[EncoderSlot.IS_WHOLE] and whole_word(table, text, first, end, safe_end) != NO_TOKEN:
        return 1
    return count


@inline
def begin_tail(table, state, first, total, n_rows):
    """Make the state that of a tail that begins at `first` and has not been read."""
    state.first = state.place = state.matched = state.known = first
    state.row, state.n_running = first_row(table), 0
    state.total, state.n_rows = total, n_rows


@kernel
def read_on(table, state, text, n_read, tail_count, prefixes, running, rows, levels, buffer):
    """Read a text up to `n_read`, step by step; returns the number of its tokens. Final words become rows.

    `tail_count`: tokens of the tail without the last byte; -1: not known.
    """
    first, total, n_rows = state.first, state.total, state.n_rows
    # the running match from `first`: its state (0: no match runs), the place it has come to, where it matched last
    row, place, matched = state.row, state.place, state.matched
    known, n_running = state.known, state.n_running
    needed = rows[n_rows - 1].needed if n_rows > 0 else 0
    # a character a step; where the match ends, its word is final
    while place < n_read and row != 0 and not is_cut_off(text, place, n_read):
        entry, length = next_state(table, 0, row, text, place, n_read)
        if entry & 1:
            matched = place
        before, row = row, entry >> 1
        if row == 0 and matched > first:
            is_end = matched == n_read - 1 and (next_state(table, 0, before, text, n_read, n_read)[0] & 1) == 1
            if is_end and tail_count >= 0:  # the word is the tail that was counted: most misses are such
                total += tail_count
            else:
                n_running = extend(table, text, first, known, matched, prefixes, running, n_running)
                total += count_prefix(table, text, first, matched, n_read, prefixes)
            tail_count = -1  # it was that of the first word
            needed = max(needed, place + 1)
            n_rows = write_row(rows, n_rows, matched, needed, total, 1)
            first = place = known = matched
            row, n_running = first_row(table), 0
        else:
            place += length
    # nothing matches from `first` on: the tail is scanned anew
    while row == 0 and first < n_read:
        clear_levels(table, levels)
        end, seen, _ = next_row(table, levels, text, first, n_read, 1)
        if seen == UNDECIDED:
            break
        total += count_word(table, text, first, end, n_read, buffer)
        needed = max(needed, seen)
        n_rows = write_row(rows, n_rows, end, needed, total, 1)
        first = place = matched = known = end
        n_running = 0
    if row == 0 and first == n_read:
        row = first_row(table)
    # the tail: what is known of its prefixes goes on where the match might end here
    if place == n_read and row != 0 and next_state(table, 0, row, text, n_read, n_read)[0] & 1:
        n_running = extend(table, text, first, known, n_read, prefixes, running, n_running)
        known = n_read
        count = total + count_prefix(table, text, first, n_read, n_read, prefixes)
    else:
        count = total + count_rest(table, levels, text, first, n_read, n_read, buffer)
    state.first, state.total, state.n_rows = first, total, n_rows
    state.row, state.place, state.matched = row, place, matched
    state.known, state.n_running = known, n_running
    return count


@kernel
def scan_on(table, state, text, n_read, rows, levels, buffer):
    """As `read_on` for any patterns and vocabulary: the tail is scanned anew. FAILED: a byte is no token."""
    first, total, n_rows = state.first, state.total, state.n_rows
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
            n_rows = write_row(rows, n_rows, first, n_read, total, 1)
    rest = count_rest(table, levels, text, first, n_read, n_read, buffer)
    if rest == FAILED:
        return FAILED
    state.first, state.total, state.n_rows = first, total, n_rows
    return total + rest


@inline
def line_of(memo, key):
    """The line of slots where a key may be."""
    return REMEMBERED.at(memo + shift_right(wrapped_product(key, MIX), 64 - MEMO_BITS) * LINE_BYTES)


@inline
def recall(memo, key):
    """What is remembered for a key, 0: nothing."""
    slots = line_of(memo, key)
    for i in range(LINE_SLOTS):
        if slots[i].key == key:
            return slots[i].found
    return 0


@inline
def remember(state, memo, key, n_tokens, n_final, final_tokens):
    """Remember what a byte does to a tail; returns the name of the longer one."""
    state.n_names += 1
    slots, slot, name = line_of(memo, key), 0, state.n_names
    while slot < LINE_SLOTS and slots[slot].found != 0:
        slot += 1
    if slot == LINE_SLOTS:
        slot = name % LINE_SLOTS
    slots[slot].key = key
    slots[slot].found = name << NAME_SHIFT | n_tokens << COUNT_SHIFT | n_final << FINAL_SHIFT | final_tokens
    return name


@inline
def name_tail(state, memo, text, first, end, n_tokens):
    """Name of a tail of `n_tokens` and no final word; NO_TAIL where the tail a byte shorter has no name."""
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
def append_bytes(address, state_at, text, n_old, n_bytes, prefixes_at, running_at, rows_at, memo, counts):
    """Take the bytes from `n_old` to `n_bytes` in; returns the number of tokens of the text, or FAILED.

    The STATE and `memo` (MEMO_SIZE bytes) are zeros at first, but for the row where matches begin. At `prefixes_at`, 0
    where texts are scanned anew, lies a PREFIX for each place of the text and one more, at `running_at` MAX_RUNNING
    entries. Final words become rows, for which there is room: one for each byte that is not in a final word yet.
    `counts` int32: the tokens after each byte; empty: nobody wants them.
    """
    table, state, rows = as_table(address), STATE.at(state_at), ROW.at(rows_at)
    prefixes, running = PREFIX.at(prefixes_at), RUNNING.at(running_at)
    levels, buffer = LEVEL.at(borrow_zeros(MAX_PATTERNS, LEVEL.n_bytes)), borrow(WORD_BUFFER * 4)
    is_listing = counts.shape[0] > 0
    tail, count = state.tail, state.total
    if not is_listing and n_bytes - n_old > 1:
        tail = NO_TAIL
    for n_read in range(n_old + 1 if is_listing else n_bytes, n_bytes + 1):
        first, total = state.first, state.total
        key, known = -1, 0
        if tail != NO_TAIL:
            key = tail << 8 | load_u8(text + n_read - 1)
            known = recall(memo, key)
        if known != 0:  # the tail and what the byte does to it are remembered
            tail, count = known >> NAME_SHIFT, known >> COUNT_SHIFT & FIELD
            n_final = known >> FINAL_SHIFT & FIELD
            if n_final > 0:  # the tail begins anew after its final words
                first, total = first + n_final, total + (known & FIELD)
                begin_tail(table, state, first, total, write_row(rows, state.n_rows, first, n_read, total, 1))
                tail = name_tail(state, memo, text, first, n_read, count)
            count += total
        else:  # it is found out, and remembered
            if prefixes.address != 0:
                tail_count = count - total if is_listing and n_read > n_old + 1 else -1
                count = read_on(table, state, text, n_read, tail_count, prefixes, running, rows, levels, buffer)
            else:
                count = scan_on(table, state, text, n_read, rows, levels, buffer)
            if count == FAILED:
                break
            n_final, final_tokens = state.first - first, state.total - total
            n_tokens = count - total - final_tokens
            is_short = n_read - first <= MEMO_BYTES
            tail = remember(state, memo, key, n_tokens, n_final, final_tokens) if key >= 0 and is_short else NO_TAIL
            if n_final > 0 or tail == NO_TAIL:
                tail = name_tail(state, memo, text, first + n_final, n_read, n_tokens)
        if is_listing:
            counts[n_read - n_old - 1] = count
    state.tail = NO_TAIL if count == FAILED else tail
    give_back(levels.address)
    give_back(buffer)
    return count
