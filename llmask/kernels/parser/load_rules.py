"""Rules of a grammar as flat tables: edges grouped by state, with everything that derives nothing taken out.

A rule is productive when some string is derived from it. An edge over an empty lexeme, a call of an unproductive
rule, and an edge into a state from which no final state can be reached are left out, so the parser never enters a
dead end. Guards are not looked at: with them nothing may become a dead end (llmask/grammar/rules.py).

In: the columns of `Rules`. Out: slots `rule_starts` to `required` of a grammar's table.
Cost: linear in the edges; nullable rules in rounds, as many as nullable rules nest.
"""

from ..lexer.states import lexeme_of, single_set
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..regex.constructors import make_not
from ..regex.emptiness import is_empty
from ..regex.nodes import Node, push
from ..regex.set_operations import intersection_of
from ..tables.interning import intern_list
from ..tables.kinds import EdgeKind, GuardKind
from ..tables.memory import has_stopped, reserve, spend
from ..values.called_rules import is_productive
from .guards import after_guard, passes
from .items import edges_of, may_end, takes_nothing
from .token_terminals import note_token_sets

NOTHING_DERIVED = -3
WRONG_LENGTH = -4
# what frontends write: the integers of an edge, a final state, a guard, a priority
EDGE_FIELDS, (SOURCE, KIND, SYMBOL, TARGET, GUARD) = 5, range(5)
FINAL_FIELDS, (FINAL_STATE, FINAL_GUARD) = 2, range(2)
GUARD_FIELDS, (GUARD_KIND, LOW, HIGH, ADD, CAP) = 5, range(5)
PRIORITY_FIELDS, (PRIORITY_EDGE, PRIORITY_VALUE, NO_SKIP) = 3, range(3)


class Header(Kind):
    """What comes before the columns of rules (store/generation.py)."""

    START_RULE = 0
    IGNORED = 1  # node, or -1
    IGNORED_AT_ENDS = 2
    VALUES_ARE_JSON = 3
    IGNORED_REPEATS = 4
    IGNORED_PRIORITY = 5
    N_RULES = 6
    N_STATES = 7
    N_EDGES = 8
    N_FINALS = 9
    N_GUARDS = 10
    N_REQUIRED = 11
    N_PRIORITIES = 12
    N_CHAINED = 13
    END = 14


