"""Exact byte-pair encoding of a word by backtracking: the longest token first, shorter ones where it does not fit.

After H. van Antwerpen and A. Neubeck (bpe_pairs.py): exactly one sequence of tokens has compatible neighbours only, and
it is the encoding, so any way to find one is right.

    1  at the end of the sequence so far, take the longest token that the text goes on with
    2  if it is compatible with the last token, append it
    3  otherwise try the longest token that it begins with; else take the last token back and shorten it

A bit a position keeps it linear: once everything after a position failed, the position is never reached again.

In: an encoder's table, a word. Out: tokens. Cost: 20 ns a byte; 1,000,000 equal bytes without a split cost no more.
"""

from ..machine.jit import inline
from ..machine.raw import borrow_zeros, give_back
from ..tables.memory import load_i32, load_i64, store_i32, store_i64
from .bpe_pairs import MADE, are_compatible
from .double_array import NOTHING, longest_token
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
