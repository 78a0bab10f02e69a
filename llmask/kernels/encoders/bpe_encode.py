"""Byte-pair encoding of a text: it is split into words; a word that is a token is taken at once, others are merged.

In: an encoder's table, a text, a method. Out: tokens. Cost: about 15 ns a byte of English text.
"""

from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, borrow_zeros, give_back
from ..tables.memory import as_table, store_i32, store_i64
from .bpe_backtrack import FAILED, backtrack, merge_by_table
from .bpe_heap import merge_by_heap
from .bpe_words import NO_TOKEN, find_word
from .encoder_slots import MAX_PATTERNS, EncoderSlot
from .pretokenize_scan import next_word

TABLE, HEAP, DROPOUT = range(3)
WORD_BUFFER = 240  # tokens: 1 KB, which malloc hands out in 20 ns; longer words get room of their own


@inline
def whole_word(table, text, start, end, safe_end):
    """The token that a word is, or NO_TOKEN."""
    return find_word(table, text, start, end, safe_end) if end - start <= table[EncoderSlot.LONGEST_WORD] else NO_TOKEN


@inline
def encode_word(table, text, start, end, safe_end, out):
    """Tokens of one word to the int32 at `out`, the exact way; returns their number or FAILED."""
    token = whole_word(table, text, start, end, safe_end)
    if token == NO_TOKEN:
        return backtrack(table, text, start, end, out)
    store_i32(out, token)
    return 1


@kernel
def encode_word_otherwise(table, text, start, end, safe_end, out, method, threshold, state):
    """As `encode_word`, by another method: merges in an array, in a heap (long words), or with dropout.

    Words are taken whole only where that is the tokenizer's own rule, and not with dropout. The merges must have been
    entered (merges_table.py); `state` is the address of the state of the random numbers, `safe_end` see bpe_words.py.
    """
    if table[EncoderSlot.IS_WHOLE] and method != DROPOUT:
        token = whole_word(table, text, start, end, safe_end)
        if token != NO_TOKEN:
            store_i32(out, token)
            return 1
    if method == TABLE:
        return merge_by_table(table, text, start, end, out)
    return merge_by_heap(table, text, start, end, out, threshold if method == DROPOUT else 0, state)


@inline
def count_word(table, text, start, end, safe_end, buffer):
    """Number of tokens of a word, or FAILED; `buffer` has room for WORD_BUFFER."""
    place = buffer if end - start <= WORD_BUFFER else borrow((end - start) * 4)
    found = encode_word(table, text, start, end, safe_end, place)
    if place != buffer:
        give_back(place)
    return found


@inline
def end_of_word(table, bounds, ends, n_words, text, position, n_bytes):
    """Where the word at `position` ends, the next after `n_words`: by `ends`, or by the patterns if that is empty."""
    return ends[n_words] if ends.shape[0] > 0 else next_word(table, bounds, text, position, n_bytes)


@door("int64(int64, int64, int64, int32[::1], int64, int32[::1])", group="tokenizer")
def encode_text(address, text, n_bytes, ends, limit, out):
    """Write the tokens of a text to `out` and return their number; -1 - p where the word at p has no tokens.

    `ends` int32: where words end, when they were found elsewhere; empty: they are found here. With an `out` of no
    length tokens are only counted; otherwise it has room for one a byte. Stops after more than `limit` tokens.
    """
    table = as_table(address)
    bounds = borrow_zeros(MAX_PATTERNS, 8)
    is_counting = out.shape[0] == 0
    buffer = borrow(WORD_BUFFER * 4) if is_counting else out.ctypes.data
    n_tokens, position, n_words = 0, 0, 0
    while position < n_bytes and n_tokens <= limit:
        end = end_of_word(table, bounds, ends, n_words, text, position, n_bytes)
        n_words += 1
        if is_counting:
            found = count_word(table, text, position, end, n_bytes, buffer)
        else:
            found = encode_word(table, text, position, end, n_bytes, buffer + n_tokens * 4)
        if found == FAILED:
            n_tokens = -1 - position
            break
        n_tokens += found
        position = end
    give_back(bounds)
    if is_counting:
        give_back(buffer)
    return n_tokens


@door("int64(int64, int64, int64[::1], int64[::1], int32[::1])", group="encoders")
def encode_texts(address, texts, offsets, first_ids, out):
    """Write the tokens of texts that follow one another in memory; text i has its tokens from `first_ids[i]` on.

    Text i is `offsets[i]` up to `offsets[i + 1]`. Returns -1, or the number of the first text that no tokens spell.
    """
    table = as_table(address)
    bounds = borrow_zeros(MAX_PATTERNS, 8)
    n_tokens, failed, n_bytes = 0, -1, offsets[offsets.shape[0] - 1]
    for i in range(offsets.shape[0] - 1):
        first_ids[i] = n_tokens
        position = offsets[i]
        while position < offsets[i + 1] and failed < 0:
            end = next_word(table, bounds, texts, position, offsets[i + 1])
            found = encode_word(table, texts, position, end, n_bytes, out.ctypes.data + n_tokens * 4)
            if found == FAILED:
                failed = i
            n_tokens += found
            position = end
    first_ids[offsets.shape[0] - 1] = n_tokens
    give_back(bounds)
    return failed


@door("int64(int64, int64, int64, int32[::1], int64, int64, int64, int32[::1])", group="encoders")
def encode_text_otherwise(address, text, n_bytes, ends, method, threshold, seed, out):
    """As `encode_text`, by the method TABLE, HEAP or DROPOUT; `threshold` is the probability of dropout times 2^53."""
    table = as_table(address)
    bounds, state = borrow_zeros(MAX_PATTERNS, 8), borrow(8)
    store_i64(state, seed)
    n_tokens, position, n_words = 0, 0, 0
    while position < n_bytes:
        end = end_of_word(table, bounds, ends, n_words, text, position, n_bytes)
        n_words += 1
        place = out.ctypes.data + n_tokens * 4
        found = encode_word_otherwise(table, text, position, end, n_bytes, place, method, threshold, state)
        if found == FAILED:
            n_tokens = -1 - position
            break
        n_tokens += found
        position = end
    give_back(bounds)
    give_back(state)
    return n_tokens
