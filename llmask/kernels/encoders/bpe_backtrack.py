"""Exact byte-pair encoding of a word, by the test whether two tokens may be neighbours (bpe_pairs.py).

After H. van Antwerpen and A. Neubeck: exactly one sequence of tokens has compatible neighbours only, and it is the
encoding, so any way to find one is right. One is backtracking, the longest token first:

    1  at the end of the sequence so far, take the longest token that the text goes on with
    2  if it is compatible with the last token, append it
    3  otherwise try the longest token that it begins with; else take the last token back and shorten it

A bit a position keeps it linear: once everything after a position failed, the position is never reached again.

The other one, the method "table", is dynamic programming. Of the tokens that end a prefix exactly one is the last of
its encoding: the one that is compatible with the last token of the prefix before it. Going through the places from left
to right, every token that begins at a place is tried as the last one where it ends.

    a b a c b b       tokens a b c ab cb ac bb cbb acbb, by rank
    a ab a ac cb acbb       read from the end: acbb, then the prefix "ab": ab

In: an encoder's table, a word. Out: tokens. Cost: 20 ns a byte, with the table 50; 1,000,000 equal bytes without a
split cost no more.
"""

from ..machine.jit import inline
from ..machine.raw import borrow, borrow_zeros, give_back
from ..tables.memory import load_i32, load_i64, load_u8, store_i32, store_i64
from .bpe_pairs import MADE, are_compatible
from .double_array import FREE, NOTHING, ROOT, ending_of, longest_token, step
from .encoder_slots import EncoderSlot

FAILED = -1
SHORT_WORD = 63  # words of up to 63 bytes need no memory for their bits


@inline
def backtrack(table, text, start, end, out):
    """Write the tokens of a word to the int32 at `out`; returns their number, or FAILED: no tokens spell it.

    There is room for one token a byte.
    """
    made_of, entries = MADE.at(table[EncoderSlot.MADE_OF]), table[EncoderSlot.FORWARD]
    is_short = end - start <= SHORT_WORD
    refused = 0  # bit i: nothing can go on at start + i; in memory for long words
    bits = 0 if is_short else borrow_zeros((end - start >> 6) + 1, 8)
    n_tokens = 0
    position = start
    token, reached = longest_token(entries, text, position, end)
    last = NOTHING
    while token != NOTHING or n_tokens > 0:
        if token == NOTHING:  # step 3: the last token is taken back, and shortened
            if is_short:
                refused |= 1 << (position - start)
            else:
                word = bits + (position - start >> 6) * 8
                store_i64(word, load_i64(word) | 1 << (position - start & 63))
            n_tokens -= 1
            position -= made_of[last].length
            token = made_of[last].prefix
            last = load_i32(out + (n_tokens - 1) * 4) if n_tokens > 0 else NOTHING
            if token != NOTHING:
                reached = position + made_of[token].length
            continue
        offset = reached - start
        if is_short:
            is_refused = refused >> offset & 1
        else:
            is_refused = load_i64(bits + (offset >> 6) * 8) >> (offset & 63) & 1
        if is_refused or (last != NOTHING and not are_compatible(table, last, token)):
            token = made_of[token].prefix
            if token != NOTHING:
                reached = position + made_of[token].length
            continue
        # step 2: it fits
        store_i32(out + n_tokens * 4, token)
        n_tokens += 1
        position = reached
        if position == end:
            break
        last = token
        token, reached = longest_token(entries, text, position, end)
    if not is_short:
        give_back(bits)
    return n_tokens if position == end else FAILED


@inline
def fill_prefixes(table, text, start, end, last_tokens):
    """Write to the int32 at `last_tokens` the last token of every prefix, the empty one first."""
    entries, n_bytes = table[EncoderSlot.FORWARD], end - start
    for i in range(n_bytes + 1):
        store_i32(last_tokens + i * 4, NOTHING)
    for first in range(n_bytes):
        before = load_i32(last_tokens + first * 4)
        if first > 0 and before == NOTHING:
            continue  # after a byte that is no token
        entry = ROOT
        for position in range(first, n_bytes):
            entry = step(entries, entry, load_u8(text + start + position))
            if entry == FREE:
                break
            token, last = ending_of(entry), last_tokens + (position + 1) * 4
            if token != NOTHING and load_i32(last) == NOTHING:
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
        if token == NOTHING:
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
