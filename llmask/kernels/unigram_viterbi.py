"""Unigram tokenization: of all ways to cut a text into tokens the one of highest score.

Kudo, "Subword Regularization" (2018), section 3.1, as `EncodeOptimized` of sentencepiece 0.2 does it: for each place of
the text the best way to get there is known, as score, start and id of its last token. Every token that begins at the
place is offered to the place where it ends; a character that is no token is offered as unknown, at the penalty that the
model's table holds. Among equals the first offer stays: the longest token. Rounding decides between near-equals, so it
is that of the model's own library: sentencepiece adds scores as float32 and pulls them back to 0 beyond SCORE_LIMIT,
llama.cpp adds float64.

    state of a place, 16 bytes:   float64 score | int32 1 + start of the last token, 0 = not reached | int32 id

In: the address of a model's table, bytes of a text. Out: token ids. Cost: 25 ns a byte, whatever the text, as long as
tokens have a bounded length.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .charsmap_rules import (
    ESCAPES_SPACES,
    MAX_REPLACEMENT_BYTES,
    N_NORMALIZE_SLOTS,
    NEEDS_MORE,
    SPACE,
    character_length,
    normalize,
)
from .double_array import BASE_SHIFT, HAS_TOKEN, LABEL_MASK, ROOT_UNIT
from .jit import door, kernel, never_inline
from .memory import allocate, as_table, copy_bytes, give_back, load_i32, load_i64, load_u8, store_i32

SCORE_LIMIT = 100000.0

# slots of a model's table beside those of charsmap_rules.py
TOKEN_UNITS = N_NORMALIZE_SLOTS  # double array of the tokens, and its entries: id and score
TOKEN_ENTRIES = N_NORMALIZE_SLOTS + 1
UNKNOWN_ID = N_NORMALIZE_SLOTS + 2  # -1: none
UNKNOWN_SCORE = N_NORMALIZE_SLOTS + 3  # address of a float32
BYTE_TOKENS = N_NORMALIZE_SLOTS + 4  # int32[256]: token of each byte; 0: unknown characters are the unknown token
STOPS_AT_SPACES = N_NORMALIZE_SLOTS + 5  # tokens are matched inside of words only, a blank begins a word
ADDS_FLOAT64 = N_NORMALIZE_SLOTS + 6
N_UNIGRAM_SLOTS = N_NORMALIZE_SLOTS + 7

PLACE_BYTES = 16


@intrinsic
def load_f32(typingctx, address):
    """float32 at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], ir.FloatType().as_pointer()), align=4)

    return types.float32(types.int64), codegen


@intrinsic
def load_f64(typingctx, address):
    """float64 at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], ir.DoubleType().as_pointer()), align=8)

    return types.float64(types.int64), codegen


@intrinsic
def store_f64(typingctx, address, value):
    """Write a float64."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], ir.DoubleType().as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), codegen


@kernel
def normalized_text(model, text, n_bytes):
    """Address of the normalized text, which the caller gives back, and its length."""
    never_inline()
    capacity = 2 * n_bytes + MAX_REPLACEMENT_BYTES + 64
    while True:
        out = allocate(capacity)
        length = normalize(model, text, n_bytes, out, capacity)
        if length != NEEDS_MORE:
            return out, length
        give_back(out)
        capacity *= 2


@kernel
def offer(places, end, start, token, score, token_score, is_wide):
    """Offer a token that begins at `start` to the place where it ends; `score` is that of the place `start`."""
    place = places + end * PLACE_BYTES
    total = score + np.float64(token_score)
    if not is_wide:  # the sum of two float32 in float64, rounded, is their sum in float32
        total = np.float64(np.float32(total))
    if load_i32(place + 8) == 0 or total > load_f64(place):
        store_f64(place, total)
        store_i32(place + 8, start + 1)
        store_i32(place + 12, token)


@kernel
def pull_back(places, first, last):
    """Subtract the score of place `first` from all places up to `last` that were reached."""
    never_inline()
    offset = load_f64(places + first * PLACE_BYTES)
    for i in range(first, last + 1):
        place = places + i * PLACE_BYTES
        if i == first or load_i32(place + 8) != 0:
            store_f64(place, np.float64(np.float32(load_f64(place) - offset)))


