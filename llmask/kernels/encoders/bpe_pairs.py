"""Which pairs merge, what every token is made of, and whether two tokens may stand side by side.

In byte-pair encoding a token has one history: the merges that make it when its bytes stand alone. An encoding is what
merging gives if and only if every two neighbours are what merging gives for their bytes (H. van Antwerpen, A. Neubeck,
"So many tokens, so little time", 2024, and the crate `bpe`). So two neighbours are *compatible* when no merge, at any
moment of their histories, would have crossed the border between them. `are_compatible` runs both histories backwards,
the later merge first, and looks whether the two symbols at the border would have merged before:

    limit = infinity
    while left + right is no pair of a rank below limit:
        if both are single bytes: yes
        undo the later merge: left becomes its right half, or right its left half; limit = when that merge was made

Where a token is always made after its parts, "later" and "when" are ranks. Llama 3 has 9 tokens that are not: ".:.:"
(rank 236,223) is made of "." and ":.:" (rank 255,076). A merge of low rank that becomes possible late is made at once,
before any other; so with

    time(token) = max(rank, time(left half), time(right half))      single bytes: BYTE_TIME

merges are made by ascending time, on the left first among equals. A pair at the border has lost when everything that
was merged while it was there had a lower rank (the same on the left also wins, the same on the right loses). If the
half at the border was made last, only the merge itself came after it: the limit is its rank. If the other half was made
last, that came in between: the limit is its time.

    token on the left, (l, r):    left_limit  = time(token) if time(l) > time(r) else rank
    token on the right, (l, r):   right_limit = (time(token) if time(r) >= time(l) else rank) + 1

The list of pairs has one entry a token: of all ways to cut a token only that of its history can ever be adjacent. It is
found by going through the merges by the length of what they make: the cut that is itself compatible. Most pairs that
are asked for are none, which a filter of 128 KB says for 128,000 tokens (B. Bloom, "Space/time trade-offs in hash
coding with allowable errors", 1970, with one hash), so that the table of 2 MB is not read.

In: an encoder's table. Out: yes or no. Cost: 5 ns for a pair of bytes, at most some 20 look-ups.
"""

from __future__ import annotations

from ..machine.jit import door, inline
from ..machine.raw import shift_right, wrapped_product
from ..tables.memory import as_table, load_i32, load_i64, load_u8, store_i32, store_i64, store_u8
from .bpe_words import MIX
from .encoder_slots import EncoderSlot

TOKEN_BITS = 21
TOKEN_MASK = (1 << TOKEN_BITS) - 1
NO_PAIR = -1
FILTER_BITS = 2  # more than the table of pairs has: its filter has a bit for each quarter of an entry
NO_LIMIT = 0x7FFFFFFF
MADE_BYTES = 32  # an entry of MADE_OF: int32 left, right, and
RIGHT, RANK, PREFIX, TIME, LEFT_LIMIT, RIGHT_LIMIT, LENGTH = 4, 8, 12, 16, 20, 24, 28  # offsets in bytes
BYTE_TIME = -1
UNREACHED = -2  # time of tokens that merging never makes


@inline
def find_pair(table, left, right):
    """Token that two neighbours merge to, or NO_PAIR."""
    key = left << TOKEN_BITS | right
    bits, pairs = table[EncoderSlot.PAIR_BITS], table[EncoderSlot.PAIRS]
    at = shift_right(wrapped_product(key, MIX), 64 - FILTER_BITS - bits)
    if load_u8(table[EncoderSlot.PAIR_FILTER] + (at >> 3)) >> (at & 7) & 1 == 0:
        return NO_PAIR
    mask = (1 << bits) - 1
    number = at >> FILTER_BITS
    while True:
        entry = load_i64(pairs + number * 8)
        if entry == 0:
            return NO_PAIR
        if entry >> TOKEN_BITS == key:
            return entry & TOKEN_MASK
        number = number + 1 & mask


@inline
def enter_pair(table, left, right, made):
    """Enter a pair that is not in the table yet."""
    key = left << TOKEN_BITS | right
    bits, pairs = table[EncoderSlot.PAIR_BITS], table[EncoderSlot.PAIRS]
    at = shift_right(wrapped_product(key, MIX), 64 - FILTER_BITS - bits)
    filtered = table[EncoderSlot.PAIR_FILTER] + (at >> 3)
    store_u8(filtered, load_u8(filtered) | 1 << (at & 7))
    mask = (1 << bits) - 1
    number = at >> FILTER_BITS
    while load_i64(pairs + number * 8) != 0:
        number = number + 1 & mask
    store_i64(pairs + number * 8, key << TOKEN_BITS | made)


@inline
def are_compatible(table, left, right):
    """Whether merging the bytes of two tokens gives these two tokens; both must be reachable."""
    made_of = table[EncoderSlot.MADE_OF]
    limit = NO_LIMIT
    left_entry, right_entry = made_of + left * MADE_BYTES, made_of + right * MADE_BYTES
    while True:
        made = find_pair(table, left, right)
        if made != NO_PAIR and load_i32(made_of + made * MADE_BYTES + RANK) < limit:
            return False
        right_time = load_i32(right_entry + TIME)
        if load_i32(left_entry + TIME) > right_time:
            limit = load_i32(left_entry + LEFT_LIMIT)
            left = load_i32(left_entry + RIGHT)
            left_entry = made_of + left * MADE_BYTES
        elif right_time == BYTE_TIME:
            return True
        else:
            limit = load_i32(right_entry + RIGHT_LIMIT)
            right = load_i32(right_entry)
            right_entry = made_of + right * MADE_BYTES


@door("void(int64, int32[:, ::1], int32[::1], int64[::1])", group="tokenizer")
def trace_histories(address, splits, ranks, order):
    """Find out what every token is made of.

    `splits` int32[n, 3] are (left, right, made) with `ranks` int32[n]; `order` int64[n] goes through them by the length
    of `made`, and among equals by rank. Only LENGTH must be set in MADE_OF, and TIME: UNREACHED or BYTE_TIME.
    """
    table = as_table(address)
    made_of = table[EncoderSlot.MADE_OF]
    for i in order:
        left, right, made = splits[i, 0], splits[i, 1], splits[i, 2]
        entry = made_of + made * MADE_BYTES
        left_time = load_i32(made_of + left * MADE_BYTES + TIME)
        right_time = load_i32(made_of + right * MADE_BYTES + TIME)
        if load_i32(entry + TIME) != UNREACHED or left_time == UNREACHED or right_time == UNREACHED:
            continue
        if are_compatible(table, left, right):
            rank = ranks[i]
            time = max(rank, left_time, right_time)
            store_i32(entry, left)
            store_i32(entry + RIGHT, right)
            store_i32(entry + RANK, rank)
            store_i32(entry + TIME, time)
            store_i32(entry + LEFT_LIMIT, time if left_time > right_time else rank)
            store_i32(entry + RIGHT_LIMIT, (time if right_time >= left_time else rank) + 1)
            enter_pair(table, left, right, made)
