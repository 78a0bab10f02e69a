"""Rules of a grammar as flat tables: edges grouped by state, with everything that derives nothing taken out.

A rule is productive when some string is derived from it. An edge over an empty lexeme, a call of an unproductive
rule, and an edge into a state from which no final state can be reached are left out, so the parser never enters a
dead end. Guards are not looked at: with them nothing may become a dead end (llmask/grammar/rules.py).

In: the columns of `Rules`. Out: slots RULE_STARTS to REQUIRED of a grammar's table.
Cost: linear in the edges; nullable rules in rounds, as many as nullable rules nest.
"""

from __future__ import annotations

from ..lexer.states import lexeme_of, single_set
from ..machine.jit import kernel, never_inline
from ..regex.constructors import make_not
from ..regex.emptiness import is_empty
from ..regex.nodes import EPSILON, NULLABLE, has_flag, push, scratch
from ..regex.set_operations import make_and
from ..tables.grammar_layout import (
    EDGE_FIRST,
    EDGE_KINDS,
    EDGES,
    FIRST_OF_KIND,
    GUARDS,
    HAS_CHAINS,
    HAS_PRIORITIES,
    IGNORED,
    IGNORED_AT_ENDS,
    IGNORED_PRIORITY,
    IGNORED_REPEATS,
    IS_JSON,
    LIKE_EDGES,
    N_EDGES,
    N_GUARDS,
    N_REQUIRED,
    N_RTN_STATES,
    N_RULES,
    PRIORITIES,
    REQUIRED,
    RULE_FLAGS,
    RULE_STARTS,
    START_RULE,
    STATE_FINALS,
    STATE_RULES,
)
from ..tables.interning import intern_list
from ..tables.memory import EXCEEDED, block, ensure, get_i32, put_i32, spend
from ..tables.store_layout import SCRATCH, SCRATCH_TOP
from ..values.variants import CHAINED, PRODUCTIVE, RULE_NULLABLE, is_productive
from .guards import GUARD_FIELDS, behind, passes
from .items import CALL, CALL_NEW, SCAN, SKIP, SKIP_LATE
from .token_terminals import note_token_sets

NOTHING_DERIVED = -3
WRONG_LENGTH = -4
EDGE = 5  # state, kind, symbol, next state, guard: as frontends write them


@kernel
def load_rules(store, grammar, data):
    """Load the rules of a grammar, or those that were written behind the ones loaded already.

    `data`: start rule, ignored node or -1, ignored_at_ends, values_are_json, ignored_repeats, ignored_priority, then of
    the new part n_rules, n_states, n_edges, n_finals, n_guards, n_required, n_priorities, n_chained, and its columns.
    New edges lead from new states only. The counts in the table are written last: after a limit the same part can be
    loaded again. Later parts have priorities only where the first one has, or one of what is ignored.

    Returns 0, NOTHING_DERIVED when the start rule derives no string, or WRONG_LENGTH when `data` is not of that form.
    """
    never_inline()
    first_rule = grammar[N_RULES]
    first_state = grammar[N_RTN_STATES]
    n_rules = data[6]
    n_states = data[7]
    n_edges = data[8]
    n_finals = data[9]
    n_guards = data[10]
    n_required = data[11]
    n_priorities = data[12]
    n_chained = data[13]
    rule_starts = 14
    state_rules = rule_starts + n_rules
    edges = state_rules + n_states
    finals = edges + EDGE * n_edges
    guards = finals + 2 * n_finals
    required = guards + GUARD_FIELDS * n_guards
    priorities = required + n_required
    chained = priorities + 3 * n_priorities
    if data.shape[0] != chained + n_chained:
        return WRONG_LENGTH
    if first_rule == 0:
        grammar[START_RULE] = data[0]
        grammar[IGNORED] = 0
        if data[1] >= 0:
            grammar[IGNORED] = single_set(store, lexeme_of(store, data[1]))
        grammar[IGNORED_AT_ENDS] = data[2]
        grammar[IS_JSON] = data[3]
        grammar[IGNORED_REPEATS] = data[4]
        grammar[IGNORED_PRIORITY] = data[5]
        grammar[HAS_PRIORITIES] = 1 if n_priorities > 0 or data[5] != 0 else 0
    spend(grammar, 6 * n_edges + 2 * n_states)
    _copy(grammar, RULE_STARTS, first_rule, data, rule_starts, n_rules)
    _copy(grammar, STATE_RULES, first_state, data, state_rules, n_states)
    _copy(grammar, GUARDS, GUARD_FIELDS * grammar[N_GUARDS], data, guards, GUARD_FIELDS * n_guards)
    _copy(grammar, REQUIRED, grammar[N_REQUIRED], data, required, n_required)
    state_finals = ensure(grammar, STATE_FINALS, (first_state + n_states) * 4)
    for i in range(n_finals):
        put_i32(state_finals, data[finals + 2 * i], data[finals + 2 * i + 1] + 1)
    rule_flags = ensure(grammar, RULE_FLAGS, (first_rule + n_rules) * 4)
    for rule in range(first_rule, first_rule + n_rules):
        put_i32(rule_flags, rule, 0)
    live = store[SCRATCH_TOP]  # one item a new state: whether a final state can be reached
    for state in range(first_state, first_state + n_states):
        push(store, 1 if get_i32(state_finals, state) != 0 else 0)
    usable = store[SCRATCH_TOP]  # one item an edge: the lexeme, the rule, or -1 for an edge over nothing
    for i in range(n_edges):
        symbol = data[edges + EDGE * i + 2]
        if data[edges + EDGE * i + 1] == SCAN:
            symbol = -1 if _matches_nothing(store, symbol) else lexeme_of(store, symbol)
        push(store, symbol)
    _find_live(store, grammar, data, edges, n_edges, n_states, n_rules, live, usable)
    if first_rule == 0 and not is_productive(grammar, grammar[START_RULE]):
        return NOTHING_DERIVED
    n_grouped = _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable)
    if grammar[HAS_PRIORITIES] != 0:
        _put_priorities(store, grammar, data, n_grouped, usable, priorities, n_priorities)
    store[SCRATCH_TOP] = live
    _find_nullable(store, grammar, n_rules)
    for i in range(chained, chained + n_chained):
        put_i32(rule_flags, data[i], get_i32(rule_flags, data[i]) | CHAINED)
    if grammar[N_RULES] == 0 and n_chained > 0:
        grammar[HAS_CHAINS] = 1
    if grammar[HAS_CHAINS] != 0:
        _find_like_edges(store, grammar, n_grouped)
    if grammar[EXCEEDED] == 0 and store[EXCEEDED] == 0:
        grammar[N_RULES] = first_rule + n_rules
        grammar[N_RTN_STATES] = first_state + n_states
        grammar[N_EDGES] += n_grouped
        note_token_sets(store, grammar, grammar[N_EDGES] - n_grouped)
        grammar[N_GUARDS] += n_guards
        grammar[N_REQUIRED] += n_required
    return 0