@kernel
def find_best(model, text, n_bytes, places):
    """Fill the states of all places of a normalized text, which are zeros."""
    never_inline()
    units = model[TOKEN_UNITS]
    entries = model[TOKEN_ENTRIES]
    root = load_i64(units + ROOT_UNIT * 8)
    unknown = model[UNKNOWN_ID]
    unknown_score = load_f32(model[UNKNOWN_SCORE])
    stops = model[STOPS_AT_SPACES] != 0
    is_wide = model[ADDS_FLOAT64] != 0
    frontier = 0
    start = 0
    while start < n_bytes:
        score = load_f64(places + start * PLACE_BYTES)
        if not is_wide and (score < -SCORE_LIMIT or score > SCORE_LIMIT):
            pull_back(places, start, frontier)
            score = 0.0
        length = min(character_length(load_u8(text + start)), n_bytes - start)
        is_known = False
        unit = root
        at = start
        while at < n_bytes:
            byte = load_u8(text + at)
            if stops and byte == SPACE and at > start:
                break
            index = (unit >> BASE_SHIFT) ^ byte
            unit = load_i64(units + index * 8)
            if unit & LABEL_MASK != byte:
                break
            at += 1
            if unit & HAS_TOKEN:
                entry = entries + index * 8
                offer(places, at, start, load_i32(entry), score, load_f32(entry + 4), is_wide)
                is_known = is_known or at - start == length
                frontier = max(frontier, at)
        if not is_known:
            offer(places, start + length, start, unknown, score, unknown_score, is_wide)
            frontier = max(frontier, start + length)
        start += length


@kernel
def put_unknown(model, text, start, end, ids, first):
    """Write, in front of `first`, the tokens of the bytes of an unknown character; returns the new first."""
    byte_tokens = model[BYTE_TOKENS]
    for i in range(end - 1, start - 1, -1):
        byte = load_u8(text + i)
        if byte == SPACE and model[ESCAPES_SPACES] != 0:  # the blank stands for U+2581
            first -= 3
            store_i32(ids + first * 4, load_i32(byte_tokens + 0xE2 * 4))
            store_i32(ids + first * 4 + 4, load_i32(byte_tokens + 0x96 * 4))
            store_i32(ids + first * 4 + 8, load_i32(byte_tokens + 0x81 * 4))
        else:
            first -= 1
            store_i32(ids + first * 4, load_i32(byte_tokens + byte * 4))
    return first


@kernel
def walk_back(model, text, n_bytes, places, ids, capacity):
    """Write the ids of the best way at the end of `ids` int32[capacity]; returns where they begin.

    A run of unknown characters is one unknown token, or the tokens of its bytes where the model has them.
    """
    never_inline()
    unknown = model[UNKNOWN_ID]
    byte_tokens = model[BYTE_TOKENS]
    first = capacity
    end = n_bytes
    after_unknown = False
    while end > 0:
        place = places + end * PLACE_BYTES
        start = load_i32(place + 8) - 1
        token = load_i32(place + 12)
        is_unknown = token == unknown
        if is_unknown and byte_tokens != 0:
            first = put_unknown(model, text, start, end, ids, first)
        elif not (is_unknown and after_unknown):
            first -= 1
            store_i32(ids + first * 4, token)
        after_unknown = is_unknown
        end = start
    return first


@door("int32[::1](int64, uint8[::1])", group="sentencepiece")
def unigram_encode(address, text):
    """Token ids of a text; the unknown id, which may be -1, where no token is."""
    model = as_table(address)
    source = text.ctypes.data
    normal, n_bytes = normalized_text(model, source, text.shape[0])
    places = allocate((n_bytes + 1) * PLACE_BYTES)
    find_best(model, normal, n_bytes, places)
    capacity = 3 * n_bytes
    ids = allocate(capacity * 4 + 4)
    first = walk_back(model, normal, n_bytes, places, ids, capacity)
    found = np.empty(capacity - first, np.int32)
    copy_bytes(found.ctypes.data, ids + first * 4, (capacity - first) * 4)
    give_back(ids)
    give_back(places)
    give_back(normal)
    return found
