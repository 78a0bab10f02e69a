"""SentencePiece BPE: neighbouring symbols are merged, the pair of lowest rank first, leftmost among equals.

`bpe::Model::SampleEncode` of sentencepiece and `llm_tokenizer_spm` of llama.cpp keep all pairs of a text in one
priority queue. Most of them never meet: where no token contains two bytes that stand side by side, nothing is ever
merged across, so a text is cut there into words first (behind every word's last letter, in a vocabulary whose blanks
begin tokens). Up to SHORT_WORD symbols the best pair is looked for by going over all of them; longer words get a heap,
so a text without any cut costs O(n log n).

Symbols are numbers: tokens have their ids; characters that are no token, but part of one, have numbers above. What a
pair merges to is looked up by its two numbers, never by its text.

    pairs       16 bytes a slot, open addressing:  int64 1 + (left << 31 | right), 0 = free | int32 symbol | int32 rank
    short word  16 bytes a symbol:  int32 symbol | int32 start | int32 what it merges to with the next, -1 | int32 rank
    long word   16 bytes a symbol:  int32 symbol, DEAD when merged to its left | int32 start | int32 before | int32 next
    heap        16 bytes an entry:  int64 rank << 32 | left | int32 bytes of the pair | int32 what it merges to

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 20 ns a byte of words, 150 ns a byte of one
word of 1 MB.
"""

from __future__ import annotations

from .charsmap_rules import NEEDS_MORE, SPACE, character_length
from .double_array import FREE, NOTHING, ROOT, step, token_of
from .jit import door, kernel, never_inline
from .memory import (
    allocate,
    as_table,
    copy_bytes,
    give_back,
    load_i32,
    load_i64,
    load_u8,
    store_i32,
    store_i64,
)
from .piece_slots import (
    BYTE_TOKENS,
    CHARACTERS,
    FROZEN,
    IDS,
    N_TOKENS,
    NEIGHBOURS,
    NORMAL,
    PAIRS,
    PAIRS_MASK,
    RECORD_BYTES,
    RECORDS,
    STOPS_AT_SPACES,
    SYMBOLS,
    UNKNOWN_ID,
)
from .spm_pairs import pair_slot
from .unigram_viterbi import is_cut, normalize_into, put_bytes

SHORT_WORD = 24
NO_SYMBOL = -1
DEAD = -2
NO_RANK = 0x7FFFFFFF  # higher than any rank
RECORD = RECORD_BYTES


@kernel
def find_pair(model, left, right):
    """Address of the slot of a pair of symbols, 0 when they never merge."""
    if left < 0 or right < 0:
        return 0
    pairs = model[PAIRS]
    mask = model[PAIRS_MASK]
    wanted = 1 + (left << 31 | right)
    slot = pair_slot(left, right, mask)
    while True:
        address = pairs + slot * RECORD
        key = load_i64(address)
        if key == wanted:
            return address
        if key == 0:
            return 0
        slot = (slot + 1) & mask


@kernel
def write_pair(model, record, left, right):
    """Note at a symbol of a short word what it merges to with the next one, and the rank."""
    pair = find_pair(model, left, right)
    if pair == 0:
        store_i32(record + 8, NO_SYMBOL)
        store_i32(record + 12, NO_RANK)
    else:
        store_i64(record + 8, load_i64(pair + 8))


@kernel
def merge_short(model, symbols, n_symbols):
    """Merge the symbols of a short word in place; returns how many are left."""
    never_inline()
    last = symbols + (n_symbols - 1) * RECORD
    record = symbols
    while record < last:
        write_pair(model, record, load_i32(record), load_i32(record + RECORD))
        record += RECORD
    store_i32(last + 8, NO_SYMBOL)
    store_i32(last + 12, NO_RANK)
    while True:
        best = symbols
        best_rank = load_i32(symbols + 12)
        record = symbols + RECORD
        while record <= last:
            rank = load_i32(record + 12)
            if rank < best_rank:
                best_rank = rank
                best = record
            record += RECORD
        if best_rank == NO_RANK:
            return (last - symbols) // RECORD + 1
        store_i32(best, load_i32(best + 8))
        record = best + RECORD
        while record < last:  # close the gap
            store_i64(record, load_i64(record + RECORD))
            store_i64(record + 8, load_i64(record + RECORD + 8))
            record += RECORD
        last -= RECORD
        if best < last:
            write_pair(model, best, load_i32(best), load_i32(best + RECORD))
        else:
            store_i32(best + 8, NO_SYMBOL)
            store_i32(best + 12, NO_RANK)
        if best > symbols:
            write_pair(model, best - RECORD, load_i32(best - RECORD), load_i32(best))


