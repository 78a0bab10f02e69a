"""Rules of a grammar as flat tables: edges grouped by state, with everything that derives nothing taken out.

A rule is productive when some string is derived from it. An edge over an empty lexeme, a call of an unproductive
rule, and an edge into a state from which no final state can be reached are left out, so the parser never enters a
dead end. Guards are not looked at: with them nothing may become a dead end (llmask/grammar/rules.py).

In: the columns of `Rules`. Out: slots RULE_STARTS to REQUIRED of a grammar's table.
Cost: linear in the edges; nullable rules in rounds, as many as nullable rules nest.
"""

from __future__ import annotations

from .derivatives import is_empty
from .earley_items import CALL, PRODUCTIVE, RULE_NULLABLE, SCAN
from .grammar_slots import (
    EDGE_FIRST,
    EDGES,
    GUARDS,
    IGNORED,
    IGNORED_AT_ENDS,
    N_RTN_STATES,
    N_RULES,
    REQUIRED,
    RULE_FLAGS,
    RULE_STARTS,
    START_RULE,
    STATE_FINALS,
    STATE_RULES,
)
from .guards import GUARD_FIELDS, behind, init_sets, passes
from .jit import kernel, never_inline
from .lexer_states import lexeme_of, single_set
from .memory import block, ensure, get_i32, put_i32
from .node_table import EPSILON, NULLABLE, has_flag, push, scratch
from .regex_nodes import make_not
from .set_operations import make_and
from .store_slots import SCRATCH, SCRATCH_TOP

NOTHING_DERIVED = -3
EDGE = 5  # state, kind, symbol, next state, guard: as frontends write them


@kernel
def load_rules(store, grammar, start_rule, ignored, ignored_at_ends, data):
    """Fill a grammar's tables. `data`: n_rules, n_states, n_edges, n_finals, n_guards, n_required, then the columns.

    Returns 0, or NOTHING_DERIVED when the start rule derives no string.
    """
    never_inline()
    n_rules = data[0]
    n_states = data[1]
    n_edges = data[2]
    n_finals = data[3]
    n_guards = data[4]
    rule_starts = 6
    state_rules = rule_starts + n_rules
    edges = state_rules + n_states
    finals = edges + EDGE * n_edges
    guards = finals + 2 * n_finals
    required = guards + GUARD_FIELDS * n_guards
    grammar[START_RULE] = start_rule
    grammar[IGNORED] = 0
    grammar[IGNORED_AT_ENDS] = ignored_at_ends
    if ignored >= 0:
        grammar[IGNORED] = single_set(store, lexeme_of(store, ignored))
    grammar[N_RULES] = n_rules
    grammar[N_RTN_STATES] = n_states
    _copy(grammar, RULE_STARTS, data, rule_starts, n_rules)
    _copy(grammar, STATE_RULES, data, state_rules, n_states)
    _copy(grammar, GUARDS, data, guards, GUARD_FIELDS * n_guards)
    _copy(grammar, REQUIRED, data, required, data[5])
    init_sets(grammar)
    state_finals = ensure(grammar, STATE_FINALS, n_states * 4)
    for i in range(n_finals):
        put_i32(state_finals, data[finals + 2 * i], data[finals + 2 * i + 1] + 1)
    rule_flags = ensure(grammar, RULE_FLAGS, n_rules * 4)
    live = store[SCRATCH_TOP]  # one item a state: whether a final state can be reached
    for state in range(n_states):
        push(store, 1 if get_i32(state_finals, state) != 0 else 0)
    usable = store[SCRATCH_TOP]  # one item an edge: the lexeme, the rule, or -1 for an edge over nothing
    for i in range(n_edges):
        symbol = data[edges + EDGE * i + 2]
        if data[edges + EDGE * i + 1] == SCAN:
            symbol = -1 if _matches_nothing(store, symbol) else lexeme_of(store, symbol)
        push(store, symbol)
    _find_live(store, grammar, data, edges, n_edges, live, usable, rule_flags)
    if get_i32(rule_flags, start_rule) & PRODUCTIVE == 0:
        return NOTHING_DERIVED
    _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable, rule_flags)
    store[SCRATCH_TOP] = live
    _find_nullable(store, grammar, n_rules, rule_flags)
    return 0


@kernel
def _copy(grammar, slot, data, first, n):
    never_inline()
    address = ensure(grammar, slot, (n + 1) * 4)
    for i in range(n):
        put_i32(address, i, data[first + i])


@kernel
def _matches_nothing(store, node):
    """Whether a lexeme has no string of at least one byte."""
    never_inline()
    if is_empty(store, node) or node == EPSILON:
        return True
    if not has_flag(store, node, NULLABLE):
        return False
    first = store[SCRATCH_TOP]
    push(store, node)
    push(store, make_not(store, EPSILON))
    return is_empty(store, make_and(store, first))