@kernel
def _is_call(kind):
    return kind != SCAN and kind != SKIP and kind != SKIP_LATE


@kernel
def _copy(grammar, slot, place, data, first, n):
    never_inline()
    address = ensure(grammar, slot, (place + n + 1) * 4)
    for i in range(n):
        put_i32(address, place + i, data[first + i])


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
def _find_live(store, grammar, data, edges, n_edges, n_states, n_rules, live, usable):
    """States that reach a final state and rules that derive something, each followed up once when it is found.

    (Rounds over all edges until nothing changed took 2 s for an object with 20,000 required properties.)
    """
    never_inline()
    rule_starts = block(grammar, RULE_STARTS)
    state_rules = block(grammar, STATE_RULES)
    rule_flags = block(grammar, RULE_FLAGS)
    first_state = grammar[N_RTN_STATES]
    first_rule = grammar[N_RULES]
    # lists of edges + 1, by the state they lead to and by the rule they call; new states and rules from 0
    into = store[SCRATCH_TOP]
    calling = into + n_states
    next_into = calling + n_rules
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
        if data[at + 1] == SKIP_LATE:  # who writes such an edge has seen to it
            put_i32(items, live + data[at] - first_state, 1)
        target = data[at + 3] - first_state
        put_i32(items, next_into + i, get_i32(items, into + target))
        put_i32(items, into + target, i + 1)
        if _is_call(data[at + 1]) and symbol >= first_rule:
            put_i32(items, next_calling + i, get_i32(items, calling + symbol - first_rule))
            put_i32(items, calling + symbol - first_rule, i + 1)
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
            from_state = data[at] - first_state
            is_closed = _is_call(data[at + 1]) and not is_productive(grammar, get_i32(items, usable + edge))
            if not is_closed and get_i32(items, live + from_state) == 0:
                put_i32(items, live + from_state, 1)
                put_i32(items, top, from_state)
                top += 1
            edge = get_i32(items, next_into + edge) - 1
        rule = get_i32(state_rules, first_state + state)
        if get_i32(rule_starts, rule) != first_state + state:
            continue
        put_i32(rule_flags, rule, PRODUCTIVE)
        edge = get_i32(items, calling + rule - first_rule) - 1
        while edge >= 0:
            at = edges + EDGE * edge
            from_state = data[at] - first_state
            if get_i32(items, live + data[at + 3] - first_state) != 0 and get_i32(items, live + from_state) == 0:
                put_i32(items, live + from_state, 1)
                put_i32(items, top, from_state)
                top += 1
            edge = get_i32(items, next_calling + edge) - 1


