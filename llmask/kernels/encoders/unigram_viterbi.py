"""Unigram tokenization: of all ways to cut a text into tokens the one of highest score.

Kudo, "Subword Regularization" (2018), section 3.1, as `EncodeOptimized` of sentencepiece 0.2 does it: for each place of
the text the best way to get there is known, as score, start and id of its last token. Every token that begins at the
place is offered to the place where it ends; a character that is no token is offered as unknown, at the penalty that the
model's table holds. Among equals the first offer stays: the longest token. Rounding decides between near-equals, so it
is that of the model's own library: sentencepiece adds scores as float32 and pulls them back to 0 beyond SCORE_LIMIT,
llama.cpp adds float64.

Where two bytes stand side by side as in no token, every way passes: the best one up to there is written, and the places
are used again from the first. So the search stays in the nearest memory, with the score carried on. Where a text has no
such place, the best ways to all places that are reached so far have mostly met some hundred bytes before, and what lies
before that is written, too, whenever WINDOW places are in use. (They need not: the ways through "abab..." in tokens of
four bytes never meet.)

    state of a place, 16 bytes:   float64 score | int32 1 + start of the last token, 0 = not reached | int32 id

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 25 ns a byte, whatever the text, as long as
tokens have a bounded length.
"""

from __future__ import annotations

import numpy as np

from ..machine.floats import load_f32, load_f64, rounded_unless, store_f64
from ..machine.jit import door, inline, kernel
from ..tables.memory import as_table, fill_bytes, load_i32, load_u8, store_i32
from .charsmap_rules import MAX_REPLACEMENT_BYTES, NEEDS_MORE, SPACE, character_length, normalize
from .double_array import FREE, NOTHING, ROOT, ending_of, step
from .piece_slots import RECORD_BYTES, PieceSlot, RoomSlot
from .unigram_words import (
    MAX_WORD_BYTES,
    MAX_WORD_SCORE,
    TOKENS,
    WORDS_BYTES,
    certain_count,
    first_bytes,
    holds,
    remember,
    word_entry,
)

SCORE_LIMIT = 100000.0
PLACE_BYTES = RECORD_BYTES
WINDOW = 2048
ROOM_MARGIN = 64  # what `normalize` wants to be left of a room, beside the longest replacement


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
    place = places + end * PLACE_BYTES
    # the sum of two float32 in float64, rounded, is their sum in float32
    total = rounded_unless(is_wide, score + np.float64(token_score))
    if load_i32(place + 8) == 0 or total > load_f64(place):
        store_f64(place, total)
        store_i32(place + 8, start + 1)
        store_i32(place + 12, token)


@kernel
def pull_back(places, first, last):
    """Subtract the score of place `first` from all places up to `last` that were reached."""
    offset = load_f64(places + first * PLACE_BYTES)
    for i in range(first, last + 1):
        place = places + i * PLACE_BYTES
        if i == first or load_i32(place + 8) != 0:
            store_f64(place, np.float64(np.float32(load_f64(place) - offset)))


@inline
def is_cut(neighbours, before, byte):
    """Whether no token has `byte`, which begins a character, behind the byte `before`: nothing reaches across then."""
    pair = before << 8 | byte
    return load_u8(neighbours + (pair >> 3)) >> (pair & 7) & 1 == 0


@inline
def put_bytes(model, text, start, end, ids, filled):
    """Append the tokens of the bytes of an unknown character; returns the new number of ids."""
    byte_tokens = model[PieceSlot.BYTE_TOKENS]
    for i in range(start, end):
        byte = load_u8(text + i)
        if byte == SPACE and model[PieceSlot.ESCAPES_SPACES] != 0:  # the blank stands for U+2581
            store_i32(ids + filled * 4, load_i32(byte_tokens + 0xE2 * 4))
            store_i32(ids + filled * 4 + 4, load_i32(byte_tokens + 0x96 * 4))
            store_i32(ids + filled * 4 + 8, load_i32(byte_tokens + 0x81 * 4))
            filled += 3
        else:
            store_i32(ids + filled * 4, load_i32(byte_tokens + byte * 4))
            filled += 1
    return filled


@inline
def put_best(model, text, word, n_bytes, places, path, ids, filled, after_unknown):
    """Append the tokens of the best way through a word, and make its places ready for the next one.

    A run of unknown characters is one unknown token, or the tokens of its bytes where the model has them. Returns the
    new number of ids and whether the last character was unknown.
    """
    unknown = model[PieceSlot.UNKNOWN_ID]
    n_tokens = 0
    end = n_bytes
    while end > 0:
        store_i32(path + n_tokens * 4, end)
        n_tokens += 1
        end = load_i32(places + end * PLACE_BYTES + 8) - 1
    while n_tokens > 0:
        n_tokens -= 1
        end = load_i32(path + n_tokens * 4)
        place = places + end * PLACE_BYTES
        token = load_i32(place + 12)
        if token != unknown:
            after_unknown = 0
            store_i32(ids + filled * 4, token)
            filled += 1
            continue
        if model[PieceSlot.BYTE_TOKENS] != 0:
            start = load_i32(place + 8) - 1
            filled = put_bytes(model, text, word + start, word + end, ids, filled)
        elif after_unknown == 0:
            store_i32(ids + filled * 4, token)
            filled += 1
        after_unknown = 1
    store_f64(places, load_f64(places + n_bytes * PLACE_BYTES))
    fill_bytes(places + PLACE_BYTES, n_bytes * PLACE_BYTES, 0)
    return filled, after_unknown


