"""SentencePiece BPE: neighbouring symbols are merged, the pair of lowest rank first, leftmost among equals.

`bpe::Model::SampleEncode` of sentencepiece (T. Kudo, J. Richardson, "SentencePiece", 2018) and `llm_tokenizer_spm` of
llama.cpp keep all pairs of a text in one priority queue. Most of them never meet: where no token contains two bytes
that are neighbours in the text, nothing is ever merged across, so a text is cut there into words first (after every
word's last letter, in a vocabulary whose blanks begin tokens). Up to SHORT_PIECE symbols the best pair is looked for by
going over all of them; longer words get a queue (spm_long.py), so a text without any cut costs O(n log n).

Symbols are numbers: tokens have their ids; characters that are no token, but part of one, have numbers above. What a
pair merges to is looked up by its two numbers (merges_table.py), never by its text.

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 20 ns a byte of words, 50 ns a byte of one
word of 1 MB.
"""

from __future__ import annotations

from ..machine.jit import door, inline, kernel
from ..tables.memory import as_table, load_i32, load_u8
from .charsmap_rules import NEEDS_MORE, SPACE, character_length
from .double_array import FREE, NOTHING, ROOT, ending_of, longest_token, step
from .merges_table import find_merge
from .piece_slots import PieceSlot, RoomSlot
from .spm_long import SYMBOL, merge_long, symbol_end
from .unigram_viterbi import is_cut, normalize_into, put_token, put_unknown

SHORT_PIECE = 24
NO_SYMBOL = -1
NO_RANK = 0x7FFFFFFF  # higher than any rank


@inline
def note_pair(model, symbols, i):
    """Note at a symbol of a short word what it merges to with the next one, and the rank."""
    pair = find_merge(model[PieceSlot.PAIRS], model[PieceSlot.PAIR_BITS], symbols[i].id, symbols[i + 1].id)
    symbols[i].merged = pair.made
    symbols[i].rank = pair.rank if pair.key != 0 else NO_RANK


@kernel
def merge_short(model, symbols, n_symbols):
    """Merge the symbols of a short word in place; returns how many are left."""
    for i in range(n_symbols - 1):
        note_pair(model, symbols, i)
    symbols[n_symbols - 1].rank = NO_RANK
    while True:
        best, best_rank = 0, symbols.rank
        for i in range(1, n_symbols):
            if symbols[i].rank < best_rank:
                best, best_rank = i, symbols[i].rank
        if best_rank == NO_RANK:
            return n_symbols
        symbols[best].id = symbols[best].merged
        n_symbols -= 1
        for i in range(best + 1, n_symbols):  # close the gap
            symbols[i] = symbols[i + 1]
        if best < n_symbols - 1:
            note_pair(model, symbols, best)
        else:
            symbols[best].rank = NO_RANK
        if best > 0:
            note_pair(model, symbols, best - 1)


@inline
def put_word(model, text, symbols, n_symbols, end, ids, filled, after_unknown):
    """Merge a word and append its tokens; returns the new number of ids and whether the last symbol was unknown."""
    if n_symbols > SHORT_PIECE:
        n_symbols = merge_long(model, symbols, n_symbols, end)
    elif n_symbols > 1:
        n_symbols = merge_short(model, symbols, n_symbols)
    n_tokens = model[PieceSlot.N_TOKENS]
    for i in range(n_symbols):
        if 0 <= symbols[i].id < n_tokens:
            filled = put_token(symbols[i].id, ids, filled)
            after_unknown = 0
        else:
            stop = symbol_end(symbols, n_symbols, i + 1, end)
            filled = put_unknown(model, text, symbols[i].start, stop, ids, filled, after_unknown)
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


@kernel
def merge_text(model, text, n_bytes, symbols, ids):
    """Write the tokens of a normalized text to `ids`; returns how many there are."""
    neighbours, frozen = model[PieceSlot.NEIGHBOURS], model[PieceSlot.FROZEN]
    stops = model[PieceSlot.STOPS_AT_SPACES] != 0
    filled, after_unknown = 0, 0
    n_symbols, previous = 0, 0  # of the word so far; its last byte
    place = 0
    while place < n_bytes:
        byte = load_u8(text + place)
        token, end = NOTHING, place
        if frozen != 0:
            token, end = longest_token(frozen, text, place, n_bytes)
        # a word ends before a token that is never merged, too
        if n_symbols > 0 and (token != NOTHING or is_cut(neighbours, previous, byte) or (stops and byte == SPACE)):
            filled, after_unknown = put_word(model, text, symbols, n_symbols, place, ids, filled, after_unknown)
            n_symbols = 0
        if token != NOTHING:
            filled = put_token(token, ids, filled)
            after_unknown = 0
        else:
            end = min(place + character_length(byte), n_bytes)
            symbols[n_symbols].id = character_symbol(model, text, place, end)
            symbols[n_symbols].start = place
            n_symbols += 1
        place, previous = end, load_u8(text + end - 1)
    if n_symbols > 0:
        filled, after_unknown = put_word(model, text, symbols, n_symbols, n_bytes, ids, filled, after_unknown)
    return filled


@door("int64(int64, int64, int64, int64)", group="spm")
def spm_encode(address, room_address, text, n_bytes):
    """Write the ids of a text to the room's IDS and return how many; NEEDS_MORE: a larger room is needed.

    The unknown id may be -1.
    """
    model, room = as_table(address), as_table(room_address)
    n_normal = normalize_into(model, room, text, n_bytes)
    if n_normal == NEEDS_MORE:
        return NEEDS_MORE
    return merge_text(model, room[RoomSlot.NORMAL], n_normal, SYMBOL.at(room[RoomSlot.RECORDS]), room[RoomSlot.IDS])
