"""Witnesses: short texts that can follow a token and then end the word, tried at other places before a search.

A search that finds a continuation of up to seven bytes remembers it for its split state and token, which is how a
string with room for 49 characters learns from one with room for 50. Tokens in a chain (canonical/chains.py) have none.

A token that ends inside of a character has a guessed one. There are 1,081 such tokens in Llama 3, and 40,000 split
states inside of characters. Nearly always single bytes can complete the character, and a plain one after it ends the
word.

In: tables, an end, a split state, a token. Out: a witness is its place in `tokens`, + 1, or NO_WITNESS. Cost: 50 ns
where it is known; a guess 0.3 us, once.
"""

from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import inline, kernel
from ..machine.raw import load_u32
from ..tables.interning import map_get, map_put
from ..tables.memory import as_table, ensure, load_i32, load_i64, load_u8, reserve, store_u8
from .ends import go, is_safe
from .pairs import is_fitting
from .positions import LOW_HALF
from .slots import CANON
from .split import FITS, N_PARTIAL, N_PARTIAL_SHIFT, PARTIAL_MARK, ROW, STATE_FIELDS, split_bytes, write_partial

NO_WITNESS = 0
MOST_BYTES = 7  # of a witness
NEXT = 1 << 37  # added to the key of a witness: one for places where those before do not hold
MOST_WITNESSES = 6  # of a split state and token
FIRST_CONTINUING, END_CONTINUING = 0x80, 0xC0
SEPARATORS = 0xE280  # the first bytes of U+2028 and U+2029, which are no plain characters


@inline
def witness_key(split, token):
    """Key of the first witness of a token that led to a split state."""
    return (split << 21) | token


@inline
def put_witness(canon, key, text, split):
    """Enter up to MOST_BYTES bytes, the first lowest, and the split state after them; returns the witness."""
    first = canon.n_tokens
    tokens = reserve(canon.tokens, first + 3)
    tokens[first] = text & LOW_HALF
    tokens[first + 1] = text >> 32
    tokens[first + 2] = split
    canon.n_tokens = first + 3
    map_put(canon.witnesses, key, first + 1)
    return first + 1


@inline
def witness_text(canon, witness):
    return load_u32(canon.tokens.address + witness * 4 - 4) | load_i32(canon.tokens.address + witness * 4) << 32


@inline
def split_after_text(canon, witness):
    return load_i32(canon.tokens.address + witness * 4 + 4)


@inline
def is_half(canon, split):
    """Whether a split state is inside of a character."""
    return load_i64(canon.keys + (split * STATE_FIELDS + N_PARTIAL) * 8) != 0


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
    """Complete the character of n bytes by `byte` and the least bytes that fit after it; where it ends, or -1."""
    table = as_table(canon.encoder)
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
    key = witness_key(split, token)
    known = map_get(canon.witnesses, key)
    if known >= 0:
        return known
    state = as_table(canon.keys + split * STATE_FIELDS * 8)
    text = ensure(canon, CANON.text_room, 64)
    n = write_partial(state, text)
    for first in range(FIRST_CONTINUING, END_CONTINUING):
        end = _complete(canon, text, n, token, first)
        if end < 0:
            continue
        reached = split_bytes(as_table(canon.splitter), state[ROW], state[PARTIAL_MARK], text, n, end, FITS)
        if reached >> N_PARTIAL_SHIFT == 0 and load_u8(canon.is_plain + reached) != 0:
            spelled = 0
            for i in range(n, end):
                spelled |= load_u8(text + i) << (8 * (i - n))
            return put_witness(canon, key, spelled, reached)
    map_put(canon.witnesses, key, NO_WITNESS)
    return NO_WITNESS


@inline
def enter_witness(canon, key, text, after):
    """Remember a text of a split state and token, unless it is known or there are enough."""
    for _ in range(MOST_WITNESSES):
        known = map_get(canon.witnesses, key)
        if known < 0:
            if canon.bytes_used <= canon.shared_bytes:
                put_witness(canon, key, text, after)
            return
        if known > NO_WITNESS and witness_text(canon, known) == text:
            return
        key += NEXT


@kernel
def first_witness(canon, split, token):
    """Key of the first witness of a token that led to a split state; inside of a character one is guessed."""
    if is_half(canon, split):
        guess_witness(canon, split, token)
    return witness_key(split, token)


@kernel
def can_follow(store, grammar, canon, packed, witness):
    """Whether a witness can follow: its bytes, then one that ends the word."""
    if witness <= NO_WITNESS:
        return False
    text = witness_text(canon, witness)
    while text != 0:
        packed = go(store, grammar, packed, text & 0xFF)
        if packed < 0:
            return False
        text >>= 8
    return is_safe(store, grammar, canon, packed, split_after_text(canon, witness))


@kernel
def has_witness(store, grammar, canon, packed, split, token):
    """Whether a witness that is known for a token can follow."""
    key = first_witness(canon, split, token)
    for number in range(MOST_WITNESSES):
        witness = map_get(canon.witnesses, key + number * NEXT)
        if witness < 0:
            return False
        if can_follow(store, grammar, canon, packed, witness):
            return True
    return False
