"""Cells: the state of a matcher that readers without a lock look at, and how it narrows the mask of its grammar.

    NO_FILTER   mask = grammatical
    FILTER      mask = grammatical & allowed - listed
    LIST        mask = the tokens of a list
    ASK         not known here: the matcher fills the mask itself

`allowed` is a bitmask; `listed` are lists of tokens and ranges of another list; ends of sequence and the special tokens
that the grammar names stay only if MAY_END says so. Whoever narrows masks (llmask/canonical) writes these fields.

In: a cell, a grammatical mask. Out: the mask. Cost: 0.3 us for 128,000 tokens and 1 ns a listed token.
"""

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..machine.jit import inline
from ..machine.raw import take_bit
from ..machine.records import Kind
from ..tables.memory import as_table, fill_bytes, load_i32


class CellField(Kind):
    """Fields of a cell, int64 each: a kernel reads them as slots, `as_table(cell)[CellField.STORE]`."""

    STORE = 0  # address of the store's table
    GRAMMAR = 1
    CONFIGURATION = 2
    FILTER = 3  # what kind of mask, see below
    WORDS = 4  # address of int32[n_words], padded to eight bytes
    PAIRS = 5  # address of int32[n]: incompatible tokens; of a LIST the tokens that may follow
    N_PAIRS = 6
    REMOVED = 7  # address of int32[n]: tokens without continuation
    N_REMOVED = 8
    RANGES = 9  # address of int32[n, 2]: parts (first, end) of a list, incompatible tokens, too
    N_RANGES = 10
    RANKED = 11  # address of that list, see canonical/following.py
    MAY_END = 12  # 0: no end of sequence, no special token
    IS_CUT = 13  # 1: some token is allowed whose continuation was not found in time
    CONTEXT = 14  # see canonical/positions.py
    STOPS = 15  # 1: the matcher changes masks of its own, see matching/stops.py
    ROW = 16  # address of the row of a bitmask that a missing mask was asked for, see batch.fill_row
    ROW_WORDS = 17


CELL_FIELDS = 18
# plain numbers for Python, which looks them up sooner
CELL_GRAMMAR, CELL_CONFIGURATION, CELL_FILTER = (
    CellField.GRAMMAR.value,
    CellField.CONFIGURATION.value,
    CellField.FILTER.value,
)
CELL_MAY_END, CELL_CONTEXT, CELL_STOPS = CellField.MAY_END.value, CellField.CONTEXT.value, CellField.STOPS.value
NO_FILTER = 0
ASK = -1  # not known yet, or not a matter of kernels: the matcher fills the mask
FILTER = 1
LIST = 2

RANGE_BYTES, RANGE_END = 8, 4  # of (first, end), int32


@inline
def clear_listed(words, tokens, n):
    """Take int32[n] tokens at an address out of a mask."""
    for i in range(n):
        take_bit(words, load_i32(tokens + i * 4))


@inline
def clear_ranges(words, ranked, ranges, n):
    """Take the tokens of int32[n, 2] parts of a list out of a mask."""
    for i in range(n):
        first, end = load_i32(ranges + i * RANGE_BYTES), load_i32(ranges + i * RANGE_BYTES + RANGE_END)
        for at in range(first, end):
            take_bit(words, load_i32(ranked + at * 4))


@inline
def allows_all(store, words):
    """Whether a mask has every token."""
    for token in range(store.n_vocab):
        if not has_bit(words, token):
            return False
    return True


@inline
def apply_filter(store, grammar, cell, words):
    """Take the listed tokens of a cell out of a mask, which is narrowed to `allowed` already."""
    fields = as_table(cell)
    clear_listed(words, fields[CellField.PAIRS], fields[CellField.N_PAIRS])
    clear_listed(words, fields[CellField.REMOVED], fields[CellField.N_REMOVED])
    clear_ranges(words, fields[CellField.RANKED], fields[CellField.RANGES], fields[CellField.N_RANGES])
    if fields[CellField.MAY_END] == 0:
        clear_listed(words, store.eos.address, store.n_eos)
        if grammar.names_tokens != 0:
            clear_listed(words, store.specials.address, store.n_specials)


@inline
def write_list(store, cell, words):
    """Write the mask of the tokens that the cell lists."""
    fill_bytes(words, store.n_words * 4, 0)
    fields = as_table(cell)
    tokens = fields[CellField.PAIRS]
    for i in range(fields[CellField.N_PAIRS]):
        set_bit(words, load_i32(tokens + i * 4))
