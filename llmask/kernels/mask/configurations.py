"""Configurations: a place and a lexer state together. What may follow is a function of the configuration alone.

    step    one byte: inside the lexeme; or the lexeme ends before the byte (greedy: only where no lexeme goes on with
            it); or it ends with the byte, at once, where nothing could be added to it (a closing quote)

A place is a row, where something is recorded a row with a record (values/places.py); then every byte leads to
another place.

Readers (`known_step`, `known_after`) take no lock and answer MISS where something must be built first; the builders of
the same names run under the lock.

In: the tables, a place and a lexer state. Out: numbers of configurations.
Cost: a known step 4 ns, a step over a lexeme's end 20 ns.
"""

from __future__ import annotations

from ..lexer.states import DEAD, MISS, UNKNOWN, is_start, known_next, next_state
from ..machine.jit import inline, kernel
from ..parser.goto import certain_goto, goto, known_goto, place_at
from ..parser.rows import bare_start, first_row
from ..parser.token_terminals import TOKEN_STEP, ends_behind, token_goto
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import reserve, spend
from ..values.places import FIRST_PLACE, NO_RECORD, known_place_after, place_after, row_of

OWN_MASK = -1
NO_PLACE_NAMES = -1
ENDED = 0  # reserved configuration: an end of sequence was accepted
REFUSED = -1


@inline
def pack(place, state):
    return (place << 32) | state


@inline
def start_after(store, grammar, place, scanned):
    """Lexer state at a place, reached by the lexemes of set `scanned`."""
    row = row_of(grammar, place)
    if scanned == grammar.ignored and grammar.ignored_repeats == 0:
        return bare_start(store, grammar, row)
    return grammar.rows[row].start


@kernel
def first_configuration(store, grammar):
    """The configuration before the first byte."""
    row = first_row(store, grammar)
    if grammar.exceeded != 0 or store.exceeded != 0:
        return REFUSED
    return configuration_of(store, grammar, pack(place_at(grammar, row, NO_RECORD), grammar.rows[row].start))


@inline
def arrive(store, grammar, place, target):
    """pack(place, state) where the lexer has come to a state, or REFUSED. A lexeme that cannot go on ends at once."""
    if store.states[target].finished != 0:
        scanned = store.states[target].accepts
        place = goto(store, grammar, place, scanned)
        if place < 0:
            return REFUSED
        target = start_after(store, grammar, place, scanned)
    return pack(place, target)


@kernel
def step(store, grammar, place, state, byte):
    """pack(place, state) after one more byte, or REFUSED. Builds what is missing."""
    target = next_state(store, state, byte)
    if target == DEAD:
        scanned = store.states[state].accepts
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


@inline
def known_start_after(grammar, place, scanned):
    row = row_of(grammar, place)
    if scanned == grammar.ignored and grammar.ignored_repeats == 0:
        return grammar.rows[row].bare_start
    return grammar.rows[row].start


@inline
def known_arrive(store, grammar, place, target):
    """As `arrive`, reading only; MISS where something is not built yet."""
    if store.states[target].finished != 0:
        scanned = store.states[target].accepts
        place = known_goto(grammar, place, scanned)
        if place < 0:
            return MISS if place == MISSING else REFUSED
        target = known_start_after(grammar, place, scanned)
        if target == UNKNOWN:
            return MISS
    return pack(place, target)


@inline
def known_step(store, grammar, place, state, byte):
    """As `step`, reading only; MISS where something is not built yet."""
    target = known_next(store, state, byte)
    if target == DEAD:
        scanned = store.states[state].accepts
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


@inline
def known_configuration(grammar, packed):
    """Number of a configuration, or MISS."""
    known = map_get(grammar.configuration_ids, packed)
    return known if known >= 0 else MISS


@kernel
def configuration_of(store, grammar, packed):
    """Number of a configuration; makes it."""
    known = map_get(grammar.configuration_ids, packed)
    if known >= 0:
        return known
    place = packed >> 32
    state = packed & 0xFFFFFFFF
    row = row_of(grammar, place)
    accepts = 0
    scanned = store.states[state].accepts
    after_ignored = state == grammar.rows[row].bare_start or (scanned != 0 and scanned == grammar.ignored)
    if place == row and grammar.rows[row].records:
        accepts = 0  # no sequence is here without a record
    elif after_ignored and grammar.ignored_at_ends == 0:
        accepts = 0  # nothing ignored may stand after the last lexeme
    elif after_ignored or state == grammar.rows[row].start:
        accepts = 1 if grammar.rows[row].accepts else 0
    elif scanned != 0:
        target = certain_goto(store, grammar, row, scanned)  # needs no set with the number that may go on
        if target < 0:
            target = goto(store, grammar, place, scanned)
        if target >= 0:
            accepts = 1 if grammar.rows[row_of(grammar, target)].accepts else 0
    spend(grammar, 8)
    naming = _naming_place(store, grammar, place, state)
    if grammar.exceeded != 0 or store.exceeded != 0:
        return REFUSED
    configuration = grammar.n_configurations
    reserve(grammar.configurations, configuration + 1)
    grammar.configurations[configuration].place = place
    grammar.configurations[configuration].state = state
    grammar.configurations[configuration].accepts = accepts
    grammar.configurations[configuration].naming = naming + 1
    grammar.n_configurations = configuration + 1
    map_put(grammar.configuration_ids, packed, configuration)
    return configuration


@kernel
def _naming_place(store, grammar, place, state):
    """The place that the lexeme in hand leads to if it ends here, where that names tokens; else NO_PLACE_NAMES."""
    if grammar.names_tokens == 0:
        return NO_PLACE_NAMES
    if not is_start(store, state):
        scanned = store.states[state].accepts
        if scanned == 0:
            return NO_PLACE_NAMES
        place = goto(store, grammar, place, scanned)
        if place < 0:
            return NO_PLACE_NAMES
    return place if grammar.rows[row_of(grammar, place)].takes_tokens else NO_PLACE_NAMES


@kernel
def after_token(store, grammar, configuration, token):
    """Configuration after a token that is named, or REFUSED. Builds what is missing."""
    place = grammar.configurations[configuration].naming - 1
    if place < 0:
        return REFUSED
    target = token_goto(store, grammar, place, token)
    if target < 0:
        return REFUSED
    if ends_behind(store, grammar, target, token):
        return ENDED
    return configuration_of(store, grammar, pack(target, grammar.rows[row_of(grammar, target)].start))


@inline
def known_after_token(store, grammar, configuration, token):
    """As `after_token`, reading only; MISS where something is not built yet."""
    place = grammar.configurations[configuration].naming - 1
    if place < 0:
        return REFUSED
    target = map_get(grammar.goto, (place << 32) | TOKEN_STEP | token)
    if target == MISSING:
        return MISS
    if target < 0:
        return REFUSED
    if ends_behind(store, grammar, target, token):
        return ENDED
    return known_configuration(grammar, pack(target, grammar.rows[row_of(grammar, target)].start))


@kernel
def init_configurations(grammar):
    """Reserve configuration ENDED."""
    reserve(grammar.configurations, 1)
    grammar.n_configurations = 1
    grammar.configurations[ENDED].place = -1
    grammar.configurations[ENDED].accepts = 1
