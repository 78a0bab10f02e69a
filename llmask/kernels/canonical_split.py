r"""How the splitter goes on over one more token: what a canonical sequence has to know of its text so far.

A splitter decides late where a word ends (pretokenize_scan.py): a match is noted one character after its end, and
`\s+(?!\S)` falls back to a match that it had noted earlier. The tokens of a canonical sequence lie inside of words, so
a word can end only where a token ends. A *split state* is all that matters of the text so far, apart from the last
token:

    row         of the automaton, in the current word
    fallback    the state there would be if the match in progress failed: that of the text since the last match noted
    must        a pair of tokens since then would have been merged: the match has to fail
    partial     the first bytes of a character that is not complete, and whether a token begins with them

    "\n    1"   tokens "\n", "   ", " ", "1": the word of blanks ends before the last blank if a "1" or a letter
                follows it, and goes on if a blank or a line end does. "   " and " " would merge to four blanks, so the
                word must end between them, which "1" makes true and a further blank makes false.

`split_tokens` reads tokens in a state, once as if they were compatible with the token before and once as if not; where
the splitter ends a word between them, that does not matter. What becomes of the fallback is left to the caller, who
has the tables of that state (llmask/canonical/states.py).

In: an encoder's table, a state, bytes. Out: the state after them, packed, or REFUSED. Cost: 5 ns a byte.
"""

from __future__ import annotations

from .bpe_incremental import is_cut_off
from .encoder_slots import CLASS_BLOCKS, CLASS_INDEX, DATA, N_CLASSES, OFFSETS, TRANSITIONS
from .interning import mix
from .jit import door, kernel, never_inline
from .memory import as_table, copy_bytes, fill_bytes, load_i32, load_u8, store_u8
from .pretokenize_scan import LENGTH_SHIFT, character_at
from .raw import borrow, give_back

# a split state, int64[STATE_FIELDS]
ROW = 0
MUST = 1
N_PARTIAL = 2
PARTIAL = 3  # bytes, the first lowest
PARTIAL_START = 4  # INSIDE, FITS or BREAKS: whether a token begins where the character does
HAS_FALLBACK = 5
STATE_FIELDS = 6

INSIDE, FITS, BREAKS = range(3)  # of a place: no token begins here; it is compatible with the one before; it is not
NONE = -1  # no fallback, or one inside of a token
BEFORE = -2  # the fallback of the state that the bytes are read in

REFUSED = -1
# a packed result
ROW_BITS = 10  # the number of the row, of at most 1000
KIND_SHIFT = 10
NO_FALLBACK, SAME_FALLBACK, FRESH_FALLBACK, FAILED = range(
    4
)  # FRESH: that of the token alone; FAILED: it has come true
MUST_BIT = 12
N_PARTIAL_SHIFT = 13
START_SHIFT = 15
NEW_BIT = 17  # the word before ended where the token begins
PARTIAL_SHIFT = 18

SIGNED = 0x2545F4914F6CDD1D  # what signatures begin with
ROOM = 4096 + 4  # bytes of a token and a character before it


@kernel
def split_bytes(table, needs_fallback, state, text, marks, start, end, fits, at_end):
    """Packed state after the bytes [start, end) of `text`, or REFUSED.

    The bytes before `start` are those of the state's partial character; `marks` uint8 is scratch. `needs_fallback`
    uint8: of a row, whether a match in progress may fail. `at_end`: the text ends with them.
    """
    never_inline()
    index, blocks, n_classes = table[CLASS_INDEX], table[CLASS_BLOCKS], table[N_CLASSES]
    transitions = table[TRANSITIONS]
    first_row = n_classes + 1
    row, must = state[ROW], state[MUST]
    if start > 0 and not fits:
        return REFUSED  # no word ends inside of a character
    fill_bytes(marks, end + 1, INSIDE)
    store_u8(marks + start, FITS if fits else BREAKS)
    if start > 0:
        store_u8(marks, state[PARTIAL_START])
    fallback = BEFORE if state[HAS_FALLBACK] else NONE
    position = 0
    word = 0 if row == first_row else -1  # where the current word begins, -1: before these bytes
    while position < end or (at_end and word != end):
        number, length = n_classes, 0
        if position < end:
            if load_u8(text + position) >= 0x80 and is_cut_off(text, position, end):
                break
            packed = character_at(index, blocks, text, position, end)
            number, length = packed & 0xFF, packed >> LENGTH_SHIFT
        mark = load_u8(marks + position) if position < end else FITS
        entry = load_i32(transitions + (row + number) * 4)
        if entry & 1:
            if must:
                return REFUSED
            fallback = position if mark != INSIDE else NONE
        following = entry >> 1
        if following == 0:
            if fallback == BEFORE:
                return FAILED << KIND_SHIFT
            if fallback == NONE or fallback == word:
                return REFUSED
            row, word, position, fallback, must = first_row, fallback, fallback, NONE, 0
            continue
        if position == end:
            return REFUSED  # no pattern goes on behind the end
        if mark == BREAKS and position != word:
            if fallback == NONE:
                return REFUSED
            must = 1
        row = following
        position += length
    if at_end:
        return 0
    kind = NO_FALLBACK
    if load_u8(needs_fallback + row) != 0:
        if fallback == BEFORE:
            kind = SAME_FALLBACK
        elif fallback == 0:
            kind = FRESH_FALLBACK
        elif fallback != NONE and load_u8(marks + fallback) != INSIDE:
            kind = FRESH_FALLBACK
    if must and kind == NO_FALLBACK:
        return REFUSED
    n_partial = end - position
    partial = 0
    for i in range(n_partial):
        partial |= load_u8(text + position + i) << (8 * i)
    begins = INSIDE
    if n_partial > 0:
        begins = FITS if position == word else load_u8(marks + position)
    is_new = word == start
    return (
        row // first_row
        | kind << KIND_SHIFT
        | must << MUST_BIT
        | n_partial << N_PARTIAL_SHIFT
        | begins << START_SHIFT
        | is_new << NEW_BIT
        | partial << PARTIAL_SHIFT
    )


