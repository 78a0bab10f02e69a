"""Configurations: a row and a lexer state together. What may follow is a function of the configuration alone.

    step    one byte: inside the lexeme; or the lexeme ends before the byte (greedy: only where no lexeme goes on with
            it); or it ends with the byte, at once, where nothing could be added to it (a closing quote)

Readers (`known_step`, `known_after`) take no lock and answer MISS where something must be built first; the builders of
the same names run under the lock.

In: the tables, a row and a lexer state. Out: numbers of configurations.
Cost: a known step 4 ns, a step over a lexeme's end 20 ns.
"""

from __future__ import annotations

from .earley_rows import R_ACCEPTS, R_BARE_START, R_START, bare_start, goto, known_goto, row_field
from .grammar_slots import CONFIGURATION_IDS, CONFIGURATIONS, IGNORED, IGNORED_AT_ENDS, N_CONFIGURATIONS
from .interning import map_get, map_put
from .jit import kernel, never_inline
from .lexer_states import DEAD, MISS, S_ACCEPTS, S_FINISHED, UNKNOWN, known_next, next_state, state_field
from .memory import EXCEEDED, block, ensure, get_i32, put_i32

CONFIGURATION_FIELDS = 8
C_ROW = 0
C_STATE = 1
C_MASK_KIND = 2  # see crossing.py
C_FIRST = 3  # where its crossing tokens lie in the pool of CROSSINGS
C_N = 4  # number of its crossing tokens
C_ACCEPTS = 5  # 1 when the document may end here
C_TOTAL = 6  # allowed tokens, ends of sequence included
C_MASK = 7  # number of its own mask

ENDED = 0  # reserved configuration: an end of sequence was accepted
REFUSED = -1


@kernel
def configuration_field(grammar, configuration, name):
    return get_i32(block(grammar, CONFIGURATIONS), configuration * CONFIGURATION_FIELDS + name)


@kernel
def put_configuration_field(grammar, configuration, name, value):
    put_i32(block(grammar, CONFIGURATIONS), configuration * CONFIGURATION_FIELDS + name, value)


@kernel
def pack(row, state):
    return (row << 32) | state


@kernel
def start_after(store, grammar, row, scanned):
    """Lexer state of `row`, reached by the lexemes of set `scanned`."""
    if scanned == grammar[IGNORED]:
        return bare_start(store, grammar, row)
    return row_field(grammar, row, R_START)


@kernel
def step(store, grammar, row, state, byte):
    """pack(row, state) after one more byte, or REFUSED. Builds what is missing."""
    never_inline()
    target = next_state(store, state, byte)
    if target == DEAD:
        scanned = state_field(store, state, S_ACCEPTS)
        if scanned == 0:
            return REFUSED
        row = goto(store, grammar, row, scanned)
        if grammar[EXCEEDED] != 0:
            return REFUSED
        target = next_state(store, start_after(store, grammar, row, scanned), byte)
        if target == DEAD:
            return REFUSED
    if state_field(store, target, S_FINISHED) != 0:
        scanned = state_field(store, target, S_ACCEPTS)
        row = goto(store, grammar, row, scanned)
        if grammar[EXCEEDED] != 0:
            return REFUSED
        target = start_after(store, grammar, row, scanned)
    return pack(row, target)


@kernel
def known_start_after(grammar, row, scanned):
    if scanned == grammar[IGNORED]:
        return row_field(grammar, row, R_BARE_START)
    return row_field(grammar, row, R_START)


@kernel
def known_step(store, grammar, row, state, byte):
    """As `step`, reading only; MISS where something is not built yet."""
    target = known_next(store, state, byte)
    if target == DEAD:
        scanned = state_field(store, state, S_ACCEPTS)
        if scanned == 0:
            return REFUSED
        row = known_goto(grammar, row, scanned)
        if row < 0:
            return MISS
        start = known_start_after(grammar, row, scanned)
        if start == UNKNOWN:
            return MISS
        target = known_next(store, start, byte)
        if target == DEAD:
            return REFUSED
    if target == UNKNOWN:
        return MISS
    if state_field(store, target, S_FINISHED) != 0:
        scanned = state_field(store, target, S_ACCEPTS)
        row = known_goto(grammar, row, scanned)
        if row < 0:
            return MISS
        target = known_start_after(grammar, row, scanned)
        if target == UNKNOWN:
            return MISS
    return pack(row, target)


@kernel
def known_configuration(grammar, packed):
    """Number of a configuration, or MISS."""
    known = map_get(grammar, CONFIGURATION_IDS, packed)
    return known if known >= 0 else MISS


@kernel
def configuration_of(store, grammar, packed):
    """Number of a configuration; makes it."""
    never_inline()
    known = map_get(grammar, CONFIGURATION_IDS, packed)
    if known >= 0:
        return known
    row = packed >> 32
    state = packed & 0xFFFFFFFF
    accepts = 0
    scanned = state_field(store, state, S_ACCEPTS)
    after_ignored = state == row_field(grammar, row, R_BARE_START) or (scanned != 0 and scanned == grammar[IGNORED])
    if after_ignored and grammar[IGNORED_AT_ENDS] == 0:
        accepts = 0  # nothing ignored may stand after the last lexeme
    elif after_ignored or state == row_field(grammar, row, R_START):
        accepts = row_field(grammar, row, R_ACCEPTS)
    elif scanned != 0:
        accepts = row_field(grammar, goto(store, grammar, row, scanned), R_ACCEPTS)
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return REFUSED
    configuration = grammar[N_CONFIGURATIONS]
    ensure(grammar, CONFIGURATIONS, (configuration + 1) * CONFIGURATION_FIELDS * 4)
    put_configuration_field(grammar, configuration, C_ROW, row)
    put_configuration_field(grammar, configuration, C_STATE, state)
    put_configuration_field(grammar, configuration, C_ACCEPTS, accepts)
    grammar[N_CONFIGURATIONS] = configuration + 1
    map_put(grammar, CONFIGURATION_IDS, packed, configuration)
    return configuration


@kernel
def init_configurations(grammar):
    """Reserve configuration ENDED."""
    never_inline()
    ensure(grammar, CONFIGURATIONS, CONFIGURATION_FIELDS * 4)
    grammar[N_CONFIGURATIONS] = 1
    put_configuration_field(grammar, ENDED, C_ROW, -1)
    put_configuration_field(grammar, ENDED, C_ACCEPTS, 1)