@kernel
def load_rules(store, grammar, data):
    """Load the rules of a grammar, or rules that were written after these were loaded.

    `data` is a Header with the lengths of the new part, then its columns. New edges lead from new states only. The
    counts in the table are written last: after a limit the same part can be loaded again. Later parts have priorities
    only where the first one has, or one of what is ignored.

    Returns 0, NOTHING_DERIVED when the start rule derives no string, or WRONG_LENGTH when `data` is not of that form.
    """
    first_rule = grammar.n_rules
    first_state = grammar.n_rtn_states
    n_rules, n_states, n_edges = data[Header.N_RULES], data[Header.N_STATES], data[Header.N_EDGES]
    n_finals, n_guards, n_required = data[Header.N_FINALS], data[Header.N_GUARDS], data[Header.N_REQUIRED]
    n_priorities, n_chained = data[Header.N_PRIORITIES], data[Header.N_CHAINED]
    rule_starts = Header.END
    state_rules = rule_starts + n_rules
    edges = state_rules + n_states
    finals = edges + EDGE_FIELDS * n_edges
    guards = finals + FINAL_FIELDS * n_finals
    required = guards + GUARD_FIELDS * n_guards
    priorities = required + n_required
    chained = priorities + PRIORITY_FIELDS * n_priorities
    if data.shape[0] != chained + n_chained:
        return WRONG_LENGTH
    if first_rule == 0:
        grammar.start_rule = data[Header.START_RULE]
        grammar.ignored = 0
        if data[Header.IGNORED] >= 0:
            grammar.ignored = single_set(store, lexeme_of(store, data[Header.IGNORED]))
        grammar.ignored_at_ends = data[Header.IGNORED_AT_ENDS]
        grammar.is_json = data[Header.VALUES_ARE_JSON]
        grammar.ignored_repeats = data[Header.IGNORED_REPEATS]
        grammar.ignored_priority = data[Header.IGNORED_PRIORITY]
        grammar.has_priorities = 1 if n_priorities > 0 or grammar.ignored_priority != 0 else 0
    spend(grammar, 6 * n_edges + 2 * n_states)
    _copy(reserve(grammar.rule_starts, first_rule + n_rules + 1), first_rule, data, rule_starts, n_rules)
    _copy(reserve(grammar.state_rules, first_state + n_states + 1), first_state, data, state_rules, n_states)
    _copy_guards(grammar, data, guards, n_guards)
    members = reserve(grammar.required, grammar.n_required + n_required + 1)
    _copy(members, grammar.n_required, data, required, n_required)
    state_finals = reserve(grammar.state_finals, first_state + n_states)
    for at in range(finals, finals + FINAL_FIELDS * n_finals, FINAL_FIELDS):
        state_finals[data[at + FINAL_STATE]] = data[at + FINAL_GUARD] + 1
    rule_flags = reserve(grammar.rule_flags, first_rule + n_rules)
    for rule in range(first_rule, first_rule + n_rules):
        rule_flags[rule].flags = 0
    live = store.scratch_top  # one item a new state: whether a final state can be reached
    for state in range(first_state, first_state + n_states):
        push(store, 1 if state_finals[state] != 0 else 0)
    usable = store.scratch_top  # one item an edge: the lexeme, the rule, or -1 for an edge over nothing
    for i in range(n_edges):
        symbol = data[edges + EDGE_FIELDS * i + SYMBOL]
        if data[edges + EDGE_FIELDS * i + KIND] == EdgeKind.SCAN:
            symbol = -1 if _matches_nothing(store, symbol) else lexeme_of(store, symbol)
        push(store, symbol)
    _find_live(store, grammar, data, edges, n_edges, n_states, n_rules, live, usable)
    if first_rule == 0 and not is_productive(grammar, grammar.start_rule):
        return NOTHING_DERIVED
    n_grouped = _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable)
    if grammar.has_priorities != 0:
        _put_priorities(store, grammar, data, n_grouped, usable, priorities, n_priorities)
    store.scratch_top = live
    _find_nullable(store, grammar, n_rules)
    for i in range(chained, chained + n_chained):
        rule_flags[data[i]].is_chained = True
    if grammar.n_rules == 0 and n_chained > 0:
        grammar.has_chains = 1
    if grammar.has_chains != 0:
        _find_like_edges(store, grammar, n_grouped)
    if not has_stopped(store, grammar):
        grammar.n_rules = first_rule + n_rules
        grammar.n_rtn_states = first_state + n_states
        grammar.n_edges += n_grouped
        note_token_sets(store, grammar, grammar.n_edges - n_grouped)
        grammar.n_guards += n_guards
        grammar.n_required += n_required
    return 0


@inline
def _is_call(kind):
    return kind != EdgeKind.SCAN and kind != EdgeKind.SKIP and kind != EdgeKind.SKIP_LATE


@kernel
def _copy(items, start, data, first, n):
    for i in range(n):
        items[start + i] = data[first + i]


@inline
def _copy_guards(grammar, data, first, n):
    guards = reserve(grammar.guards, grammar.n_guards + n + 1)
    for i in range(n):
        guard = guards[grammar.n_guards + i]
        at = first + GUARD_FIELDS * i
        guard.kind = data[at + GUARD_KIND]
        if guard.kind == GuardKind.FOLLOW:
            grammar.follows = 1
        guard.low, guard.high = data[at + LOW], data[at + HIGH]
        guard.add, guard.cap = data[at + ADD], data[at + CAP]


