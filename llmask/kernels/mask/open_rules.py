"""Where lexemes end in a text, which rules have a lexeme in hand, and the end of a lexeme at a place of the caller's.

A trace takes three numbers a byte:

    byte    the set of lexemes that ended before it, 0 = none    the set of lexemes that ended with it, 0 = none

In: the tables, configurations, bytes. Out: sets of lexemes, rules, configurations. Cost: that of `configurations.step`.
"""

from __future__ import annotations

from ..lexer.states import DEAD, S_ACCEPTS, S_FINISHED, is_start, next_state, state_field, token_set_of
from ..machine.jit import kernel, never_inline
from ..parser.goto import goto
from ..parser.rows import R_N_SCANS, R_SCANS, row_field
from ..tables.grammar_layout import EDGES, ROW_POOL, STATE_RULES
from ..tables.interning import list_item, list_length
from ..tables.memory import block, get_i32
from ..tables.store_layout import LEXEME_SETS, LEXEMES, STATE_KEYS
from ..values.transcripts import row_of
from .configurations import (
    C_PLACE,
    C_STATE,
    ENDED,
    REFUSED,
    configuration_field,
    configuration_of,
    pack,
    start_after,
    step,
)

TRACE_FIELDS = 3
T_BYTE = 0
T_BEFORE = 1
T_WITH = 2


@kernel
def trace_bytes(store, grammar, configuration, data):
    """Configuration after the bytes of a trace, which is filled in, or REFUSED."""
    never_inline()
    if configuration == ENDED:
        return REFUSED
    place = configuration_field(grammar, configuration, C_PLACE)
    state = configuration_field(grammar, configuration, C_STATE)
    for at in range(0, data.shape[0], TRACE_FIELDS):
        byte = data[at + T_BYTE]
        data[at + T_BEFORE] = 0
        data[at + T_WITH] = 0
        target = next_state(store, state, byte)
        if target == DEAD:
            scanned = state_field(store, state, S_ACCEPTS)
            data[at + T_BEFORE] = scanned
            behind = goto(store, grammar, place, scanned) if scanned != 0 else REFUSED
            if behind < 0:
                return REFUSED
            target = next_state(store, start_after(store, grammar, behind, scanned), byte)
        if target != DEAD and state_field(store, target, S_FINISHED) != 0:
            data[at + T_WITH] = state_field(store, target, S_ACCEPTS)
        packed = step(store, grammar, place, state, byte)
        if packed == REFUSED:
            return REFUSED
        place = packed >> 32
        state = packed & 0xFFFFFFFF
    return configuration_of(store, grammar, pack(place, state))


@kernel
def nodes_of_set(store, lexemes, data):
    """Write the nodes of a set of lexemes to `data`, as many as have room; returns how many they are."""
    never_inline()
    n = list_length(store, LEXEME_SETS, lexemes)
    for i in range(min(n, data.shape[0])):
        data[i] = get_i32(block(store, LEXEMES), list_item(store, LEXEME_SETS, lexemes, i))
    return n


@kernel
def ending(store, grammar, configuration):
    """The set of the lexemes in hand that may end here."""
    if configuration == ENDED:
        return 0
    return state_field(store, configuration_field(grammar, configuration, C_STATE), S_ACCEPTS)


@kernel
def _has_lexeme(store, state, lexeme):
    """Whether a lexeme may go on in a lexer state."""
    for i in range(0, list_length(store, STATE_KEYS, state) & -2, 2):
        if list_item(store, STATE_KEYS, state, i) == lexeme:
            return True
    return False


@kernel
def open_rules(store, grammar, configuration, with_expected, data):
    """Write the rules that read a lexeme in a configuration; returns how many.

    Where nothing of a lexeme was read there are none, or those that expect one. A rule that reads several is written
    several times.
    """
    never_inline()
    if configuration == ENDED:
        return 0
    row = row_of(grammar, configuration_field(grammar, configuration, C_PLACE))
    state = configuration_field(grammar, configuration, C_STATE)
    n = 0
    is_read = not is_start(store, state)
    if not is_read and with_expected == 0:
        return n
    scans = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        pool = block(grammar, ROW_POOL)
        lexeme = get_i32(pool, scans + 4 * i)
        if token_set_of(store, lexeme) >= 0 or (is_read and not _has_lexeme(store, state, lexeme)):
            continue
        if n < data.shape[0]:
            target = get_i32(block(grammar, EDGES), 4 * get_i32(pool, scans + 4 * i + 1) + 2)
            data[n] = get_i32(block(grammar, STATE_RULES), target)
        n += 1
    return n


@kernel
def close_lexeme(store, grammar, configuration):
    """The configuration where the lexemes in hand have ended, or REFUSED where none may end."""
    never_inline()
    place = configuration_field(grammar, configuration, C_PLACE)
    scanned = state_field(store, configuration_field(grammar, configuration, C_STATE), S_ACCEPTS)
    if scanned == 0:
        return REFUSED
    place = goto(store, grammar, place, scanned)
    if place < 0:
        return REFUSED
    return configuration_of(store, grammar, pack(place, start_after(store, grammar, place, scanned)))
