"""Configurations: a place and a lexer state together. What may follow is a function of the configuration alone.

    step    one byte: inside the lexeme; or the lexeme ends before the byte (greedy: only where no lexeme goes on with
            it); or it ends with the byte, at once, where nothing could be added to it (a closing quote)

A place is a row, where something is recorded a row with a record (values/transcripts.py); then every byte leads to
another place.

Readers (`known_step`, `known_after`) take no lock and answer MISS where something must be built first; the builders of
the same names run under the lock.

In: the tables, a place and a lexer state. Out: numbers of configurations.
Cost: a known step 4 ns, a step over a lexeme's end 20 ns.
"""

from __future__ import annotations

from ..lexer.states import DEAD, MISS, S_ACCEPTS, S_FINISHED, UNKNOWN, is_start, known_next, next_state, state_field
from ..machine.jit import kernel, never_inline
from ..parser.goto import certain_goto, goto, known_goto, place_at
from ..parser.rows import (
    ACCEPTS,
    R_BARE_START,
    R_FLAGS,
    R_START,
    RECORDS_HERE,
    TAKES_TOKENS,
    bare_start,
    first_row,
    has_flag_of_row,
    row_field,
)
from ..parser.token_terminals import TOKEN_STEP, ends_behind, token_goto
from ..tables.grammar_layout import (
    CONFIGURATION_IDS,
    CONFIGURATIONS,
    GOTO,
    IGNORED,
    IGNORED_AT_ENDS,
    IGNORED_REPEATS,
    N_CONFIGURATIONS,
    NAMES_TOKENS,
)
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import EXCEEDED, block, ensure, get_i32, put_i32, spend
from ..values.transcripts import FIRST_PLACE, NO_RECORD, known_place_after, place_after, row_of

CONFIGURATION_FIELDS = 16
C_PLACE = 0
C_STATE = 1
C_MASK_KIND = 2  # see mask/assemble.py
C_FIRST = 3  # where its crossing tokens lie in the pool of CROSSINGS
C_N = 4  # number of its crossing tokens
C_ACCEPTS = 5  # 1 when the document may end here
C_TOTAL = 6  # allowed tokens, ends of sequence included
C_MASK = 7  # number of its own mask
C_SHARED = 8  # of a bare row that records: 1 when C_FIRST, C_N and the fields below are those of every record
C_FIRST_POINT = 9  # where its points lie in the pool of CROSSINGS, see mask/boundary_walk.py
C_N_POINTS = 10
C_MAY_REPEAT = 11  # 1 when a value that ends here may be one of the set
C_NAMING = 12  # place + 1 whose row names tokens that may come next, 0 = none, see parser/token_terminals.py
C_FIRST_NAMED = 13  # where these lie in the pool of CROSSINGS, or number of their own mask
C_N_NAMED = 14  # how many they are, those of the rest of the mask left aside; OWN_MASK = in a mask
C_BASE = 15  # the configuration of the bare row, where a mask has its crossing tokens and more, see mask/assemble.py

OWN_MASK = -1
NO_PLACE_NAMES = -1
ENDED = 0  # reserved configuration: an end of sequence was accepted
REFUSED = -1


@kernel
def configuration_field(grammar, configuration, name):
    return get_i32(block(grammar, CONFIGURATIONS), configuration * CONFIGURATION_FIELDS + name)


@kernel
def put_configuration_field(grammar, configuration, name, value):
    put_i32(block(grammar, CONFIGURATIONS), configuration * CONFIGURATION_FIELDS + name, value)


@kernel
def pack(place, state):
    return (place << 32) | state


@kernel
def start_after(store, grammar, place, scanned):
    """Lexer state at a place, reached by the lexemes of set `scanned`."""
    row = row_of(grammar, place)
    if scanned == grammar[IGNORED] and grammar[IGNORED_REPEATS] == 0:
        return bare_start(store, grammar, row)
    return row_field(grammar, row, R_START)


@kernel
def first_configuration(store, grammar):
    """The configuration before the first byte."""
    never_inline()
    row = first_row(store, grammar)
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return REFUSED
    return configuration_of(store, grammar, pack(place_at(grammar, row, NO_RECORD), row_field(grammar, row, R_START)))


@kernel
def arrive(store, grammar, place, target):
    """pack(place, state) where the lexer has come to a state, or REFUSED. A lexeme that cannot go on ends at once."""
    if state_field(store, target, S_FINISHED) != 0:
        scanned = state_field(store, target, S_ACCEPTS)
        place = goto(store, grammar, place, scanned)
        if place < 0:
            return REFUSED
        target = start_after(store, grammar, place, scanned)
    return pack(place, target)


@kernel
def step(store, grammar, place, state, byte):
    """pack(place, state) after one more byte, or REFUSED. Builds what is missing."""
    never_inline()
    target = next_state(store, state, byte)
    if target == DEAD:
        scanned = state_field(store, state, S_ACCEPTS)
        if scanned == 0:
            return REFUSED
        place = goto(store, grammar, place, scanned)
        if place < 0:
            return REFUSED
        target = next_state(store, start_after(store, grammar, place, scanned), byte)
        if target == DEAD:
            return REFUSED
    if place >= FIRST_PLACE:
        place = place_after(store, grammar, place, byte, target)
    return arrive(store, grammar, place, target)


