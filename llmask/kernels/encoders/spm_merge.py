"""SentencePiece BPE: neighbouring symbols are merged, the pair of lowest rank first, leftmost among equals.

`bpe::Model::SampleEncode` of sentencepiece (T. Kudo, J. Richardson, "SentencePiece", 2018) and `llm_tokenizer_spm` of
llama.cpp keep all pairs of a text in one priority queue. Most of them never meet: where no token contains two bytes
that are neighbours in the text, nothing is ever merged across, so a text is cut there into words first (after every
word's last letter, in a vocabulary whose blanks begin tokens). Up to SHORT_PIECE symbols the best pair is looked for by
going over all of them; longer words have their pairs on a heap, so a text without any cut costs O(n log n). (With lists
of pairs by rank a word of 1 MB took a third of the time, but no text that people write took less.)

Symbols are numbers: tokens have their ids; characters that are no token, but part of one, have numbers above. What a
pair merges to is looked up by its two numbers (merges_table.py), never by its text.

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 20 ns a byte of words, 200 ns a byte of
one word of 1 MB.
"""

from ..machine.jit import door, inline, kernel
from ..machine.raw import give_back
from ..machine.records import Record, Wide
from ..tables.memory import allocate, as_table, load_i32, load_u8
from .charsmap_rules import NEEDS_MORE, SPACE, character_length
from .double_array import FREE, NOTHING, ROOT, ending_of, longest_token, step
from .heap import pop, push
from .merges_table import MADE_MASK, NO_MERGE, RANK_SHIFT, find_merge
from .piece_slots import PieceSlot, RoomSlot
from .unigram_viterbi import is_cut, normalize_into, put_token, put_unknown

SHORT_PIECE = 24
NO_SYMBOL, DEAD_SYMBOL = -1, -2
SYMBOL = Record(
    "a symbol of a long word",
    id="DEAD_SYMBOL: it was merged to its left",
    start="",
    before="the symbol before, -1: it is the first",
    after="the next symbol",
)
PAIR = Record("a pair on the heap", key=Wide("rank << 32 | left symbol"), length="in bytes", merged="what it merges to")
SHORT = Record("a symbol of a short word", id="", start="", merge=Wide("with the next one, as find_merge says it"))


@inline
def note_pair(model, symbol):
    """Note at a symbol of a short word what it merges to with the next one, and the rank."""
    symbol.merge = find_merge(model[PieceSlot.PAIRS], model[PieceSlot.PAIR_BITS], symbol.id, symbol[1].id)


@kernel
def merge_short(model, symbols, n_symbols):
    """Merge the symbols of a short word in place; returns how many are left."""
    symbol, last = symbols, symbols[n_symbols - 1]
    while symbol.address < last.address:
        note_pair(model, symbol)
        symbol = symbol[1]
    last.merge = NO_MERGE
    while True:
        best, best_rank, symbol = symbols, symbols.merge >> RANK_SHIFT, symbols[1]
        while symbol.address <= last.address:
            rank = symbol.merge >> RANK_SHIFT
            if rank < best_rank:
                best, best_rank = symbol, rank
            symbol = symbol[1]
        if best_rank == NO_MERGE >> RANK_SHIFT:
            return (last.address - symbols.address) // SHORT.n_bytes + 1
        best.id = best.merge & MADE_MASK
        symbol = best[1]
        while symbol.address < last.address:  # close the gap
            symbol[0] = symbol[1]
            symbol = symbol[1]
        last = last[-1]
        if best.address < last.address:
            note_pair(model, best)
        else:
            best.merge = NO_MERGE
        if best.address > symbols.address:
            note_pair(model, best[-1])


@inline
def push_pair(model, heap, n_pairs, symbols, left, right, end):
    """Put the pair of two neighbours, which ends at `end`, on the heap, if it merges; returns the new size."""
    found = find_merge(model[PieceSlot.PAIRS], model[PieceSlot.PAIR_BITS], symbols[left].id, symbols[right].id)
    if found == NO_MERGE:
        return n_pairs
    pair = heap[push(heap, n_pairs, found >> RANK_SHIFT << 32 | left)]
    pair.length, pair.merged = end - symbols[left].start, found & MADE_MASK
    return n_pairs + 1


@inline
def symbol_end(symbols, n_symbols, following, n_bytes):
    """Where the symbol before `following` ends."""
    return n_bytes if following == n_symbols else symbols[following].start


@kernel
def merge_long(model, symbols, n_symbols, n_bytes):
    """Merge the symbols of a long word, which ends at `n_bytes`; the symbols left are moved together. Returns how many.

    After a merge the left symbol is what both make, and both pairs with its new neighbours go on the heap.
    """
    heap, n_pairs = PAIR.at(allocate(3 * n_symbols * PAIR.n_bytes)), 0
    for i in range(n_symbols):
        symbols[i].before, symbols[i].after = i - 1, i + 1
    for i in range(n_symbols - 1):
        end = symbol_end(symbols, n_symbols, i + 2, n_bytes)
        n_pairs = push_pair(model, heap, n_pairs, symbols, i, i + 1, end)
    while n_pairs > 0:
        left, length, merged = heap.key & 0x7FFFFFFF, heap.length, heap.merged
        n_pairs = pop(heap, n_pairs)
        first, right = symbols[left], symbols[left].after
        if first.id == DEAD_SYMBOL or right == n_symbols:
            continue
        following = symbols[right].after
        end = symbol_end(symbols, n_symbols, following, n_bytes)
        if end - first.start != length:  # one of the two was merged meanwhile: symbols only grow
            continue
        first.id, first.after, symbols[right].id = merged, following, DEAD_SYMBOL
        if following < n_symbols:
            symbols[following].before = left
            after = symbol_end(symbols, n_symbols, symbols[following].after, n_bytes)
            n_pairs = push_pair(model, heap, n_pairs, symbols, left, following, after)
        if first.before >= 0:
            n_pairs = push_pair(model, heap, n_pairs, symbols, first.before, left, end)
    give_back(heap.address)
    n_left, i = 0, 0
    while i < n_symbols:
        following = symbols[i].after
        symbols[n_left] = symbols[i]
        n_left += 1
        i = following
    return n_left


@inline
def put_word(model, text, symbols, n_symbols, end, ids, filled, after_unknown):
    """Merge a word and append its tokens; returns the new number of ids and whether the last symbol was unknown."""
    if n_symbols > SHORT_PIECE:
        n_symbols = merge_long(model, symbols, n_symbols, end)
    elif n_symbols > 1:
        n_symbols = merge_short(model, SHORT.at(symbols.address), n_symbols)
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
