"""The last token of every prefix of a word: the table behind the method "table".

Of the tokens that end a prefix exactly one is the last of its encoding: the one that is compatible with the last token
of the prefix before it (see bpe_pairs.py). Going through the places from left to right, every token that begins at a
place is tried as the last one where it ends.

    a b a c b b       tokens a b c ab cb ac bb cbb acbb, by rank
    a ab a ac cb acbb       read from the end: acbb, then the prefix "ab": ab

In: an encoder's table, a word. Out: last tokens; tokens. Cost: 50 ns a byte, always.
"""

from __future__ import annotations

from ..machine.jit import inline
from ..machine.raw import borrow, give_back
from ..tables.memory import load_i32, load_i64, load_u8, store_i32
from .bpe_pairs import LENGTH, MADE_BYTES, are_compatible
from .double_array import ROOT_BASE, base_of, ending_of, is_child
from .encoder_slots import EncoderSlot

FAILED = -1
NO_TOKEN = -1


@inline
def fill_prefixes(table, text, start, end, last_tokens):
    """Write to the int32 at `last_tokens` the last token of every prefix, the empty one first."""
    entries = table[EncoderSlot.FORWARD]
    n_bytes = end - start
    for i in range(n_bytes + 1):
        store_i32(last_tokens + i * 4, NO_TOKEN)
    for first in range(n_bytes):
        before = load_i32(last_tokens + first * 4)
        if first > 0 and before == NO_TOKEN:
            continue  # a byte that is no token stands before
        base = ROOT_BASE
        position = first
        while base != 0 and position < n_bytes:
            byte = load_u8(text + start + position)
            entry = load_i64(entries + (base + byte) * 8)
            if not is_child(entry, byte):
                break
            position += 1
            base = base_of(entry)
            token = ending_of(entry)
            if token != NO_TOKEN and load_i32(last_tokens + position * 4) == NO_TOKEN:
                if first == 0 or are_compatible(table, before, token):
                    store_i32(last_tokens + position * 4, token)


@inline
def merge_by_table(table, text, start, end, out):
    """Write the tokens of a word to the int32 at `out`; returns their number, or FAILED: a byte is no token."""
    n_bytes = end - start
    last_tokens = borrow((n_bytes + 1) * 4)
    fill_prefixes(table, text, start, end, last_tokens)
    n_tokens, position = 0, n_bytes
    while position > 0:
        token = load_i32(last_tokens + position * 4)
        if token == NO_TOKEN:
            n_tokens = FAILED
            break
        n_tokens += 1
        position -= load_i32(table[EncoderSlot.MADE_OF] + token * MADE_BYTES + LENGTH)
    position = n_bytes
    for i in range(n_tokens - 1, -1, -1):
        token = load_i32(last_tokens + position * 4)
        store_i32(out + i * 4, token)
        position -= load_i32(table[EncoderSlot.MADE_OF] + token * MADE_BYTES + LENGTH)
    give_back(last_tokens)
    return n_tokens
