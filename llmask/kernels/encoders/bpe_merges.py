"""Merges as token ids: parsed from the texts of a file, or found as the ways to cut a token into two.

In: merges "left right" in the byte alphabet, or tokens whose id is their rank. Out: int32[n, 3] left, right, made.
Cost: 25 ms for the 280,147 merges of Llama 3.
"""

from ..machine.jit import door
from ..tables.memory import as_table, load_i32
from ..vocabulary.vocabulary_scan import undo_byte_alphabet
from .bpe_words import NO_TOKEN, find_word
from .encoder_slots import EncoderSlot

BLANK = 32


@door("int64(int64, int32[::1], uint8[::1], uint8[::1], int32[:, ::1])", group="tokenizer")
def read_merges(address, offsets, texts, scratch, splits):
    """Write the tokens of every merge, NO_TOKEN for what is no token; returns the number of merges with any of these.

    `scratch` uint8 is longer than the longest merge by 8.
    """
    table = as_table(address)
    safe_end = scratch.shape[0]
    n_unknown = 0
    for i in range(splits.shape[0]):
        start, end = offsets[i], offsets[i + 1]
        blank = start
        while blank < end and texts[blank] != BLANK:
            blank += 1
        left_end = undo_byte_alphabet(texts, start, blank, scratch, 0)
        right_end = undo_byte_alphabet(texts, min(blank + 1, end), end, scratch, left_end)
        left = right = made = NO_TOKEN
        if 0 < left_end < right_end:
            data = scratch.ctypes.data
            left = find_word(table, data, 0, left_end, safe_end)
            right = find_word(table, data, left_end, right_end, safe_end)
            made = find_word(table, data, 0, right_end, safe_end)
        splits[i, 0], splits[i, 1], splits[i, 2] = left, right, made
        if left == NO_TOKEN or right == NO_TOKEN or made == NO_TOKEN:
            n_unknown += 1
    return n_unknown


@door("int64(int64, boolean[::1], int32[:, ::1])", group="tokenizer")
def list_splits(address, include, splits):
    """Write every way to cut a token into two tokens, by ascending id of the token; returns their number.

    Stops writing when `splits` is full.
    """
    table = as_table(address)
    offsets, data = table[EncoderSlot.OFFSETS], table[EncoderSlot.DATA]
    safe_end = load_i32(offsets + include.shape[0] * 4)
    n_splits = 0
    for token in range(include.shape[0]):
        start, end = load_i32(offsets + token * 4), load_i32(offsets + (token + 1) * 4)
        if not include[token] or start == end or find_word(table, data, start, end, safe_end) != token:
            continue
        for cut in range(start + 1, end):
            left = find_word(table, data, start, cut, safe_end)
            right = NO_TOKEN if left == NO_TOKEN else find_word(table, data, cut, end, safe_end)
            if right == NO_TOKEN:
                continue
            if n_splits < splits.shape[0]:
                splits[n_splits, 0], splits[n_splits, 1], splits[n_splits, 2] = left, right, token
            n_splits += 1
    return n_splits