@kernel
def known_start_after(grammar, place, scanned):
    row = row_of(grammar, place)
    if scanned == grammar[IGNORED] and grammar[IGNORED_REPEATS] == 0:
        return row_field(grammar, row, R_BARE_START)
    return row_field(grammar, row, R_START)


@kernel
def known_arrive(store, grammar, place, target):
    """As `arrive`, reading only; MISS where something is not built yet."""
    if state_field(store, target, S_FINISHED) != 0:
        scanned = state_field(store, target, S_ACCEPTS)
        place = known_goto(grammar, place, scanned)
        if place < 0:
            return MISS if place == MISSING else REFUSED
        target = known_start_after(grammar, place, scanned)
        if target == UNKNOWN:
            return MISS
    return pack(place, target)


@kernel
def known_step(store, grammar, place, state, byte):
    """As `step`, reading only; MISS where something is not built yet."""
    target = known_next(store, state, byte)
    if target == DEAD:
        scanned = state_field(store, state, S_ACCEPTS)
        if scanned == 0:
            return REFUSED
        place = known_goto(grammar, place, scanned)
        if place < 0:
            return MISS if place == MISSING else REFUSED
        start = known_start_after(grammar, place, scanned)
        if start == UNKNOWN:
            return MISS
        target = known_next(store, start, byte)
        if target == DEAD:
            return REFUSED
    if target == UNKNOWN:
        return MISS
    if place >= FIRST_PLACE:
        place = known_place_after(store, grammar, place, byte, target)
        if place < 0:
            return MISS
    return known_arrive(store, grammar, place, target)


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
    place = packed >> 32
    state = packed & 0xFFFFFFFF
    row = row_of(grammar, place)
    accepts = 0
    scanned = state_field(store, state, S_ACCEPTS)
    after_ignored = state == row_field(grammar, row, R_BARE_START) or (scanned != 0 and scanned == grammar[IGNORED])
    if place == row and has_flag_of_row(grammar, row, RECORDS_HERE):
        accepts = 0  # no sequence is here without a record
    elif after_ignored and grammar[IGNORED_AT_ENDS] == 0:
        accepts = 0  # nothing ignored may stand after the last lexeme
    elif after_ignored or state == row_field(grammar, row, R_START):
        accepts = row_field(grammar, row, R_FLAGS) & ACCEPTS
    elif scanned != 0:
        target = certain_goto(store, grammar, row, scanned)  # needs no set with the number that may go on
        if target < 0:
            target = goto(store, grammar, place, scanned)
        if target >= 0:
            accepts = row_field(grammar, row_of(grammar, target), R_FLAGS) & ACCEPTS
    spend(grammar, 8)
    naming = _naming_place(store, grammar, place, state)
    if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
        return REFUSED
    configuration = grammar[N_CONFIGURATIONS]
    ensure(grammar, CONFIGURATIONS, (configuration + 1) * CONFIGURATION_FIELDS * 4)
    put_configuration_field(grammar, configuration, C_PLACE, place)
    put_configuration_field(grammar, configuration, C_STATE, state)
    put_configuration_field(grammar, configuration, C_ACCEPTS, accepts)
    put_configuration_field(grammar, configuration, C_NAMING, naming + 1)
    grammar[N_CONFIGURATIONS] = configuration + 1
    map_put(grammar, CONFIGURATION_IDS, packed, configuration)
    return configuration


@kernel
def _naming_place(store, grammar, place, state):
    """The place that the lexeme in hand leads to if it ends here, where that names tokens; else NO_PLACE_NAMES."""
    never_inline()
    if grammar[NAMES_TOKENS] == 0:
        return NO_PLACE_NAMES
    if not is_start(store, state):
        scanned = state_field(store, state, S_ACCEPTS)
        if scanned == 0:
            return NO_PLACE_NAMES
        place = goto(store, grammar, place, scanned)
        if place < 0:
            return NO_PLACE_NAMES
    return place if has_flag_of_row(grammar, row_of(grammar, place), TAKES_TOKENS) else NO_PLACE_NAMES


@kernel
def after_token(store, grammar, configuration, token):
    """Configuration after a token that is named, or REFUSED. Builds what is missing."""
    never_inline()
    place = configuration_field(grammar, configuration, C_NAMING) - 1
    if place < 0:
        return REFUSED
    target = token_goto(store, grammar, place, token)
    if target < 0:
        return REFUSED
    if ends_behind(store, grammar, target, token):
        return ENDED
    return configuration_of(store, grammar, pack(target, row_field(grammar, row_of(grammar, target), R_START)))


@kernel
def known_after_token(store, grammar, configuration, token):
    """As `after_token`, reading only; MISS where something is not built yet."""
    place = configuration_field(grammar, configuration, C_NAMING) - 1
    if place < 0:
        return REFUSED
    target = map_get(grammar, GOTO, (place << 32) | TOKEN_STEP | token)
    if target == MISSING:
        return MISS
    if target < 0:
        return REFUSED
    if ends_behind(store, grammar, target, token):
        return ENDED
    return known_configuration(grammar, pack(target, row_field(grammar, row_of(grammar, target), R_START)))


@kernel
def init_configurations(grammar):
    """Reserve configuration ENDED."""
    never_inline()
    ensure(grammar, CONFIGURATIONS, CONFIGURATION_FIELDS * 4)
    grammar[N_CONFIGURATIONS] = 1
    put_configuration_field(grammar, ENDED, C_PLACE, -1)
    put_configuration_field(grammar, ENDED, C_ACCEPTS, 1)