@inline
def meeting_place(places, current, frontier):
    """The last place that the best ways to `current` and to all places after it that are reached have in common.

    0 where it is not among the last WINDOW: where ways do not meet soon, they mostly never do.
    """
    meeting, lowest = current, current - WINDOW
    for reached in range(current + 1, frontier + 1):
        other = reached
        if load_i32(places + reached * PLACE_BYTES + 8) == 0:
            continue
        while meeting != other and meeting > lowest:
            if other > meeting:
                other = load_i32(places + other * PLACE_BYTES + 8) - 1
            else:
                meeting = load_i32(places + meeting * PLACE_BYTES + 8) - 1
        if meeting != other:
            return 0
    return meeting


@inline
def move_places(places, offset, frontier):
    """Make place `offset`, whose score place 0 has already, the first one; places up to `frontier` follow it."""
    for reached in range(offset + 1, frontier + 1):
        source, target = places + reached * PLACE_BYTES, places + (reached - offset) * PLACE_BYTES
        start = load_i32(source + 8)
        store_f64(target, load_f64(source))
        store_i32(target + 8, start - offset if start != 0 else 0)
        store_i32(target + 12, load_i32(source + 12))
    first_free = max(frontier - offset, offset) + 1
    fill_bytes(places + first_free * PLACE_BYTES, (frontier + 1 - first_free) * PLACE_BYTES, 0)


@kernel
def put_sure(model, text, word, current, frontier, places, path, ids, filled, after_unknown):
    """Append the tokens up to the place where all ways meet, and make it the first; returns it, too."""
    offset = meeting_place(places, current, frontier)
    if offset > 0:
        filled, after_unknown = put_best(model, text, word, offset, places, path, ids, filled, after_unknown)
        move_places(places, offset, frontier)
    return offset, filled, after_unknown


@inline
def put_remembered(entry, count, score, ids, filled, is_wide):
    """Append the tokens of a word that is remembered; returns the score behind it."""
    for i in range(count):
        store_i32(ids + (filled + i) * 4, load_i32(entry + TOKENS + i * 8))
        score += np.float64(load_f32(entry + TOKENS + i * 8 + 4))
        if not is_wide:
            score = np.float64(np.float32(score))
    return score


@inline
def find_word(model, text, start, n_bytes, words, states):
    """The entry of the word that begins at a place, and where the word ends; 0 when it is too long to be remembered."""
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
    if end == limit and end < n_bytes:
        return 0, end
    # the room goes on behind the text, so all 16 bytes may be read
    head, tail = first_bytes(text + start, end - start), first_bytes(text + start + 8, end - start - 8)
    entry = word_entry(words, head, tail, end - start)
    if not holds(entry, head, tail, end - start):
        remember(model, text + start, end - start, states, entry, head, tail)
    return entry, end


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
    store_f64(places, 0.0)  # the score that the text before ended with
    filled = 0
    after_unknown = 0
    word = 0  # where the word began: its places are counted from there
    frontier = 0
    limit = WINDOW  # so far from `word` the places are looked at
    start = 0
    while start < n_bytes:
        first = load_u8(text + start)
        if start > word and (is_cut(neighbours, load_u8(text + start - 1), first) or (stops and first == SPACE)):
            filled, after_unknown = put_best(model, text, word, start - word, places, path, ids, filled, after_unknown)
            word = start
            frontier = 0
            limit = WINDOW
        if start - word >= limit:
            offset, filled, after_unknown = put_sure(
                model, text, word, start - word, frontier, places, path, ids, filled, after_unknown
            )
            word += offset
            frontier -= offset
            limit = max(WINDOW, 2 * (start - word))
        score = load_f64(places + (start - word) * PLACE_BYTES)
        if start == word and (is_wide or abs(score) < SCORE_LIMIT - MAX_WORD_SCORE):
            entry, end = find_word(model, text, start, n_bytes, words, words + WORDS_BYTES)
            count = certain_count(entry, score) if entry != 0 else 0
            if count > 0:
                store_f64(places, put_remembered(entry, count, score, ids, filled, is_wide))
                filled += count
                after_unknown = 0
                start = word = end
                limit = WINDOW
                continue
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

    The unknown id, which may be -1, stands where no token is.
    """
    model, room = as_table(address), as_table(room_address)
    n_normal = normalize_into(model, room, text, n_bytes)
    if n_normal == NEEDS_MORE:
        return NEEDS_MORE
    return cut_text(
        model,
        room[RoomSlot.NORMAL],
        n_normal,
        room[RoomSlot.RECORDS],
        room[RoomSlot.PATH],
        room[RoomSlot.IDS],
        room[RoomSlot.WORDS],
    )
