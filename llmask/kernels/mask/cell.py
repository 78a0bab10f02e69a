"""Cells: what a matcher owns that readers without a lock look at, and how it narrows the mask of its grammar.

    NO_FILTER   mask = grammatical
    FILTER      mask = grammatical & allowed - listed
    LIST        mask = the tokens of a list
    ASK         not known here: the matcher fills the mask itself

`allowed` is a bitmask; `listed` are lists of tokens and ranges of another list; ends of sequence and the special tokens
that the grammar names stay only if CELL_MAY_END says so. Whoever narrows masks (llmask/canonical) writes these fields.

In: a cell, a grammatical mask. Out: the mask. Cost: 0.3 us for 128,000 tokens and 1 ns a listed token.
"""

from __future__ import annotations

from ..machine.jit import kernel
from ..machine.raw import take_bit
from ..tables.grammar_layout import NAMES_TOKENS
from ..tables.memory import block, fill_bytes, get_i32, load_i32, load_i64, store_i32
from ..tables.store_layout import EOS, N_EOS, N_SPECIALS, N_VOCAB, N_WORDS, SPECIALS

# fields of a cell, int64[CELL_FIELDS]
CELL_STORE = 0  # address of the store's table
CELL_GRAMMAR = 1
CELL_CONFIGURATION = 2
CELL_FILTER = 3  # what kind of mask, see below
CELL_WORDS = 4  # address of int32[n_words], padded to eight bytes
CELL_PAIRS = 5  # address of int32[n]: incompatible tokens; of a LIST the tokens that may follow
CELL_N_PAIRS = 6
CELL_REMOVED = 7  # address of int32[n]: tokens without continuation
CELL_N_REMOVED = 8
CELL_RANGES = 9  # address of int32[n, 2]: parts (first, end) of a list, incompatible tokens, too
CELL_N_RANGES = 10
CELL_RANKED = 11  # address of that list, see canonical/following.py
CELL_MAY_END = 12  # 0: no end of sequence, no special token
CELL_IS_CUT = 13  # 1: some token is allowed whose continuation was not found in time
CELL_CONTEXT = 14  # see canonical/positions.py
CELL_N_LATE = 15
CELL_LATE = 16  # int32[MOST_LATE]: more tokens without continuation
MOST_LATE = 8
CELL_STOPS = CELL_LATE + MOST_LATE // 2  # 1: the matcher changes masks of its own, see matching/stops.py
CELL_ROW = CELL_STOPS + 1  # address of the row of a bitmask that a missing mask was asked for, see batch.fill_row
CELL_ROW_WORDS = CELL_ROW + 1
CELL_FIELDS = CELL_ROW_WORDS + 1

NO_FILTER = 0
ASK = -1  # not known yet, or not a matter of kernels: the matcher fills the mask
FILTER = 1
LIST = 2


@kernel
def clear_bit(words, token):
    take_bit(words, token)


@kernel
def clear_listed(words, tokens, n):
    """Take int32[n] tokens at an address out of a mask."""
    for i in range(n):
        clear_bit(words, load_i32(tokens + i * 4))


@kernel
def clear_ranges(words, ranked, ranges, n):
    """Take the tokens of int32[n, 2] parts of a list out of a mask."""
    for i in range(n):
        for at in range(load_i32(ranges + i * 8), load_i32(ranges + i * 8 + 4)):
            clear_bit(words, load_i32(ranked + at * 4))


@kernel
def allows_all(store, words):
    """Whether a mask has every token."""
    for token in range(store[N_VOCAB]):
        if load_i32(words + (token >> 5) * 4) >> (token & 31) & 1 == 0:
            return False
    return True


@kernel
def apply_filter(store, grammar, cell, words):
    """Take out of a mask, which has none but `words` any more, what else the cell says."""
    for field in range(CELL_PAIRS, CELL_RANGES, 2):
        clear_listed(words, load_i64(cell + 8 * field), load_i64(cell + 8 * field + 8))
    clear_listed(words, cell + 8 * CELL_LATE, load_i64(cell + 8 * CELL_N_LATE))
    ranked, n_ranges = load_i64(cell + 8 * CELL_RANKED), load_i64(cell + 8 * CELL_N_RANGES)
    clear_ranges(words, ranked, load_i64(cell + 8 * CELL_RANGES), n_ranges)
    if load_i64(cell + 8 * CELL_MAY_END) == 0:
        eos = block(store, EOS)
        for i in range(store[N_EOS]):
            clear_bit(words, get_i32(eos, i))
        if grammar[NAMES_TOKENS] != 0:
            specials = block(store, SPECIALS)
            for i in range(store[N_SPECIALS]):
                clear_bit(words, get_i32(specials, i))


@kernel
def write_list(store, cell, words):
    """Write the mask of the tokens that the cell lists."""
    fill_bytes(words, store[N_WORDS] * 4, 0)
    tokens = load_i64(cell + 8 * CELL_PAIRS)
    for i in range(load_i64(cell + 8 * CELL_N_PAIRS)):
        token = load_i32(tokens + i * 4)
        at = words + (token >> 5) * 4
        store_i32(at, load_i32(at) | (1 << (token & 31)))