@kernel
def push_pair(model, heap, n_entries, symbols, left, right, end):
    """Put the pair of two neighbouring symbols onto the heap, if it merges; returns the new number of entries."""
    first, second = symbols + left * RECORD, symbols + right * RECORD
    pair = find_pair(model, load_i32(first), load_i32(second))
    if pair == 0:
        return n_entries
    key = load_i32(pair + 12) << 32 | left
    hole = n_entries
    while hole > 0:
        above = (hole - 1) >> 1
        if load_i64(heap + above * RECORD) <= key:
            break
        copy_bytes(heap + hole * RECORD, heap + above * RECORD, RECORD)
        hole = above
    store_i64(heap + hole * RECORD, key)
    store_i32(heap + hole * RECORD + 8, end - load_i32(first + 4))
    store_i32(heap + hole * RECORD + 12, load_i32(pair + 8))
    return n_entries + 1


@kernel
def drop_top(heap, n_entries):
    """Take the top off a heap; returns the new number of entries."""
    last = heap + (n_entries - 1) * RECORD
    key = load_i64(last)
    value = load_i64(last + 8)
    n_entries -= 1
    hole = 0
    while True:
        below = 2 * hole + 1
        if below >= n_entries:
            break
        if below + 1 < n_entries and load_i64(heap + (below + 1) * RECORD) < load_i64(heap + below * RECORD):
            below += 1
        if key <= load_i64(heap + below * RECORD):
            break
        copy_bytes(heap + hole * RECORD, heap + below * RECORD, RECORD)
        hole = below
    store_i64(heap + hole * RECORD, key)
    store_i64(heap + hole * RECORD + 8, value)
    return n_entries


@kernel
def symbol_end(symbols, n_symbols, following, n_bytes):
    """Where the symbol before `following` ends."""
    return n_bytes if following == n_symbols else load_i32(symbols + following * RECORD + 4)


@kernel
def merge_long(model, symbols, n_symbols, n_bytes):
    """Merge the symbols of a long word, which ends at `n_bytes`; those left stand side by side. Returns how many."""
    never_inline()
    heap = allocate(3 * n_symbols * RECORD)
    n_entries = 0
    for i in range(n_symbols):
        store_i32(symbols + i * RECORD + 8, i - 1)
        store_i32(symbols + i * RECORD + 12, i + 1)
    for i in range(n_symbols - 1):
        end = symbol_end(symbols, n_symbols, i + 2, n_bytes)
        n_entries = push_pair(model, heap, n_entries, symbols, i, i + 1, end)
    while n_entries > 0:
        left = load_i64(heap) & 0x7FFFFFFF
        length = load_i32(heap + 8)
        merged = load_i32(heap + 12)
        n_entries = drop_top(heap, n_entries)
        first = symbols + left * RECORD
        right = load_i32(first + 12)
        if load_i32(first) == DEAD or right == n_symbols:
            continue
        second = symbols + right * RECORD
        following = load_i32(second + 12)
        end = symbol_end(symbols, n_symbols, following, n_bytes)
        if end - load_i32(first + 4) != length:  # one of the two was merged meanwhile: symbols only grow
            continue
        store_i32(first, merged)
        store_i32(first + 12, following)
        store_i32(second, DEAD)
        if following < n_symbols:
            store_i32(symbols + following * RECORD + 8, left)
            after = load_i32(symbols + following * RECORD + 12)
            beyond = symbol_end(symbols, n_symbols, after, n_bytes)
            n_entries = push_pair(model, heap, n_entries, symbols, left, following, beyond)
        before = load_i32(first + 8)
        if before >= 0:
            n_entries = push_pair(model, heap, n_entries, symbols, before, left, end)
    give_back(heap)
    n_left = 0
    i = 0
    while i < n_symbols:
        following = load_i32(symbols + i * RECORD + 12)
        store_i64(symbols + n_left * RECORD, load_i64(symbols + i * RECORD))
        n_left += 1
        i = following
    return n_left


