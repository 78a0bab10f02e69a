"""A byte that joins the word of a guessed character, as a continuation of a token that ends inside of it.

A plain character behind the guessed end of a character ends the word (canonical/guess.py). Before the end of a string,
or the dash of a date, one byte alone may stand there, and of many words it is a part: behind a combining mark the quote
is. So that byte is tried, and one behind it that ends the word, before a search begins: that needs tables of the split
states inside of characters.

In: tables, an end, a split state inside of a character, the token before. Out: whether this can follow; the text is one
more witness. Cost: 0.3 us a byte.
"""

from ..encoders.encoder_slots import EncoderSlot
from ..machine.jit import inline, kernel
from ..tables.memory import as_table, ensure, load_i32, load_i64, store_u8
from .chains import NO_CHAIN
from .ends import INSIDE_PLACE, go, safe_byte, state_after_lexeme
from .guess import NO_WITNESS, guess_witness, split_behind, witness_key, witness_text
from .live import NO_BYTE, live_word
from .pairs import is_fitting
from .queue import MOST_OWN, enter_witness
from .slots import ENCODER, ENDS, ROOM, SPLITTER
from .split import FITS, N_PARTIAL_SHIFT, split_bytes

MOST_JOINED = 4  # bytes that are tried


@inline
def _split_behind_byte(canon, split, last, byte):
    """Split state behind the token of a byte in the word of that of another; negative or packed: there is none."""
    tokens = as_table(canon[ENCODER])[EncoderSlot.BYTE_TOKENS]
    token = load_i32(tokens + byte * 4)
    if token < 0 or not is_fitting(canon, load_i32(tokens + last * 4), token):
        return -1
    text = ensure(canon, ROOM, 64)
    store_u8(text, byte)
    return split_bytes(as_table(canon[SPLITTER]), split, 0, text, 0, 1, FITS)


@kernel
def joins_on(store, grammar, canon, packed, split, token):
    """Whether the guessed end of a character can follow an end, a byte of its word, and one that ends the word.

    Where the byte ends the lexeme what follows is a matter of places: inside of the lexeme the text is noted alone.
    """
    witness = guess_witness(canon, split, token)
    if witness <= NO_WITNESS:
        return False
    text, behind = witness_text(canon, witness), split_behind(canon, witness)
    rest, last, n_bytes = text, 0, 0
    while rest != 0:
        packed = go(store, grammar, packed, rest & 0xFF)
        if packed < 0:
            return False
        last, rest, n_bytes = rest & 0xFF, rest >> 8, n_bytes + 1
    state, after_lexeme = packed & 0xFFFFFFFF, state_after_lexeme(store, grammar, packed)
    bits, n_tried = 0, 0
    for byte in range(128):
        if byte & 63 == 0:
            ends = load_i64(canon[ENDS] + behind * 16 + 8 * (byte >> 6))
            bits = live_word(store, canon, state, after_lexeme, byte >> 6) & ~ends
        if bits >> (byte & 63) & 1 == 0:
            continue
        if n_tried == MOST_JOINED:
            return False
        n_tried += 1
        following = _split_behind_byte(canon, behind, last, byte)
        reached = go(store, grammar, packed, byte)
        if following >> N_PARTIAL_SHIFT != 0 or reached < 0:
            continue
        is_left = packed >> 32 == INSIDE_PLACE and store.states[reached & 0xFFFFFFFF].finished != 0
        is_followed = not is_left and safe_byte(store, grammar, canon, reached, following) != NO_BYTE
        if is_left or is_followed:
            enter_witness(canon, witness_key(split, token, NO_CHAIN), MOST_OWN, text | byte << (8 * n_bytes), following)
        if is_followed:
            return True
    return False