@kernel
def _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable):
    """Counting sort of the useful edges by their state; returns how many they are."""
    never_inline()
    first_state = grammar[N_RTN_STATES]
    first = ensure(grammar, EDGE_FIRST, (first_state + n_states + 2) * 4)
    put_i32(first, first_state, grammar[N_EDGES])
    put_i32(first, first_state + 1, grammar[N_EDGES])
    for state in range(first_state, first_state + n_states):
        put_i32(first, state + 2, 0)
    for i in range(n_edges):
        at = edges + EDGE * i
        kind = data[at + 1]
        symbol = scratch(store, usable + i)
        useful = scratch(store, live + data[at + 3] - first_state) != 0
        if kind == SCAN and symbol < 0:
            useful = False
        if _is_call(kind) and not is_productive(grammar, symbol):
            useful = False
        if useful:
            put_i32(first, data[at] + 2, get_i32(first, data[at] + 2) + 1)
        else:
            put_i32(block(store, SCRATCH), usable + i, -2)
    for state in range(first_state, first_state + n_states):
        put_i32(first, state + 2, get_i32(first, state + 2) + get_i32(first, state + 1))
    grouped = ensure(grammar, EDGES, (grammar[N_EDGES] + n_edges + 1) * 16)
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
        put_i32(block(store, SCRATCH), usable + i, place)
    return get_i32(first, first_state + n_states) - grammar[N_EDGES]


@kernel
def _put_priorities(store, grammar, data, n_edges, places, first, n_priorities):
    """Write priorities (twice, and 1 for bare edges) under the edges' new numbers, the scratch items from `places`."""
    never_inline()
    first_edge = grammar[N_EDGES]
    address = ensure(grammar, PRIORITIES, (first_edge + n_edges + 1) * 4)
    for i in range(first_edge, first_edge + n_edges):
        put_i32(address, i, 0)
    for i in range(first, first + 3 * n_priorities, 3):
        place = scratch(store, places + data[i])
        if place >= 0:
            put_i32(address, place, 2 * data[i + 1] + data[i + 2])


@kernel
def _find_like_edges(store, grammar, n_edges):
    """For each new edge find the first one over the same lexeme or rule with the same priority."""
    never_inline()
    first_edge = grammar[N_EDGES]
    like = ensure(grammar, LIKE_EDGES, (first_edge + n_edges + 1) * 4)
    edges = block(grammar, EDGES)
    for edge in range(first_edge, first_edge + n_edges):
        bottom = store[SCRATCH_TOP]
        push(store, get_i32(edges, 4 * edge))
        push(store, get_i32(edges, 4 * edge + 1))
        push(store, get_i32(block(grammar, PRIORITIES), edge) if grammar[HAS_PRIORITIES] != 0 else 0)
        known = grammar[EDGE_KINDS + 3]
        number = intern_list(grammar, EDGE_KINDS, block(store, SCRATCH), bottom, 3)
        store[SCRATCH_TOP] = bottom
        first = ensure(grammar, FIRST_OF_KIND, (number + 1) * 4)
        if number == known:
            put_i32(first, number, edge)
        put_i32(like, edge, get_i32(first, number))


@kernel
def _find_nullable(store, grammar, n_rules):
    """Fixed point: new rules that derive the empty string, their parameters followed exactly from 0."""
    never_inline()
    edge_first = block(grammar, EDGE_FIRST)
    edges = block(grammar, EDGES)
    finals = block(grammar, STATE_FINALS)
    rule_flags = block(grammar, RULE_FLAGS)
    first_rule = grammar[N_RULES]
    bottom = store[SCRATCH_TOP]
    changed = True
    while changed and grammar[EXCEEDED] == 0:
        changed = False
        spend(grammar, n_rules >> 3)
        for rule in range(first_rule, first_rule + n_rules):
            if get_i32(rule_flags, rule) & (RULE_NULLABLE | PRODUCTIVE) != PRODUCTIVE:
                continue
            push(store, get_i32(block(grammar, RULE_STARTS), rule))
            push(store, 0)
            position = bottom
            while position < store[SCRATCH_TOP]:
                state = scratch(store, position)
                parameter = scratch(store, position + 1)
                position += 2
                spend(grammar, 1 + ((store[SCRATCH_TOP] - bottom) >> 4))
                guard = get_i32(finals, state)
                if guard != 0 and passes(grammar, guard - 1, parameter):
                    put_i32(rule_flags, rule, get_i32(rule_flags, rule) | RULE_NULLABLE)
                    changed = True
                    break
                for edge in range(get_i32(edge_first, state), get_i32(edge_first, state + 1)):
                    kind = get_i32(edges, 4 * edge)
                    if kind == SCAN or kind >= CALL_NEW:
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
