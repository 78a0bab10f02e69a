"""Apply a bitmask to logits: refused ones become minus infinity, word by word of the mask.

A word covers 32 logits. All ones: they stay, untouched in place. Zero: minus infinity is written without a look at
them. A few zeros, in place: it is written to these, and memory between them is not touched. Else each lane is chosen,
without a jump. In the same pass dead rows are found, which have nothing but minus infinity left; the first
other value ends that search, so nearly all rows pay nothing for it.

Logits are integers here, of 2, 4 or 8 bytes, and minus infinity is their pattern: what is kept, NaN included, stays bit
for bit, and a format only matters where minus infinity is spelled differently.

In: addresses and strides in bytes. Out: logits in place or copied, and the dead rows.
Cost: a row of 128,256 float32 in place 3-12 us, copied 15 us, every 12 bytes 10-50 us.
"""

from ..machine.jit import door, inline
from ..machine.lanes import (
    LANES,
    choose_lanes,
    copy_lanes,
    count_bits,
    differing_lanes,
    fill_lanes,
    load_item,
    lowest_bit,
    store_item,
    without_lowest_bit,
)
from ..machine.raw import load_u32, prefetch
from ..tables.memory import load_i64

ALL = (1 << LANES) - 1  # a word that allows 32 tokens
AHEAD = 16  # words
CACHE_LINE = 64  # bytes; 32 logits of 4 bytes are two
FAR = 8 * 2**20  # bytes of logits that do not fit the caches: batches of strings in place take a sixth less
FEW = 8  # refused tokens of a word that are written one by one: 10 us a row of a string, not 16; half in batches


@inline
def choose(destination, source, word, refused, size):
    """Write 32 values side by side: those at `source` that the word allows, `refused` for the others."""
    if word == 0:
        fill_lanes(destination, refused, size)
    elif word == ALL:
        if destination != source:
            copy_lanes(destination, source, size)
    elif destination == source and count_bits(word ^ ALL) <= FEW:
        left = word ^ ALL
        while left != 0:
            store_item(destination + lowest_bit(left) * size, refused, size)
            left = without_lowest_bit(left)
    else:
        choose_lanes(destination, source, word, refused, size)


@inline
def word_at(words, n_words, index):
    """A word of the mask without its sign; beyond the mask everything is refused."""
    return load_u32(words + 4 * index) if index < n_words else 0


@inline
def apply_side_by_side(destination, source, n_values, words, n_words, refused, size, is_far):
    """Apply a row of the mask to values side by side; returns whether one is left that is not `refused`.

    is_far : they are not in the caches, so the values of a word are prefetched before it is looked at.
    """
    n_blocks = n_values // LANES
    for i in range(n_blocks):
        offset = i * LANES * size
        if is_far and 0 < word_at(words, n_words, i + AHEAD) < ALL:
            prefetch(destination + offset + AHEAD * LANES * size)
            prefetch(destination + offset + AHEAD * LANES * size + CACHE_LINE)
        choose(destination + offset, source + offset, word_at(words, n_words, i), refused, size)
    is_alive = False
    for i in range(n_blocks):  # a loop of its own, which ends soon: a short one above is compiled for each size
        if word_at(words, n_words, i) != 0 and differing_lanes(destination + i * LANES * size, refused, size) != 0:
            is_alive = True
            break
    last = word_at(words, n_words, n_blocks)
    for i in range(n_values % LANES):
        offset = (n_blocks * LANES + i) * size
        value = load_item(source + offset, size) if last >> i & 1 else refused
        store_item(destination + offset, value, size)
        is_alive = is_alive or value != refused
    return is_alive


@inline
def apply_apart(address, stride, n_values, words, n_words, refused, size):
    """Apply a row of the mask in place to values `stride` bytes apart; returns whether one is left that counts."""
    is_alive = False
    for first in range(0, n_values, LANES):
        word = word_at(words, n_words, first // LANES)
        here = address + first * stride
        n = min(n_values - first, LANES)
        if word == 0 and n == LANES:
            for i in range(LANES):
                store_item(here + i * stride, refused, size)
            continue
        inside = (1 << n) - 1
        left = ~word & inside
        while left != 0:
            store_item(here + lowest_bit(left) * stride, refused, size)
            left = without_lowest_bit(left)
        left = 0 if is_alive else word & inside
        while left != 0 and not is_alive:
            is_alive = load_item(here + lowest_bit(left) * stride, size) != refused
            left = without_lowest_bit(left)
    return is_alive


@door(
    "int64(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64[::1], int64, int64)",
    group="apply",
)
def apply_rows(
    destination, destination_row, source, source_row, stride, n_values,
    words, words_row, n_words, rows, n_rows, dead, refused, size,
):  # fmt: skip
    """Apply a mask to rows of logits; returns how many are dead: have nothing left but minus infinity.

    Parameters
    ----------
    destination, source : addresses of the first logit of row 0, to write and to read; the same: in place.
    destination_row, source_row, words_row : bytes from a row to the next.
    stride : bytes from a logit to the next; `size` unless in place.
    n_values : logits a row.
    words : address of the mask, 4 bytes a word side by side; n_words : words a row.
    rows : address of int64[n_rows], the rows to work on; 0: rows 0 to n_rows - 1.
    dead : int64[n_rows], gets the dead rows in the order of `rows`.
    refused : the bits of minus infinity, as a number without a sign where logits are narrow.
    size : bytes of a logit, 2, 4 or 8.
    """
    n_dead = 0
    is_far = size == 4 and destination == source and n_rows * n_values * size > FAR
    for i in range(n_rows):
        row = load_i64(rows + 8 * i) if rows != 0 else i
        here = destination + row * destination_row
        mask = words + row * words_row
        if stride == size:
            is_alive = apply_side_by_side(
                here, source + row * source_row, n_values, mask, n_words, refused, size, is_far
            )
        else:
            is_alive = apply_apart(here, stride, n_values, mask, n_words, refused, size)
        if not is_alive:
            dead[n_dead] = row
            n_dead += 1
    return n_dead
