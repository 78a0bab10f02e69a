"""Where lexemes end in a text, which rules have a lexeme in hand, and the end of a lexeme where the caller says so.

A trace takes three numbers a byte:

    byte    the set of lexemes that ended before it, 0 = none    the set of lexemes that ended with it, 0 = none

In: the tables, configurations, bytes. Out: sets of lexemes, rules, configurations. Cost: that of `configurations.step`.
"""

from ..lexer.states import DEAD, is_start, live_lexeme, n_live, next_state, token_set_of
from ..machine.jit import inline, kernel
from ..parser.goto import goto
from ..parser.rows import scans_of
from ..tables.interning import list_item, list_length
from ..values.parse_states import row_of
from .configurations import ENDED, REFUSED, configuration_of, pack, start_after, states_of, step, unpack

TRACE_FIELDS, (T_BYTE, T_BEFORE, T_WITH) = 3, range(3)


@kernel
def trace_bytes(store, grammar, configuration, data):
    """Configuration after the bytes of a trace, which is filled in, or REFUSED."""
    if configuration == ENDED:
        return REFUSED
    parse_state, state = states_of(grammar, configuration)
    for at in range(0, data.shape[0], TRACE_FIELDS):
        byte = data[at + T_BYTE]
        data[at + T_BEFORE] = 0
        data[at + T_WITH] = 0
        target = next_state(store, state, byte)
        if target == DEAD:
            scanned = store.states[state].accepts
            data[at + T_BEFORE] = scanned
            following = goto(store, grammar, parse_state, scanned) if scanned != 0 else REFUSED
            if following < 0:
                return REFUSED
            target = next_state(store, start_after(store, grammar, following, scanned), byte)
        if target != DEAD and store.states[target].finished != 0:
            data[at + T_WITH] = store.states[target].accepts
        packed = step(store, grammar, parse_state, state, byte)
        if packed == REFUSED:
            return REFUSED
        parse_state, state = unpack(packed)
    return configuration_of(store, grammar, pack(parse_state, state))


@kernel
def nodes_of_set(store, lexemes, data):
    """Write the nodes of a set of lexemes to `data`, as many as have room; returns how many they are."""
    n = list_length(store.lexeme_sets, lexemes)
    for i in range(min(n, data.shape[0])):
        data[i] = store.lexemes[list_item(store.lexeme_sets, lexemes, i)]
    return n


@inline
def ending(store, grammar, configuration):
    """The set of the lexemes in hand that may end here."""
    if configuration == ENDED:
        return 0
    return store.states[grammar.configurations[configuration].state].accepts


@inline
def _has_lexeme(store, state, lexeme):
    """Whether a lexeme may go on in a lexer state."""
    for i in range(n_live(store, state)):
        if live_lexeme(store, state, i) == lexeme:
            return True
    return False


@kernel
def open_rules(store, grammar, configuration, with_expected, data):
    """Write the rules that read a lexeme in a configuration; returns how many.

    Before a lexeme no rule reads one; with `with_expected` the rules that expect one are written. A rule that reads
    several is written several times.
    """
    if configuration == ENDED:
        return 0
    parse_state, state = states_of(grammar, configuration)
    n = 0
    is_read = not is_start(store, state)
    if not is_read and with_expected == 0:
        return n
    for at in scans_of(grammar, row_of(grammar, parse_state)):
        scan = grammar.row_entries[at]
        if token_set_of(store, scan.symbol) >= 0 or (is_read and not _has_lexeme(store, state, scan.symbol)):
            continue
        if n < data.shape[0]:
            data[n] = grammar.state_rules[grammar.edges[scan.edge].target]
        n += 1
    return n


@kernel
def close_lexeme(store, grammar, configuration):
    """The configuration where the lexemes in hand have ended, or REFUSED where none may end."""
    parse_state, scanned = grammar.configurations[configuration].parse_state, ending(store, grammar, configuration)
    if scanned == 0:
        return REFUSED
    parse_state = goto(store, grammar, parse_state, scanned)
    if parse_state < 0:
        return REFUSED
    return configuration_of(store, grammar, pack(parse_state, start_after(store, grammar, parse_state, scanned)))
