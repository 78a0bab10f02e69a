"""Unigram tokenization by a Viterbi search: of all ways to cut a text into tokens the one of highest score.

T. Kudo, "Subword Regularization" (2018), section 3.1, as `EncodeOptimized` of sentencepiece 0.2 does it: for each place
of the text the best way to get there is known, as score, start and id of its last token. Every token that begins at the
place is offered to the place where it ends; a character that is no token is offered as unknown, at the penalty that the
model's table holds. Among equals the first offer stays: the longest token. Rounding decides between near-equals, so it
is that of the model's own library: sentencepiece adds scores as float32 and pulls them back to 0 beyond SCORE_LIMIT,
llama.cpp adds float64.

Between two bytes that are neighbours in no token every way passes: the best one up to there is written, and the places
are used again from the first. So the search stays in the nearest memory, with the score carried on.

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 25 ns a byte, whatever the text, as long as
tokens have a bounded length.
"""

import numpy as np

from ..machine.jit import door, inline, kernel
from ..machine.raw import load_f32, rounded_unless
from ..machine.records import Record, WideFloat
from ..tables.memory import as_table, fill_bytes, load_i32, load_u8, store_i32
from .charsmap_rules import MAX_REPLACEMENT_BYTES, NEEDS_MORE, SPACE, character_length, normalize
from .double_array import FREE, NOTHING, ROOT, ending_of, step
from .piece_slots import PieceSlot, RoomSlot
from .unigram_words import COUNT_SHIFT, MAX_WORD_BYTES, MAX_WORD_SCORE, pieces_of, recall

PLACE = Record(
    "the best way to a place",
    score=WideFloat(""),
    start="1 + start of its last token, 0: no way leads here",
    token="its last",
)
SCORE_LIMIT = 100000.0
ROOM_MARGIN = 64  # what `normalize` wants to be left of a room, besides the longest replacement


@inline
def normalize_into(model, room, text, n_bytes):
    """Length of the normalized text, which lies in the room then; NEEDS_MORE when the room is too small for it."""
    capacity = room[RoomSlot.CAPACITY]
    if n_bytes + MAX_REPLACEMENT_BYTES + ROOM_MARGIN > capacity:  # as `normalize` would find out in the end
        return NEEDS_MORE
    return normalize(model, text, n_bytes, room[RoomSlot.NORMAL], capacity)


@inline
def offer(places, end, start, token, score, token_score, is_wide):
    """Offer a token that begins at `start` to the place where it ends; `score` is that of the place `start`."""
    # the sum of two float32 in float64, rounded, is their sum in float32
    total = rounded_unless(is_wide, score + np.float64(token_score))
    if places[end].start == 0 or total > places[end].score:
        places[end].score, places[end].start, places[end].token = total, start + 1, token


@kernel
def pull_back(places, first, last):
    """Subtract the score of place `first` from all places up to `last` that were reached."""
    offset = places[first].score
    for i in range(first, last + 1):
        if i == first or places[i].start != 0:
            places[i].score = np.float64(np.float32(places[i].score - offset))


@inline
def is_cut(neighbours, before, byte):
    """Whether no token has `byte`, which begins a character, after the byte `before`: nothing reaches across then."""
    pair = before << 8 | byte
    return load_u8(neighbours + (pair >> 3)) >> (pair & 7) & 1 == 0


@inline
def put_token(token, ids, filled):
    """Append a token; returns the new number of ids."""
    store_i32(ids + filled * 4, token)
    return filled + 1


@inline
def put_unknown(model, text, start, end, ids, filled, after_unknown):
    """Append the tokens of the bytes of an unknown character; returns the new number of ids.

    Where the model has no tokens of bytes, a run of unknown characters is one unknown token.
    """
    byte_tokens = model[PieceSlot.BYTE_TOKENS]
    if byte_tokens == 0:
        return filled if after_unknown else put_token(model[PieceSlot.UNKNOWN_ID], ids, filled)
    for i in range(start, end):
        byte = load_u8(text + i)
        if byte == SPACE and model[PieceSlot.ESCAPES_SPACES] != 0:  # a blank was U+2581
            filled = put_token(load_i32(byte_tokens + 0xE2 * 4), ids, filled)
            filled = put_token(load_i32(byte_tokens + 0x96 * 4), ids, filled)
            byte = 0x81
        filled = put_token(load_i32(byte_tokens + byte * 4), ids, filled)
    return filled


@inline
def put_best(model, text, word, n_bytes, places, path, ids, filled, after_unknown):
    """Append the tokens of the best way through a word, and make its places ready for the next one.

    Returns the new number of ids and whether the last character was unknown.
    """
    # backwards from the end of the word to its beginning, then the tokens in order
    n_tokens, end = 0, n_bytes
    while end > 0:
        store_i32(path + n_tokens * 4, end)
        n_tokens += 1
        end = places[end].start - 1
    for i in range(n_tokens - 1, -1, -1):
        end = load_i32(path + i * 4)
        if places[end].token != model[PieceSlot.UNKNOWN_ID]:
            filled = put_token(places[end].token, ids, filled)
            after_unknown = 0
        else:
            start = places[end].start - 1
            filled = put_unknown(model, text, word + start, word + end, ids, filled, after_unknown)
            after_unknown = 1
    places.score = places[n_bytes].score
    fill_bytes(places[1].address, n_bytes * PLACE.n_bytes, 0)
    return filled, after_unknown