@kernel
def write_partial(state, text):
    """Write the bytes of the partial character; returns their number."""
    for i in range(state[N_PARTIAL]):
        store_u8(text + i, state[PARTIAL] >> (8 * i) & 0xFF)
    return state[N_PARTIAL]


@door("void(int64, int64, int64, int32[::1], uint8[::1], int64[::1], int64[::1])", group="canonical")
def split_tokens(address, needs_fallback, state_address, tokens, include, fitting, breaking):
    """Packed states after each of some tokens, if it is compatible with the token before and if it is not.

    `include` uint8[n_vocab]: 0 for tokens that no encoding has.
    """
    table, state = as_table(address), as_table(state_address)
    text, marks = borrow(ROOM), borrow(ROOM + 1)
    start = write_partial(state, text)
    for i in range(tokens.shape[0]):
        token = tokens[i]
        first = load_i32(table[OFFSETS] + token * 4)
        length = load_i32(table[OFFSETS] + token * 4 + 4) - first
        if include[token] == 0:
            fitting[i] = REFUSED
            breaking[i] = REFUSED
            continue
        copy_bytes(text + start, table[DATA] + first, length)
        breaking[i] = split_bytes(table, needs_fallback, state, text, marks, start, start + length, 0, 0)
        fitting[i] = split_bytes(table, needs_fallback, state, text, marks, start, start + length, 1, 0)
    give_back(text)
    give_back(marks)


@door("void(int64, int64, int64, int64[::1])", group="canonical")
def find_ends(address, needs_fallback, state_address, ends):
    """Which ASCII characters end the word here, and whether the end of text may: packed states in `ends` int64[129].

    The state has no partial character; the last entry is 0, FAILED or REFUSED.
    """
    table, state = as_table(address), as_table(state_address)
    text, marks = borrow(ROOM), borrow(ROOM + 1)
    for byte in range(128):
        store_u8(text, byte)
        ends[byte] = split_bytes(table, needs_fallback, state, text, marks, 0, 1, 0, 0)
    is_start = state[ROW] == table[N_CLASSES] + 1
    ends[128] = 0 if is_start else split_bytes(table, needs_fallback, state, text, marks, 0, 0, 1, 1)
    give_back(text)
    give_back(marks)


@door("void(int64, int64, int32[::1], uint8[::1], int64[:, ::1], int64[::1])", group="canonical")
def sign_tokens(address, needs_fallback, tokens, include, states, signatures):
    """Signatures of some tokens: equal where every one of the states int64[n, STATE_FIELDS] tells them not apart.

    A state has no partial character. A signature has 63 bits; of two different tokens they are equal once in 10^19.
    """
    table = as_table(address)
    text, marks = borrow(ROOM), borrow(ROOM + 1)
    for i in range(tokens.shape[0]):
        first = load_i32(table[OFFSETS] + tokens[i] * 4)
        length = load_i32(table[OFFSETS] + tokens[i] * 4 + 4) - first
        signature = mix(SIGNED, include[tokens[i]])
        if include[tokens[i]] != 0:
            copy_bytes(text, table[DATA] + first, length)
            for j in range(states.shape[0]):
                state = as_table(states.ctypes.data + j * STATE_FIELDS * 8)
                for fits in range(2):
                    packed = split_bytes(table, needs_fallback, state, text, marks, 0, length, fits, 0)
                    signature = mix(signature, packed)
        signatures[i] = signature
    give_back(text)
    give_back(marks)
