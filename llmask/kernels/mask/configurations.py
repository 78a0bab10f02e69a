"""Configurations: a parse state and a lexer state together. What may follow is a function of the configuration alone.

    step    one byte: inside the lexeme; or the lexeme ends before the byte (greedy: only where no lexeme goes on with
            it); or it ends with the byte, at once, where nothing could be added to it (a closing quote)

A parse state is a row, mostly (values/parse_states.py). Readers (`known_step`, `known_after_token`) take no lock and
answer MISS where something must be built first; builders of the same bodies run under the lock.

In: the tables, a parse state and a lexer state. Out: numbers of configurations.
Cost: a known step 4 ns, a step over a lexeme's end 20 ns.
"""

from ..lexer.states import DEAD, MISS, UNKNOWN, is_start, known_next, next_state
from ..machine.jit import inline, kernel
from ..parser.goto import goto, known_goto
from ..parser.rows import first_row, start_after_ignored
from ..parser.token_terminals import ends_after, known_token_goto, token_goto
from ..parser.tracked_goto import certain_goto, first_parse_state
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import has_stopped, reserve, spend
from ..values.parse_states import FIRST_TRACKED, known_parse_state_after, parse_state_after, row_of

OWN_MASK = -1
NOTHING_NAMED = -1
ENDED = 0  # reserved configuration: an end of sequence was accepted
REFUSED = -1


@inline
def pack(parse_state, state):
    return (parse_state << 32) | state


@inline
def unpack(packed):
    """(parse state, lexer state)."""
    return packed >> 32, packed & 0xFFFFFFFF


@inline
def states_of(grammar, configuration):
    """(parse state, lexer state) of a configuration."""
    return grammar.configurations[configuration].parse_state, grammar.configurations[configuration].state


@inline
def _is_after_ignored(grammar, scanned):
    """Whether the lexemes that ended are the ignored one, and another one may not follow it."""
    return scanned == grammar.ignored and grammar.ignored_repeats == 0


@inline
def start_after(store, grammar, parse_state, scanned):
    """Lexer state at a parse state, reached by the lexemes of set `scanned`."""
    row = row_of(grammar, parse_state)
    if _is_after_ignored(grammar, scanned):
        return start_after_ignored(store, grammar, row)
    return grammar.rows[row].start


@inline
def known_start_after(store, grammar, parse_state, scanned):
    """As `start_after`, reading only; UNKNOWN where it is not made yet."""
    row = grammar.rows[row_of(grammar, parse_state)]
    return row.start_after_ignored if _is_after_ignored(grammar, scanned) else row.start


@kernel
def first_configuration(store, grammar):
    """The configuration before the first byte."""
    row = first_row(store, grammar)
    if has_stopped(store, grammar):
        return REFUSED
    return configuration_of(store, grammar, pack(first_parse_state(grammar, row), grammar.rows[row].start))


@inline
def known_configuration(store, grammar, packed):
    """Number of a configuration, or MISS."""
    known = map_get(grammar.configuration_ids, packed)
    return known if known >= 0 else MISS


@kernel
def configuration_of(store, grammar, packed):
    """Number of a configuration; makes it."""
    known = map_get(grammar.configuration_ids, packed)
    if known >= 0:
        return known
    parse_state, state = unpack(packed)
    row = row_of(grammar, parse_state)
    accepts = 0
    scanned = store.states[state].accepts
    after_ignored = state == grammar.rows[row].start_after_ignored or (scanned != 0 and scanned == grammar.ignored)
    if parse_state == row and grammar.rows[row].tracks:
        accepts = 0  # an untracked row: no sequence is here
    elif after_ignored and grammar.ignored_at_ends == 0:
        accepts = 0  # nothing ignored may follow the last lexeme
    elif after_ignored or state == grammar.rows[row].start:
        accepts = 1 if grammar.rows[row].accepts else 0
    elif scanned != 0:
        target = certain_goto(store, grammar, row, scanned)  # needs no set with the value that ends
        if target < 0:
            target = goto(store, grammar, parse_state, scanned)
        if target >= 0:
            accepts = 1 if grammar.rows[row_of(grammar, target)].accepts else 0
    spend(grammar, 8)
    naming = _naming_state(store, grammar, parse_state, state)
    if has_stopped(store, grammar):
        return REFUSED
    configuration = grammar.n_configurations
    made = reserve(grammar.configurations, configuration + 1)[configuration]
    made.parse_state, made.state = parse_state, state
    made.accepts, made.naming = accepts, naming + 1
    grammar.n_configurations = configuration + 1
    map_put(grammar.configuration_ids, packed, configuration)
    return configuration


