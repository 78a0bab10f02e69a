"""SentencePiece BPE: neighbouring symbols are merged, the pair of lowest rank first, leftmost among equals.

`bpe::Model::SampleEncode` of sentencepiece and `llm_tokenizer_spm` of llama.cpp keep all pairs of a text in one
priority queue. Most of them never meet: where no token contains two bytes that stand side by side, nothing is ever
merged across, so a text is cut there into words first (behind every word's last letter, in a vocabulary whose blanks
begin tokens). Up to SHORT_PIECE symbols the best pair is looked for by going over all of them; longer words get a queue
(spm_long.py), so a text without any cut costs O(n log n).

Symbols are numbers: tokens have their ids; characters that are no token, but part of one, have numbers above. What a
pair merges to is looked up by its two numbers, never by its text.

    pairs       16 bytes a slot, open addressing:  int64 1 + (left << 31 | right), 0 = free | int32 symbol | int32 rank
    short word  16 bytes a symbol:  int32 symbol | int32 start | int32 what it merges to with the next, -1 | int32 rank
    long word   16 bytes a symbol, as described in spm_long.py

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 20 ns a byte of words, 50 ns a byte of one
word of 1 MB.
"""

from __future__ import annotations

from ..machine.jit import door, inline, kernel
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64
from .charsmap_rules import NEEDS_MORE, SPACE, character_length
from .double_array import FREE, NOTHING, ROOT, ending_of, step
from .piece_slots import RECORD_BYTES, PieceSlot, RoomSlot
from .spm_long import merge_long, symbol_end
from .spm_pairs import find_pair
from .unigram_viterbi import is_cut, normalize_into, put_bytes

SHORT_PIECE = 24
NO_SYMBOL = -1
NO_RANK = 0x7FFFFFFF  # higher than any rank
RECORD = RECORD_BYTES


@inline
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


@inline
def put_word(model, text, symbols, n_symbols, end, ids, filled, after_unknown):
    """Merge a word and append its tokens; returns the new number of ids and whether the last symbol was unknown."""
    if n_symbols > SHORT_PIECE:
        n_symbols = merge_long(model, symbols, n_symbols, end)
    elif n_symbols > 1:
        n_symbols = merge_short(model, symbols, n_symbols)
    n_tokens = model[PieceSlot.N_TOKENS]
    for i in range(n_symbols):
        symbol = load_i32(symbols + i * RECORD)
        if 0 <= symbol and symbol < n_tokens:
            store_i32(ids + filled * 4, symbol)
            filled += 1
            after_unknown = 0
            continue
        start = load_i32(symbols + i * RECORD + 4)
        stop = symbol_end(symbols, n_symbols, i + 1, end)
        if model[PieceSlot.BYTE_TOKENS] != 0:
            filled = put_bytes(model, text, start, stop, ids, filled)
        elif after_unknown == 0:
            store_i32(ids + filled * 4, model[PieceSlot.UNKNOWN_ID])
            filled += 1
        after_unknown = 1
    return filled, after_unknown


@inline
def character_symbol(model, text, place, end):
    """Symbol of a single character, or NO_SYMBOL."""
    entry = ROOT
    for at in range(place, end):
        entry = step(model[PieceSlot.CHARACTERS], entry, load_u8(text + at))
        if entry == FREE:
            return NO_SYMBOL
    number = ending_of(entry)
    return load_i32(model[PieceSlot.SYMBOLS] + number * 4) if number != NOTHING else NO_SYMBOL


@inline
def frozen_token(model, text, place, n_bytes):
    """The longest token at a place that is never merged: its length << 32 | id; 0 when there is none."""
    found = 0
    entry = ROOT
    at = place
    while at < n_bytes:
        entry = step(model[PieceSlot.FROZEN], entry, load_u8(text + at))
        if entry == FREE:
            break
        at += 1
        token = ending_of(entry)
        if token != NOTHING:
            found = (at - place) << 32 | token
    return found


@kernel
def merge_text(model, text, n_bytes, symbols, ids):
    """Append the tokens of a normalized text to `ids`; returns how many there are."""
    neighbours = model[PieceSlot.NEIGHBOURS]
    stops = model[PieceSlot.STOPS_AT_SPACES] != 0
    frozen = model[PieceSlot.FROZEN] != 0
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
    return merge_text(model, room[RoomSlot.NORMAL], n_normal, room[RoomSlot.RECORDS], room[RoomSlot.IDS])
