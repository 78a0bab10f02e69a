"""Encoding without merges: the longest token at each place (maximal munch), or the fewest tokens (a shortest path).

Both look at all tokens, not at words. `encode_fewest` goes from the end to the beginning and keeps the least number of
tokens that spell the rest from each place; among the tokens that reach it the longest is taken.

In: an encoder's table with FORWARD and OFFSETS, a text. Out: tokens. Cost: 5 ns a byte for the longest, 15 ns for the
fewest and 8 bytes of memory.
"""

from ..machine.jit import door, inline
from ..machine.raw import borrow, give_back
from ..tables.memory import as_table, load_i32, load_u8, store_i32
from .double_array import FREE, NOTHING, ROOT, ending_of, longest_token, step
from .encoder_slots import EncoderSlot
from .pretokenize_scan import character_end

UNREACHABLE = 0x7FFFFFFF


@inline
def length_of(table, token):
    """Bytes of a token."""
    offsets = table[EncoderSlot.OFFSETS]
    return load_i32(offsets + (token + 1) * 4) - load_i32(offsets + token * 4)


@door("int64(int64, int64, int64, int64, int32[::1])", group="encoders")
def encode_longest(address, text, n_bytes, unknown, out):
    """Write the longest tokens and return their number; -1 - p where no token begins at p.

    With `unknown` >= 0 that token is written for the rest of the character at p. `out` has room for one token a byte.
    """
    table = as_table(address)
    entries = table[EncoderSlot.FORWARD]
    n_tokens, position = 0, 0
    while position < n_bytes:
        token, end = longest_token(entries, text, position, n_bytes)  # looking the length up took a third longer
        if token == NOTHING:
            if unknown < 0:
                return -1 - position
            token, end = unknown, character_end(text, position, n_bytes)
        position = end
        out[n_tokens] = token
        n_tokens += 1
    return n_tokens


@inline
def best_at(table, text, position, n_bytes, counts):
    """Token to begin with at `position`, as `encode_fewest` chooses, or NOTHING."""
    entries, entry = table[EncoderSlot.FORWARD], ROOT
    found, least = NOTHING, UNREACHABLE
    for place in range(position, n_bytes):
        entry = step(entries, entry, load_u8(text + place))
        if entry == FREE:
            break
        token, count = ending_of(entry), load_i32(counts + (place + 1) * 4)
        if token != NOTHING and count <= least:
            found, least = token, count
    return found if least < UNREACHABLE else NOTHING


@door("int64(int64, int64, int64, int64, int32[::1])", group="encoders")
def encode_fewest(address, text, n_bytes, unknown, out):
    """As `encode_longest`, with as few tokens as can be. Returns -1 - n_bytes where no tokens spell the text."""
    table = as_table(address)
    counts = borrow((n_bytes + 1) * 4)
    choices = borrow((n_bytes + 1) * 4)
    store_i32(counts + n_bytes * 4, 0)
    for position in range(n_bytes - 1, -1, -1):
        token = best_at(table, text, position, n_bytes, counts)
        count = UNREACHABLE
        if token != NOTHING:
            count = load_i32(counts + (position + length_of(table, token)) * 4) + 1
        elif unknown >= 0:
            rest = load_i32(counts + character_end(text, position, n_bytes) * 4)
            count = rest if rest == UNREACHABLE else rest + 1
        store_i32(counts + position * 4, count)
        store_i32(choices + position * 4, token)
    n_tokens, position = 0, 0
    if load_i32(counts) == UNREACHABLE:
        n_tokens = -1 - n_bytes
        position = n_bytes
    while position < n_bytes:
        token = load_i32(choices + position * 4)
        if token == NOTHING:
            out[n_tokens] = unknown
            position = character_end(text, position, n_bytes)
        else:
            out[n_tokens] = token
            position += length_of(table, token)
        n_tokens += 1
    give_back(counts)
    give_back(choices)
    return n_tokens