@kernel
def _naming_state(store, grammar, parse_state, state):
    """The parse state after the lexeme in hand, if it names tokens; else NOTHING_NAMED."""
    if grammar.names_tokens == 0:
        return NOTHING_NAMED
    if not is_start(store, state):
        scanned = store.states[state].accepts
        if scanned == 0:
            return NOTHING_NAMED
        parse_state = goto(store, grammar, parse_state, scanned)
        if parse_state < 0:
            return NOTHING_NAMED
    return parse_state if grammar.rows[row_of(grammar, parse_state)].takes_tokens else NOTHING_NAMED


def steps_by(next_state, goto, start_after, parse_state_after, token_goto, configuration_of, declare):
    """The steps of configurations, by functions that build what is missing, or by readers, which may answer MISS."""

    @inline
    def arrive(store, grammar, parse_state, state):
        """pack(parse state, lexer state) where the lexer has come to a state. A finished lexeme ends at once."""
        if store.states[state].finished != 0:
            scanned = store.states[state].accepts
            parse_state = goto(store, grammar, parse_state, scanned)
            if parse_state < 0:
                return MISS if parse_state == MISSING else REFUSED
            state = start_after(store, grammar, parse_state, scanned)
            if state == UNKNOWN:
                return MISS
        return pack(parse_state, state)

    @declare
    def step(store, grammar, parse_state, state, byte):
        """pack(parse state, lexer state) after one more byte, or REFUSED."""
        target = next_state(store, state, byte)
        if target == DEAD:  # the lexeme ends before the byte
            scanned = store.states[state].accepts
            if scanned == 0:
                return REFUSED
            parse_state = goto(store, grammar, parse_state, scanned)
            if parse_state < 0:
                return MISS if parse_state == MISSING else REFUSED
            start = start_after(store, grammar, parse_state, scanned)
            if start == UNKNOWN:
                return MISS
            target = next_state(store, start, byte)
            if target == DEAD:
                return REFUSED
        if target == UNKNOWN:
            return MISS
        if parse_state >= FIRST_TRACKED:
            parse_state = parse_state_after(store, grammar, parse_state, byte, target)
            if parse_state < 0:
                return MISS
        return arrive(store, grammar, parse_state, target)

    @declare
    def after_token(store, grammar, configuration, token):
        """Configuration after a token that is named, or REFUSED."""
        parse_state = grammar.configurations[configuration].naming - 1
        if parse_state < 0:
            return REFUSED
        target = token_goto(store, grammar, parse_state, token)
        if target < 0:
            return MISS if target == MISSING else REFUSED
        if ends_after(store, grammar, target, token):
            return ENDED
        return configuration_of(store, grammar, pack(target, grammar.rows[row_of(grammar, target)].start))

    return arrive, step, after_token


arrive, step, after_token = steps_by(
    next_state, goto, start_after, parse_state_after, token_goto, configuration_of, kernel
)
known_arrive, known_step, known_after_token = steps_by(
    known_next, known_goto, known_start_after, known_parse_state_after, known_token_goto, known_configuration, inline
)


@kernel
def init_configurations(grammar):
    """Reserve configuration ENDED."""
    reserve(grammar.configurations, 1)
    grammar.n_configurations = 1
    grammar.configurations[ENDED].parse_state = -1
    grammar.configurations[ENDED].accepts = 1
