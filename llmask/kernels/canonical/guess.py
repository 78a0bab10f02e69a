"""A continuation of a token that ends inside of a character, without tables of the split states there.

There are 1,081 such tokens in Llama 3, and 40,000 split states inside of characters. Nearly always single bytes can
complete the character, and a plain one behind it ends the word.

In: the table of split states, a split state inside of a character, the token before. Out: a witness, as
canonical/search.py has them, or NO_WITNESS; it is remembered. Cost: 0.3 us, 20 ns when it is known.
"""

from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..machine.raw import load_u32
from ..tables.interning import map_get, map_put
from ..tables.memory import as_table, ensure, load_i32, load_i64, load_u8, reserve, store_u8
from .chains import NO_CHAIN
from .pairs import is_fitting
from .slots import ENCODER, IS_PLAIN, KEYS, ROOM, SPLITTER, WITNESSES
from .split import FITS, N_PARTIAL, N_PARTIAL_SHIFT, PARTIAL_MARK, ROW, STATE_FIELDS, split_bytes, write_partial

NO_WITNESS = 0
MOST_BYTES = 7  # of a witness
NEXT = 1 << 37  # added to the key of a witness: one for places where those before do not hold
MOST_CHAINS = 1 << 22  # that have witnesses
FIRST_CONTINUING, END_CONTINUING = 0x80, 0xC0
SEPARATORS = 0xE280  # the first bytes of U+2028 and U+2029, which are no plain characters


@inline
def witness_key(split, token, chain):
    """Key of the first witness of a token that led to a split state and a chain, one below MOST_CHAINS."""
    return (chain << 41) | (split << 21) | token


@inline
def put_witness(canon, key, text, split):
    """Enter up to MOST_BYTES bytes, the first lowest, and the split state behind them; returns the witness."""
    first = canon.n_tokens
    tokens = reserve(canon.tokens, first + 3)
    tokens[first] = text
    tokens[first + 1] = text >> 32
    tokens[first + 2] = split
    canon.n_tokens = first + 3
    map_put(map_at(canon, WITNESSES), key, first + 1)
    return first + 1


@inline
def witness_text(canon, witness):
    return load_u32(canon.tokens.address + witness * 4 - 4) | load_i32(canon.tokens.address + witness * 4) << 32


@inline
def split_behind(canon, witness):
    return load_i32(canon.tokens.address + witness * 4 + 4)


@inline
def is_half(canon, split):
    """Whether a split state is inside of a character."""
    return load_i64(canon[KEYS] + (split * STATE_FIELDS + N_PARTIAL) * 8) != 0


@inline
def _is_text(text, n, byte):
    """Whether a byte may follow the n bytes of a character."""
    lead = load_u8(text)
    if n == 1:
        if (lead == 0xE0 and byte < 0xA0) or (lead == 0xF0 and byte < 0x90):
            return False
        return not ((lead == 0xED and byte >= 0xA0) or (lead == 0xF4 and byte >= 0x90))
    return n != 2 or (lead << 8 | load_u8(text + 1)) != SEPARATORS or (byte != 0xA8 and byte != 0xA9)


@inline
def _complete(canon, text, n, token, byte):
    """Complete the character of n bytes by `byte` and the least bytes that fit behind it; where it ends, or -1."""
    table = as_table(canon[ENCODER])
    length = 2 + (load_u8(text) >= 0xE0) + (load_u8(text) >= 0xF0)
    is_given = True
    while n < length:
        following = load_i32(table[EncoderSlot.BYTE_TOKENS] + byte * 4)
        if following >= 0 and _is_text(text, n, byte) and is_fitting(canon, token, following):
            store_u8(text + n, byte)
            n += 1
            token, byte, is_given = following, FIRST_CONTINUING, False
        elif is_given or byte == END_CONTINUING - 1:
            return -1
        else:
            byte += 1
    return n


@kernel
def guess_witness(canon, split, token):
    """A witness of plain characters for a token that led to a split state inside of a character, or NO_WITNESS."""
    key = witness_key(split, token, NO_CHAIN)
    known = map_get(map_at(canon, WITNESSES), key)
    if known >= 0:
        return known
    state = as_table(canon[KEYS] + split * STATE_FIELDS * 8)
    text = ensure(canon, ROOM, 64)
    n = write_partial(state, text)
    for first in range(FIRST_CONTINUING, END_CONTINUING):
        end = _complete(canon, text, n, token, first)
        if end < 0:
            continue
        reached = split_bytes(as_table(canon[SPLITTER]), state[ROW], state[PARTIAL_MARK], text, n, end, FITS)
        if reached >> N_PARTIAL_SHIFT == 0 and load_u8(canon[IS_PLAIN] + reached) != 0:
            spelled = 0
            for i in range(n, end):
                spelled |= load_u8(text + i) << (8 * (i - n))
            return put_witness(canon, key, spelled, reached)
    map_put(map_at(canon, WITNESSES), key, NO_WITNESS)
    return NO_WITNESS
