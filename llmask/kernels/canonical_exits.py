"""What follows tokens that stay inside of a lexeme, by what follows the lexeme: one place for all of them.

Before the value of a member 350 tokens of blanks may come (Llama 3), which lead to 60 lexer states. Read from the
place, each of them costs as much as any token; but behind all of them is the same place. So of a configuration that is
inside of one lexeme, or is so behind the first byte of a token, the *exit* is looked up once: the place behind the
lexeme and its lexer state. What goes on inside is a matter of lexer states; what of a witness is left at the exit is
asked once.

These are quick positive answers; who gets none reads the token.

In: tables, an exit, a lexer state, a split state. Out: yes, or not certain. Cost: 20 ns.
"""

from __future__ import annotations

from .canonical_ends import NO_BYTE, first_of_both, go, live_ascii, safe_byte
from .canonical_guess import NO_WITNESS, split_behind, witness_text
from .canonical_search import MOST_COMMON, common_witness
from .canonical_slots import ENDS, EXIT_MEMO
from .configurations import C_PLACE, C_STATE, REFUSED, configuration_field, pack, start_after
from .goto import goto
from .grammar_slots import IGNORED
from .jit import kernel, never_inline
from .lexer_states import DEAD, S_ACCEPTS, S_FINISHED, S_SINGLE, next_state, state_field
from .memory import block, ensure, fill_bytes, load_i64, store_i64
from .records import FIRST_PLACE

ALL_BYTES = 256  # for a first byte: all tokens
MEMO_ENTRIES = 16
MEMO_BYTES = 24  # text, split state behind it, answer
NOT_ASKED = 0
YES = 1
NO = 2


@kernel
def exit_of(store, grammar, canon, configuration, byte):
    """Place and lexer state behind the only lexeme inside of which tokens with a first byte stay, or REFUSED."""
    never_inline()
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    if byte != ALL_BYTES:
        state = next_state(store, state, byte)
    scanned = state_field(store, state, S_SINGLE)
    if scanned == 0 or (place >= FIRST_PLACE and scanned != grammar[IGNORED]):
        return REFUSED
    target = goto(store, grammar, place, scanned)
    if target < 0:
        return REFUSED
    fill_bytes(ensure(canon, EXIT_MEMO, MEMO_ENTRIES * MEMO_BYTES), MEMO_ENTRIES * MEMO_BYTES, 0)
    return pack(target, start_after(store, grammar, target, scanned))


@kernel
def _is_safe(store, grammar, canon, behind, state, split):
    """Whether a byte that ends the word may come in a lexer state inside of the lexeme."""
    ends = canon[ENDS] + split * 16
    low, high = load_i64(ends), load_i64(ends + 8)
    live = live_ascii(store, canon, state)
    inside_low, inside_high = load_i64(live), load_i64(live + 8)
    if (low & inside_low) | (high & inside_high) != 0:
        return True
    if state_field(store, state, S_ACCEPTS) == 0:
        return False
    live = live_ascii(store, canon, behind & 0xFFFFFFFF)
    low &= load_i64(live) & ~inside_low
    high &= load_i64(live + 8) & ~inside_high
    return low | high != 0 and first_of_both(store, grammar, behind, low, high) != NO_BYTE


@kernel
def _holds(store, grammar, canon, behind, text, split):
    """Whether a text may follow the lexeme, and then a byte that ends the word."""
    never_inline()
    entry = block(canon, EXIT_MEMO) + ((text ^ text >> 8 ^ split) & (MEMO_ENTRIES - 1)) * MEMO_BYTES
    if load_i64(entry + 16) != NOT_ASKED and load_i64(entry) == text and load_i64(entry + 8) == split:
        return load_i64(entry + 16) == YES
    packed, rest = behind, text
    while rest != 0 and packed >= 0:
        packed = go(store, grammar, packed, rest & 0xFF)
        rest >>= 8
    found = packed >= 0 and safe_byte(store, grammar, canon, packed, split) != NO_BYTE
    store_i64(entry, text)
    store_i64(entry + 8, split)
    store_i64(entry + 16, YES if found else NO)
    return found


@kernel
def _has_witness(store, grammar, canon, behind, state, witness):
    """Whether there is a witness and it can follow in a lexer state inside of the lexeme."""
    if witness <= NO_WITNESS:
        return False
    text, split = witness_text(canon, witness), split_behind(canon, witness)
    while text != 0:
        target = next_state(store, state, text & 0xFF)
        if target == DEAD:
            return state_field(store, state, S_ACCEPTS) != 0 and _holds(store, grammar, canon, behind, text, split)
        text >>= 8
        if state_field(store, target, S_FINISHED) != 0:
            return _holds(store, grammar, canon, behind, text, split)
        state = target
    return _is_safe(store, grammar, canon, behind, state, split)


@kernel
def goes_on_inside(store, grammar, canon, behind, state, split, witness):
    """Whether something canonical certainly follows tokens that led to a lexer state and a split state."""
    never_inline()
    if _is_safe(store, grammar, canon, behind, state, split):
        return True
    if _has_witness(store, grammar, canon, behind, state, witness):
        return True
    for number in range(MOST_COMMON):
        common = common_witness(canon, split, number)
        if common <= NO_WITNESS:
            return False
        if _has_witness(store, grammar, canon, behind, state, common):
            return True
    return False
