"""Byte-pair encoding of a word by dynamic programming: the last token of every prefix, the method "table".

Of the tokens that end a prefix exactly one is the last of its encoding: the one that is compatible with the last token
of the prefix before it (bpe_pairs.py). Going through the places from left to right, every token that begins at a place
is tried as the last one where it ends.

    a b a c b b       tokens a b c ab cb ac bb cbb acbb, by rank
    a ab a ac cb acbb       read from the end: acbb, then the prefix "ab": ab

In: an encoder's table, a word. Out: last tokens; tokens. Cost: 50 ns a byte, always.
"""

from ..machine.jit import inline
from ..machine.raw import borrow, give_back
from ..tables.memory import load_i32, load_u8, store_i32
from .bpe_pairs import MADE, are_compatible
from .double_array import FREE, ROOT, ending_of, step
from .encoder_slots import EncoderSlot

FAILED = -1
NO_TOKEN = -1


@inline
def fill_prefixes(table, text, start, end, last_tokens):
    """Write to the int32 at `last_tokens` the last token of every prefix, the empty one first."""
    entries, n_bytes = table[EncoderSlot.FORWARD], end - start
    for i in range(n_bytes + 1):
        store_i32(last_tokens + i * 4, NO_TOKEN)
    for first in range(n_bytes):
        before = load_i32(last_tokens + first * 4)
        if first > 0 and before == NO_TOKEN:
            continue  # after a byte that is no token
        entry = ROOT
        for position in range(first, n_bytes):
            entry = step(entries, entry, load_u8(text + start + position))
            if entry == FREE:
                break
            token, last = ending_of(entry), last_tokens + (position + 1) * 4
            if token != NO_TOKEN and load_i32(last) == NO_TOKEN:
                if first == 0 or are_compatible(table, before, token):
                    store_i32(last, token)


@inline
def merge_by_table(table, text, start, end, out):
    """Write the tokens of a word to the int32 at `out`; returns their number, or FAILED: a byte is no token."""
    n_bytes, made_of = end - start, MADE.at(table[EncoderSlot.MADE_OF])
    last_tokens = borrow((n_bytes + 1) * 4)
    fill_prefixes(table, text, start, end, last_tokens)
    n_tokens, position = 0, n_bytes
    while position > 0:
        token = load_i32(last_tokens + position * 4)
        if token == NO_TOKEN:
            n_tokens = FAILED
            break
        n_tokens += 1
        position -= made_of[token].length
    position = n_bytes
    for i in range(n_tokens - 1, -1, -1):
        token = load_i32(last_tokens + position * 4)
        store_i32(out + i * 4, token)
        position -= made_of[token].length
    give_back(last_tokens)
    return n_tokens
