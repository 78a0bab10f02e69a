"""How the splitter goes on over one more token, by the automaton of llmask/canonical/splitting.py.

A *row* of the automaton is the set of all ways to split the text so far that may still come true. It is led on by
characters with marks:

    FITS      a token begins at the character that is compatible with the one before: a word may end there
    BREAKS    a token begins that is not: a word has to end there
    INSIDE    no token begins, or one that has to be of the same word: no word ends there

A *split state* is a row with the first bytes of a character that is not complete, and the mark of that one.

In: the table of a splitter, a state, bytes. Out: the state after them, packed, or REFUSED. Cost: 3 ns a byte.
"""

from ..encoders.bpe_incremental import is_cut_off
from ..encoders.pretokenize_scan import LENGTH_SHIFT, character_at
from ..machine.jit import door, inline, kernel
from ..machine.raw import borrow, give_back
from ..tables.interning import mix
from ..tables.memory import as_table, copy_bytes, load_i32, load_u8, store_u8
from .slots import REFUSED_SPLIT

# the table of a splitter; all but N_CLASSES are addresses
CLASS_INDEX = 0  # classes of characters, as pretokenize_scan.py reads them
CLASS_BLOCKS = 1
N_CLASSES = 2
ROWS = 3  # int32[n_rows, n_classes, N_MARKS]: the next row
OFFSETS = 4  # int32[n_vocab + 1]: bytes of tokens
DATA = 5
SPLITTER_FIELDS = 6

# a split state, int64[STATE_FIELDS]
ROW = 0
N_PARTIAL = 1
PARTIAL = 2  # bytes, the first lowest
PARTIAL_MARK = 3
STATE_FIELDS = 4

DEAD = 0  # rows
START = 1  # before any text

FITS, BREAKS, INSIDE = range(3)
N_MARKS = 3

LONE, NAMED = 1, 2  # cases of tokens: a word of its own; cut out of texts by its name

REFUSED = -1
# a packed result: the row, and
N_PARTIAL_SHIFT = 16
MARK_SHIFT = 18
PARTIAL_SHIFT = 20

SIGNED = 0x2545F4914F6CDD1D  # what signatures begin with
ROOM = 4096 + 4  # bytes of a token and a character before it


@kernel
def split_bytes(splitter, row, mark_before, text, start, end, mark):
    """Packed state after the bytes [0, end) of `text`, or REFUSED; a token with a mark begins at `start`.

    The bytes before `start` are of a partial character, which has the mark `mark_before`.
    """
    index, blocks, n_classes = splitter[CLASS_INDEX], splitter[CLASS_BLOCKS], splitter[N_CLASSES]
    rows = splitter[ROWS]
    if start > 0 and mark == BREAKS:
        return REFUSED  # no word ends inside of a character
    position = 0
    here = mark_before if start > 0 else mark
    while position < end:
        if load_u8(text + position) >= 0x80 and is_cut_off(text, position, end):
            break
        packed = character_at(index, blocks, text, position, end)
        row = load_i32(rows + ((row * n_classes + (packed & 0xFF)) * N_MARKS + here) * 4)
        if row == DEAD:
            return REFUSED
        position += packed >> LENGTH_SHIFT
        here = INSIDE
    n_partial = end - position
    partial = 0
    for i in range(n_partial):
        partial |= load_u8(text + position + i) << (8 * i)
    if n_partial == 0:
        here = 0
    return row | n_partial << N_PARTIAL_SHIFT | here << MARK_SHIFT | partial << PARTIAL_SHIFT


@inline
def write_partial(state, text):
    """Write the bytes of the partial character; returns their number."""
    for i in range(state[N_PARTIAL]):
        store_u8(text + i, state[PARTIAL] >> (8 * i) & 0xFF)
    return state[N_PARTIAL]