@kernel
def _matches_nothing(store, node):
    """Whether a lexeme has no string of at least one byte."""
    if is_empty(store, node) or node == Node.EPSILON:
        return True
    if not store.nodes[node].nullable:
        return False
    return is_empty(store, intersection_of(store, node, make_not(store, Node.EPSILON)))


@kernel
def _find_live(store, grammar, data, edges, n_edges, n_states, n_rules, live, usable):
    """States that reach a final state and rules that derive something, each followed up once when it is found.

    (Rounds over all edges until nothing changed took 2 s for an object with 20,000 required properties.)
    """
    rule_starts = grammar.rule_starts
    state_rules = grammar.state_rules
    rule_flags = grammar.rule_flags
    first_state = grammar.n_rtn_states
    first_rule = grammar.n_rules
    # lists of edges + 1, by the state they lead to and by the rule they call; new states and rules from 0
    into = store.scratch_top
    calling = into + n_states
    next_into = calling + n_rules
    next_calling = next_into + n_edges
    bottom = next_calling + n_edges
    items = reserve(store.scratch, bottom + n_states)
    for i in range(into, next_into):
        items[i] = 0
    for i in range(n_edges):
        at = edges + EDGE_FIELDS * i
        symbol = items[usable + i]
        if data[at + KIND] == EdgeKind.SCAN and symbol < 0:
            continue
        if data[at + KIND] == EdgeKind.SKIP_LATE:  # who writes such an edge has seen to it
            items[live + data[at + SOURCE] - first_state] = 1
        target = data[at + TARGET] - first_state
        if target < 0:  # only skips lead to states that were there, and all of these lead on
            items[live + data[at + SOURCE] - first_state] = 1
            continue
        items[next_into + i] = items[into + target]
        items[into + target] = i + 1
        if _is_call(data[at + KIND]) and symbol >= first_rule:
            items[next_calling + i] = items[calling + symbol - first_rule]
            items[calling + symbol - first_rule] = i + 1
    top = bottom
    for state in range(n_states):
        if items[live + state] != 0:
            items[top] = state
            top += 1
    while top > bottom:
        top -= 1
        state = items[top]
        edge = items[into + state] - 1
        while edge >= 0:
            at = edges + EDGE_FIELDS * edge
            from_state = data[at + SOURCE] - first_state
            is_closed = _is_call(data[at + KIND]) and not is_productive(grammar, items[usable + edge])
            if not is_closed and items[live + from_state] == 0:
                items[live + from_state] = 1
                items[top] = from_state
                top += 1
            edge = items[next_into + edge] - 1
        rule = state_rules[first_state + state]
        if rule_starts[rule] != first_state + state:
            continue
        rule_flags[rule].is_productive = True
        edge = items[calling + rule - first_rule] - 1
        while edge >= 0:
            at = edges + EDGE_FIELDS * edge
            from_state = data[at + SOURCE] - first_state
            if items[live + data[at + TARGET] - first_state] != 0 and items[live + from_state] == 0:
                items[live + from_state] = 1
                items[top] = from_state
                top += 1
            edge = items[next_calling + edge] - 1