@kernel
def put_word(model, text, symbols, n_symbols, end, ids, filled, after_unknown):
    """Merge a word and append its tokens; returns the new number of ids and whether the last symbol was unknown."""
    if n_symbols > SHORT_WORD:
        n_symbols = merge_long(model, symbols, n_symbols, end)
    elif n_symbols > 1:
        n_symbols = merge_short(model, symbols, n_symbols)
    n_tokens = model[N_TOKENS]
    for i in range(n_symbols):
        symbol = load_i32(symbols + i * RECORD)
        if 0 <= symbol and symbol < n_tokens:
            store_i32(ids + filled * 4, symbol)
            filled += 1
            after_unknown = 0
            continue
        start = load_i32(symbols + i * RECORD + 4)
        stop = symbol_end(symbols, n_symbols, i + 1, end)
        if model[BYTE_TOKENS] != 0:
            filled = put_bytes(model, text, start, stop, ids, filled)
        elif after_unknown == 0:
            store_i32(ids + filled * 4, model[UNKNOWN_ID])
            filled += 1
        after_unknown = 1
    return filled, after_unknown


@kernel
def character_symbol(model, text, place, end):
    """Symbol of a single character, or NO_SYMBOL."""
    entry = ROOT
    for at in range(place, end):
        entry = step(model[CHARACTERS], entry, load_u8(text + at))
        if entry == FREE:
            return NO_SYMBOL
    number = token_of(entry)
    return load_i32(model[SYMBOLS] + number * 4) if number != NOTHING else NO_SYMBOL


@kernel
def frozen_token(model, text, place, n_bytes):
    """The longest token at a place that is never merged: its length << 32 | id; 0 when there is none."""
    found = 0
    entry = ROOT
    at = place
    while at < n_bytes:
        entry = step(model[FROZEN], entry, load_u8(text + at))
        if entry == FREE:
            break
        at += 1
        token = token_of(entry)
        if token != NOTHING:
            found = (at - place) << 32 | token
    return found


@kernel
def merge_text(model, text, n_bytes, symbols, ids):
    """Append the tokens of a normalized text to `ids`; returns how many there are."""
    never_inline()
    neighbours = model[NEIGHBOURS]
    stops = model[STOPS_AT_SPACES] != 0
    frozen = model[FROZEN] != 0
    filled = 0
    after_unknown = 0
    n_symbols = 0  # of the word so far
    previous = 0
    place = 0
    while place < n_bytes:
        byte = load_u8(text + place)
        is_apart = is_cut(neighbours, previous, byte) or (stops and byte == SPACE)
        if n_symbols > 0 and is_apart:
            filled, after_unknown = put_word(model, text, symbols, n_symbols, place, ids, filled, after_unknown)
            n_symbols = 0
        if frozen:
            found = frozen_token(model, text, place, n_bytes)
            if found != 0:
                if n_symbols > 0:
                    filled, after_unknown = put_word(model, text, symbols, n_symbols, place, ids, filled, after_unknown)
                    n_symbols = 0
                store_i32(ids + filled * 4, found & 0xFFFFFFFF)
                filled += 1
                after_unknown = 0
                place += found >> 32
                previous = load_u8(text + place - 1)
                continue
        end = min(place + character_length(byte), n_bytes)
        record = symbols + n_symbols * RECORD
        store_i32(record, character_symbol(model, text, place, end))
        store_i32(record + 4, place)
        n_symbols += 1
        previous = load_u8(text + end - 1)
        place = end
    if n_symbols > 0:
        filled, after_unknown = put_word(model, text, symbols, n_symbols, n_bytes, ids, filled, after_unknown)
    return filled


@door("int64(int64, int64, int64, int64)", group="spm")
def spm_encode(address, room_address, text, n_bytes):
    """Write the ids of a text to the room's IDS and return how many; NEEDS_MORE: a larger room is needed.

    The unknown id, which may be -1, stands where no token is.
    """
    model, room = as_table(address), as_table(room_address)
    n_normal = normalize_into(model, room, text, n_bytes)
    if n_normal == NEEDS_MORE:
        return NEEDS_MORE
    return merge_text(model, room[NORMAL], n_normal, room[RECORDS], room[IDS])