@inline
def put_remembered(entry, count, score, ids, filled, is_wide):
    """Append the tokens of a word that is remembered; returns the score after it."""
    pieces = pieces_of(entry)
    for i in range(count):
        store_i32(ids + (filled + i) * 4, pieces[i].token)
        score += np.float64(pieces[i].score)
        if not is_wide:
            score = np.float64(np.float32(score))
    return score


@inline
def short_word_end(model, text, start, n_bytes):
    """Where the word that begins at a place ends; 0 when it is too long to be remembered."""
    neighbours = model[PieceSlot.NEIGHBOURS]
    stops = model[PieceSlot.STOPS_AT_SPACES] != 0
    limit = min(n_bytes, start + MAX_WORD_BYTES)
    before = load_u8(text + start)
    end = start + 1
    while end < limit:
        byte = load_u8(text + end)
        if byte & 0xC0 != 0x80 and (is_cut(neighbours, before, byte) or (stops and byte == SPACE)):
            break
        before = byte
        end += 1
    return 0 if end == limit and end < n_bytes else end


@kernel
def cut_text(model, text, n_bytes, places, path, ids, words):
    """Write the ids of a normalized text; returns how many. `places` are zeros, one more than bytes, so is `path`.

    `words` is the address of WORDS_BYTES and STATES_BYTES, zeros at the model's first text.
    """
    tokens, scores = model[PieceSlot.TOKENS], model[PieceSlot.SCORES]
    unknown = model[PieceSlot.UNKNOWN_ID]
    unknown_score = load_f32(model[PieceSlot.UNKNOWN_SCORE])
    neighbours = model[PieceSlot.NEIGHBOURS]
    stops = model[PieceSlot.STOPS_AT_SPACES] != 0
    is_wide = model[PieceSlot.ADDS_FLOAT64]
    places.score = 0.0  # that of the text before
    filled, after_unknown = 0, 0
    word, frontier = 0, 0  # where the word began: its places are counted from there; the last one that is reached
    start = 0
    while start < n_bytes:
        # a word ends here
        first = load_u8(text + start)
        if start > word and (is_cut(neighbours, load_u8(text + start - 1), first) or (stops and first == SPACE)):
            filled, after_unknown = put_best(model, text, word, start - word, places, path, ids, filled, after_unknown)
            word, frontier = start, 0
        # a word begins here, and its cut is remembered
        score = places[start - word].score
        if start == word and (is_wide or abs(score) < SCORE_LIMIT - MAX_WORD_SCORE):
            end = short_word_end(model, text, start, n_bytes)
            if end != 0:
                known = recall(model, text + start, end - start, words)
                count = known.sizes >> COUNT_SHIFT if abs(score) < np.float64(known.limit) else 0
                if count > 0:  # its cut wins wherever the score is
                    places.score = put_remembered(known, count, score, ids, filled, is_wide)
                    filled, after_unknown = filled + count, 0
                    start = word = end
                    continue
        # every token that begins here is offered to the place where it ends
        if not is_wide and (score < -SCORE_LIMIT or score > SCORE_LIMIT):
            pull_back(places, start - word, frontier)
            score = 0.0
        length = min(character_length(first), n_bytes - start)
        is_known = False
        entry = ROOT
        at = start
        while at < n_bytes:
            byte = load_u8(text + at)
            if stops and byte == SPACE and at > start:
                break
            entry = step(tokens, entry, byte)
            if entry == FREE:
                break
            at += 1
            token = ending_of(entry)
            if token != NOTHING:
                offer(places, at - word, start - word, token, score, load_f32(scores + token * 4), is_wide)
                is_known = is_known or at - start == length
                frontier = max(frontier, at - word)
        if not is_known:
            end = start - word + length
            offer(places, end, start - word, unknown, score, unknown_score, is_wide)
            frontier = max(frontier, end)
        start += length
    if n_bytes > word:
        filled, after_unknown = put_best(model, text, word, n_bytes - word, places, path, ids, filled, after_unknown)
    return filled


@door("int64(int64, int64, int64, int64)", group="unigram")
def unigram_encode(address, room_address, text, n_bytes):
    """Write the ids of a text to the room's IDS and return how many; NEEDS_MORE: a larger room is needed.

    The unknown id may be -1.
    """
    model, room = as_table(address), as_table(room_address)
    n_normal = normalize_into(model, room, text, n_bytes)
    if n_normal == NEEDS_MORE:
        return NEEDS_MORE
    return cut_text(
        model,
        room[RoomSlot.NORMAL],
        n_normal,
        PLACE.at(room[RoomSlot.RECORDS]),
        room[RoomSlot.PATH],
        room[RoomSlot.IDS],
        room[RoomSlot.WORDS],
    )