@kernel
def _group_edges(store, grammar, data, edges, n_edges, n_states, live, usable):
    """Counting sort of the useful edges by their state; returns how many they are."""
    first_state = grammar.n_rtn_states
    first = reserve(grammar.edge_first, first_state + n_states + 2)
    first[first_state] = grammar.n_edges
    first[first_state + 1] = grammar.n_edges
    for state in range(first_state, first_state + n_states):
        first[state + 2] = 0
    for i in range(n_edges):
        at = edges + EDGE_FIELDS * i
        kind = data[at + KIND]
        symbol = store.scratch[usable + i]
        target = data[at + TARGET] - first_state
        useful = target < 0 or store.scratch[live + target] != 0
        if kind == EdgeKind.SCAN and symbol < 0:
            useful = False
        if _is_call(kind) and not is_productive(grammar, symbol):
            useful = False
        if useful:
            first[data[at + SOURCE] + 2] += 1
            if kind >= EdgeKind.CALL_NEW and kind != EdgeKind.SKIP_LATE:
                grammar.tracks_values = 1
        else:
            store.scratch[usable + i] = -2
    for state in range(first_state, first_state + n_states):
        first[state + 2] += first[state + 1]
    grouped = reserve(grammar.edges, grammar.n_edges + n_edges + 1)
    for i in range(n_edges):
        symbol = store.scratch[usable + i]
        if symbol == -2:
            continue
        at = edges + EDGE_FIELDS * i
        number = first[data[at + SOURCE] + 1]
        first[data[at + SOURCE] + 1] = number + 1
        edge = grouped[number]
        edge.kind, edge.symbol = data[at + KIND], symbol
        edge.target, edge.guard = data[at + TARGET], data[at + GUARD]
        store.scratch[usable + i] = number
    return first[first_state + n_states] - grammar.n_edges


@kernel
def _put_priorities(store, grammar, data, n_edges, numbers, first, n_priorities):
    """Write priorities (twice, and 1 for no_skip edges) under the edges' new numbers, scratch items from `numbers`."""
    first_edge = grammar.n_edges
    address = reserve(grammar.priorities, first_edge + n_edges + 1)
    for i in range(first_edge, first_edge + n_edges):
        address[i] = 0
    for at in range(first, first + PRIORITY_FIELDS * n_priorities, PRIORITY_FIELDS):
        number = store.scratch[numbers + data[at + PRIORITY_EDGE]]
        if number >= 0:
            address[number] = 2 * data[at + PRIORITY_VALUE] + data[at + NO_SKIP]


@kernel
def _find_like_edges(store, grammar, n_edges):
    """For each new edge find the first one over the same lexeme or rule with the same priority."""
    first_edge = grammar.n_edges
    like = reserve(grammar.like_edges, first_edge + n_edges + 1)
    edges = grammar.edges
    for edge in range(first_edge, first_edge + n_edges):
        bottom = store.scratch_top
        push(store, edges[edge].kind)
        push(store, edges[edge].symbol)
        push(store, grammar.priorities[edge] if grammar.has_priorities != 0 else 0)
        known = grammar.edge_kinds.count
        number = intern_list(grammar.edge_kinds, store.scratch.address, bottom, 3)
        store.scratch_top = bottom
        first = reserve(grammar.first_of_kind, number + 1)
        if number == known:
            first[number] = edge
        like[edge] = first[number]


@kernel
def _find_nullable(store, grammar, n_rules):
    """Fixed point: new rules that derive the empty string, their parameters followed exactly from 0."""
    rule_flags = grammar.rule_flags
    first_rule = grammar.n_rules
    bottom = store.scratch_top
    changed = True
    while changed and grammar.exceeded == 0:
        changed = False
        spend(grammar, n_rules >> 3)
        for rule in range(first_rule, first_rule + n_rules):
            if rule_flags[rule].is_nullable or not rule_flags[rule].is_productive:
                continue
            push(store, grammar.rule_starts[rule])
            push(store, 0)
            position = bottom
            while position < store.scratch_top:
                state = store.scratch[position]
                parameter = store.scratch[position + 1]
                position += 2
                spend(grammar, 1 + ((store.scratch_top - bottom) >> 4))
                if may_end(grammar, state, parameter):
                    rule_flags[rule].is_nullable = True
                    changed = True
                    break
                for number in edges_of(grammar, state):
                    edge = grammar.edges[number]
                    if not takes_nothing(grammar, edge) or not passes(grammar, edge.guard, parameter):
                        continue
                    after = after_guard(grammar, edge.guard, parameter)
                    seen = False
                    for i in range(bottom, store.scratch_top, 2):
                        if store.scratch[i] == edge.target and store.scratch[i + 1] == after:
                            seen = True
                            break
                    if not seen:
                        push(store, edge.target)
                        push(store, after)
            store.scratch_top = bottom