@inline
def _write_token(splitter, token, text):
    """Write the bytes of a token; returns their number."""
    first = load_i32(splitter[OFFSETS] + token * 4)
    length = load_i32(splitter[OFFSETS] + token * 4 + 4) - first
    copy_bytes(text, splitter[DATA] + first, length)
    return length


@door("void(int64, int64, int32[::1], uint8[::1], int64[:, ::1])", group="canonical")
def split_tokens(address, state_address, tokens, include, packed):
    """Packed states after each of some tokens: int64[N_MARKS, n], a line for each mark of the place where it begins.

    `include` uint8[n_vocab]: 0 for tokens that no encoding has.
    """
    splitter, state = as_table(address), as_table(state_address)
    text = borrow(ROOM)
    start = write_partial(state, text)
    for i in range(tokens.shape[0]):
        token = tokens[i]
        length = _write_token(splitter, token, text + start)
        for mark in range(N_MARKS):
            packed[mark, i] = REFUSED
            if include[token] != 0:
                packed[mark, i] = split_bytes(
                    splitter, state[ROW], state[PARTIAL_MARK], text, start, start + length, mark
                )
    give_back(text)


@door(
    "int64(int64, int64, int32[::1], uint8[::1], uint8[::1], int64, uint16[:, ::1], int64[:, ::1], int64[::1], "
    "int64[:, ::1])",
    group="canonical",
)
def split_kinds(address, state_address, samples, include, cases, after_name, table, begins, starts, partial):
    """Write the split states after kinds of tokens to `table`, uint16[N_MARKS, n], as `split_tokens` finds them.

    Where a state is inside of a character 0 is written, and to `partial`, int64[..., 2], the place in the flat table
    and the packed state; returns how many these are. `cases` say of a kind whether it is LONE or NAMED, after which
    the text begins anew if `after_name` is no REFUSED_SPLIT. `starts`, int64[4], gets the bits `begins`, int64[n, 4],
    of the kinds that may follow, but for such places.
    """
    splitter, state = as_table(address), as_table(state_address)
    text = borrow(ROOM)
    start = write_partial(state, text)
    n_kinds, n_partial = samples.shape[0], 0
    for i in range(n_kinds):
        token, case, may_follow = samples[i], cases[i], False
        length = _write_token(splitter, token, text + start)
        for mark in range(N_MARKS):
            table[mark, i] = REFUSED_SPLIT
            if case == NAMED:
                table[mark, i] = REFUSED_SPLIT if mark == INSIDE else after_name
            elif include[token] != 0 and not (case == LONE and mark == INSIDE):
                used = BREAKS if case == LONE else mark
                packed = split_bytes(splitter, state[ROW], state[PARTIAL_MARK], text, start, start + length, used)
                if packed == REFUSED:
                    continue
                if packed >> N_PARTIAL_SHIFT != 0:
                    table[mark, i] = 0
                    partial[n_partial, 0], partial[n_partial, 1] = mark * n_kinds + i, packed
                    n_partial += 1
                    continue
                table[mark, i] = packed
            may_follow = may_follow or (mark != INSIDE and table[mark, i] != REFUSED_SPLIT)
        for word in range(4 if may_follow else 0):
            starts[word] |= begins[i, word]
    give_back(text)
    return n_partial


@door("void(int64, int64, int32[::1], uint8[::1], int64[::1])", group="canonical")
def sign_tokens(address, n_rows, tokens, include, signatures):
    """Signatures of some tokens: equal where they lead from every row to the same state, whatever their mark.

    A signature has 63 bits; of two different tokens they are equal once in 10^19.
    """
    splitter = as_table(address)
    text = borrow(ROOM)
    for i in range(tokens.shape[0]):
        length = _write_token(splitter, tokens[i], text)
        signature = mix(SIGNED, include[tokens[i]])
        if include[tokens[i]] != 0:
            for row in range(START, n_rows):
                for mark in range(N_MARKS):
                    signature = mix(signature, split_bytes(splitter, row, INSIDE, text, 0, length, mark))
        signatures[i] = signature
    give_back(text)