@kernel
def _find_live(store, grammar, data, edges, n_edges, live, usable, rule_flags):
    """States that reach a final state and rules that derive something, each followed up once when it is found.

    (Rounds over all edges until nothing changed took 2 s for an object with 20,000 required properties.)
    """
    never_inline()
    rule_starts = block(grammar, RULE_STARTS)
    state_rules = block(grammar, STATE_RULES)
    n_states = grammar[N_RTN_STATES]
    # lists of edges + 1, by the state they lead to and by the rule they call
    into = store[SCRATCH_TOP]
    calling = into + n_states
    next_into = calling + grammar[N_RULES]
    next_calling = next_into + n_edges
    bottom = next_calling + n_edges
    items = ensure(store, SCRATCH, (bottom + n_states) * 4)
    for i in range(into, next_into):
        put_i32(items, i, 0)
    for i in range(n_edges):
        at = edges + EDGE * i
        symbol = get_i32(items, usable + i)
        if data[at + 1] == SCAN and symbol < 0:
            continue
        put_i32(items, next_into + i, get_i32(items, into + data[at + 3]))
        put_i32(items, into + data[at + 3], i + 1)
        if data[at + 1] == CALL:
            put_i32(items, next_calling + i, get_i32(items, calling + symbol))
            put_i32(items, calling + symbol, i + 1)
    top = bottom
    for state in range(n_states):
        if get_i32(items, live + state) != 0:
            put_i32(items, top, state)
            top += 1
    while top > bottom:
        top -= 1
        state = get_i32(items, top)
        edge = get_i32(items, into + state) - 1
        while edge >= 0:
            at = edges + EDGE * edge
            is_closed = data[at + 1] == CALL and get_i32(rule_flags, get_i32(items, usable + edge)) & PRODUCTIVE == 0
            if not is_closed and get_i32(items, live + data[at]) == 0:
                put_i32(items, live + data[at], 1)
                put_i32(items, top, data[at])
                top += 1
            edge = get_i32(items, next_into + edge) - 1
        rule = get_i32(state_rules, state)
        if get_i32(rule_starts, rule) != state:
            continue
        put_i32(rule_flags, rule, PRODUCTIVE)
        edge = get_i32(items, calling + rule) - 1
        while edge >= 0:
            at = edges + EDGE * edge
            if get_i32(items, live + data[at + 3]) != 0 and get_i32(items, live + data[at]) == 0:
                put_i32(items, live + data[at], 1)
                put_i32(items, top, data[at])
                top += 1
            edge = get_i32(items, next_calling + edge) - 1


@kernel
def _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable, rule_flags):
    """Counting sort of the useful edges by their state."""
    never_inline()
    first = ensure(grammar, EDGE_FIRST, (n_states + 2) * 4)
    for i in range(n_edges):
        at = edges + EDGE * i
        kind = data[at + 1]
        symbol = scratch(store, usable + i)
        useful = scratch(store, live + data[at + 3]) != 0
        if kind == SCAN and symbol < 0:
            useful = False
        if kind == CALL and get_i32(rule_flags, symbol) & PRODUCTIVE == 0:
            useful = False
        if useful:
            put_i32(first, data[at] + 2, get_i32(first, data[at] + 2) + 1)
        else:
            put_i32(block(store, SCRATCH), usable + i, -2)
    for state in range(n_states):
        put_i32(first, state + 2, get_i32(first, state + 2) + get_i32(first, state + 1))
    grouped = ensure(grammar, EDGES, (n_edges + 1) * 16)
    for i in range(n_edges):
        symbol = scratch(store, usable + i)
        if symbol == -2:
            continue
        at = edges + EDGE * i
        place = get_i32(first, data[at] + 1)
        put_i32(first, data[at] + 1, place + 1)
        put_i32(grouped, 4 * place, data[at + 1])
        put_i32(grouped, 4 * place + 1, symbol)
        put_i32(grouped, 4 * place + 2, data[at + 3])
        put_i32(grouped, 4 * place + 3, data[at + 4])


@kernel
def _find_nullable(store, grammar, n_rules, rule_flags):
    """Fixed point: rules that derive the empty string, their parameters followed exactly from 0."""
    never_inline()
    edge_first = block(grammar, EDGE_FIRST)
    edges = block(grammar, EDGES)
    finals = block(grammar, STATE_FINALS)
    bottom = store[SCRATCH_TOP]
    changed = True
    while changed:
        changed = False
        for rule in range(n_rules):
            if get_i32(rule_flags, rule) & (RULE_NULLABLE | PRODUCTIVE) != PRODUCTIVE:
                continue
            push(store, get_i32(block(grammar, RULE_STARTS), rule))
            push(store, 0)
            position = bottom
            while position < store[SCRATCH_TOP]:
                state = scratch(store, position)
                parameter = scratch(store, position + 1)
                position += 2
                guard = get_i32(finals, state)
                if guard != 0 and passes(grammar, guard - 1, parameter):
                    put_i32(rule_flags, rule, get_i32(rule_flags, rule) | RULE_NULLABLE)
                    changed = True
                    break
                for edge in range(get_i32(edge_first, state), get_i32(edge_first, state + 1)):
                    kind = get_i32(edges, 4 * edge)
                    if kind == SCAN:
                        continue
                    if kind == CALL and get_i32(rule_flags, get_i32(edges, 4 * edge + 1)) & RULE_NULLABLE == 0:
                        continue
                    if not passes(grammar, get_i32(edges, 4 * edge + 3), parameter):
                        continue
                    after = behind(grammar, get_i32(edges, 4 * edge + 3), parameter)
                    seen = False
                    for i in range(bottom, store[SCRATCH_TOP], 2):
                        if scratch(store, i) == get_i32(edges, 4 * edge + 2) and scratch(store, i + 1) == after:
                            seen = True
                            break
                    if not seen:
                        push(store, get_i32(edges, 4 * edge + 2))
                        push(store, after)
            store[SCRATCH_TOP] = bottom
