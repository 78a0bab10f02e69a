"""About how much has to be written still: the estimate that searches for an end go by (finish_paths.py).

    cost of a rule's state   the least until its run ends, over edges: the shortest string of a lexeme, the cost of a
                             rule that is called
    context (row, rule)      the least behind a run of the rule that began in the row: what its callers need, and theirs
    cost of a configuration  of one of its lexemes the rest, the state behind it and the context of that

Costs are in parts of BYTE_DISTANCE a byte, as those of regular expressions (regex_nodes.py). Of guards only those count
that ask for more (a count that is too low, members that are missing). Where a run lacks k, the cost is that of a path
which adds one, and for each other the weight of the rule, more than writing it takes, so that it is worth beginning:

    "[" item ("," item)* "]" with three items    behind the first  , item ]  and one weight; behind the second  , item ]

Which of named members is missing is not looked at: there all k count with their weights. This is an estimate and no
bound: a value that must not repeat, or a late rule that is not written yet, may take more. Whoever goes by it follows
real steps.

In: a grammar's rules and rows, a configuration. Out: costs. Cost: 20 ns an edge, a few times; 50 ns a call waiting in a
row; then 20 ns a lexeme in hand.
"""

from __future__ import annotations

from .earley_items import CALL_AGAIN, CALL_NEW, SCAN, SKIP, SKIP_LATE
from .earley_rows import ACCEPTS, FIRST_ROW, R_FLAGS, R_N_SCANS, R_N_WAITS, R_SCANS, R_WAITS, row_field
from .grammar_slots import (
    EDGE_FIRST,
    EDGES,
    GUARDS,
    IGNORED,
    LEXEME_COSTS,
    N_COSTED,
    N_RTN_STATES,
    N_RULES,
    OUTER_COSTS,
    OUTER_COSTS_OF_ROWS,
    ROW_POOL,
    RULE_STARTS,
    RULE_WEIGHTS,
    SETS,
    START_RULE,
    STATE_COSTS,
    STATE_FINALS,
    STATE_RULES,
    VARIANTS,
)
from .guards import ADD, CHECK, COUNT, GUARD_FIELDS, behind, n_missing
from .interning import MISSING, list_item, list_length, list_offset, map_change, map_get
from .jit import kernel, never_inline
from .lexer_states import ANONYMOUS, is_start
from .memory import block, ensure, get_i32, put_i32
from .node_table import BYTE_DISTANCE, DISTANCE, K_TOKENS, KIND, field, pop, push
from .records import row_of
from .store_slots import LEXEME_SETS, LEXEMES, SCRATCH_TOP, STATE_KEYS
from .variants import SIZE, late_key

COST_FIELDS = 6
PLAIN = 0  # without a guard that asks for more
GUARDED = 1  # with such guards, as if they were fulfilled
GUARD = 2  # the first of these
ADDING = 3  # the same over an edge that adds something before
ADDING_GUARD = 4
ADDS_MEMBER = 5  # 1: that edge adds a named member

NO_END = 2**30  # cost of what has no end that is known
LEAST_WEIGHT = 256 * BYTE_DISTANCE
LATE_COST = 8 * BYTE_DISTANCE  # of a state that is not written yet
MOST_PASSES = 8  # rules that ask for more, one inside the other
MOST_SWEEPS = 100


@kernel
def _sum(one, two):
    return min(one + two, NO_END)


@kernel
def _state_cost(grammar, state, name):
    return get_i32(block(grammar, STATE_COSTS), state * COST_FIELDS + name)


@kernel
def _asks_for_more(grammar, guard):
    """Whether a run may get to a guard and have too little for it."""
    if guard == 0:
        return False
    at = guard * GUARD_FIELDS
    guards = block(grammar, GUARDS)
    kind = get_i32(guards, at)
    return (kind == COUNT and get_i32(guards, at + 1) > 0) or (
        kind == CHECK and (get_i32(guards, at + 1) > 0 or get_i32(guards, at + 3) != 0)
    )


@kernel
def _n_lacking(grammar, guard, parameter):
    """How many more a guard asks for."""
    at = guard * GUARD_FIELDS
    guards = block(grammar, GUARDS)
    low = get_i32(guards, at + 1)
    if get_i32(guards, at) == COUNT:
        return max(0, low - parameter)
    return max(low - list_item(grammar, SETS, parameter, SIZE), n_missing(grammar, parameter, get_i32(guards, at + 3)))


@kernel
def _cost_at(grammar, state, parameter, n_new):
    """Cost of ending a run from a state of its rule; `n_new` more are in its set than the parameter says."""
    cost = _state_cost(grammar, state, PLAIN)
    guarded = _state_cost(grammar, state, GUARDED)
    if guarded >= NO_END:
        return cost
    lacking = _n_lacking(grammar, _state_cost(grammar, state, GUARD), parameter) - n_new
    if lacking <= 0:
        return min(cost, guarded)
    weight = get_i32(block(grammar, RULE_WEIGHTS), get_i32(block(grammar, STATE_RULES), state))
    adding = _state_cost(grammar, state, ADDING)
    if adding >= NO_END:
        return min(cost, _sum(guarded, weight * lacking))
    lacking = max(1, _n_lacking(grammar, _state_cost(grammar, state, ADDING_GUARD), parameter) - n_new)
    return min(cost, _sum(adding, weight * (lacking - 1 + _state_cost(grammar, state, ADDS_MEMBER))))


@kernel
def _edge_cost(store, grammar, edge):
    """Cost of the lexeme or rule of an edge."""
    edges = block(grammar, EDGES)
    kind = get_i32(edges, 4 * edge)
    symbol = get_i32(edges, 4 * edge + 1)
    if kind == SKIP or kind == SKIP_LATE:
        return 0
    if kind != SCAN:
        return _cost_at(grammar, get_i32(block(grammar, RULE_STARTS), symbol), 0, 0)
    node = get_i32(block(store, LEXEMES), symbol)
    return BYTE_DISTANCE if field(store, node, KIND) == K_TOKENS else max(BYTE_DISTANCE, field(store, node, DISTANCE))


@kernel
def _lower(grammar, state, name, cost):
    """Put a cost that is less than the one known; whether it is."""
    at = state * COST_FIELDS + name
    costs = block(grammar, STATE_COSTS)
    if cost >= get_i32(costs, at):
        return False
    put_i32(costs, at, cost)
    return True


@kernel
def _lower_guarded(grammar, state, cost, guard):
    if not _lower(grammar, state, GUARDED, cost):
        return False
    put_i32(block(grammar, STATE_COSTS), state * COST_FIELDS + GUARD, guard)
    return True


@kernel
def _lower_adding(grammar, state, cost, guard, adds_member):
    if not _lower(grammar, state, ADDING, cost):
        return False
    costs = block(grammar, STATE_COSTS)
    put_i32(costs, state * COST_FIELDS + ADDING_GUARD, guard)
    put_i32(costs, state * COST_FIELDS + ADDS_MEMBER, adds_member)
    return True


@kernel
def _adds(grammar, kind, guard):
    """Whether an edge adds to what the run's guards ask for."""
    at = guard * GUARD_FIELDS
    guards = block(grammar, GUARDS)
    if get_i32(guards, at) == COUNT:
        return get_i32(guards, at + 3) > 0 or (kind >= CALL_NEW and kind != CALL_AGAIN)
    return get_i32(guards, at) == ADD or (kind >= CALL_NEW and kind != CALL_AGAIN)


@kernel
def _look_at_edges(store, grammar, state):
    """Lower the costs of a state by what its edges lead to; whether one changed."""
    changed = False
    final = get_i32(block(grammar, STATE_FINALS), state)
    if final != 0:
        if _asks_for_more(grammar, final - 1):
            changed = _lower_guarded(grammar, state, 0, final - 1)
        else:
            changed = _lower(grammar, state, PLAIN, 0)
    for edge in range(get_i32(block(grammar, EDGE_FIRST), state), get_i32(block(grammar, EDGE_FIRST), state + 1)):
        cost = _edge_cost(store, grammar, edge)
        if cost >= NO_END:
            continue
        edges = block(grammar, EDGES)
        target = get_i32(edges, 4 * edge + 2)
        guard = get_i32(edges, 4 * edge + 3)
        if get_i32(edges, 4 * edge) == SKIP_LATE:
            guard = 0
            target = map_get(grammar, VARIANTS, late_key(get_i32(edges, 4 * edge + 1)))
            if target < 0:
                changed = _lower(grammar, state, PLAIN, LATE_COST) or changed
                continue
        plain = _state_cost(grammar, target, PLAIN)
        guarded = _state_cost(grammar, target, GUARDED)
        if _asks_for_more(grammar, guard):
            changed = _lower_guarded(grammar, state, _sum(cost, min(plain, guarded)), guard) or changed
        else:
            changed = _lower(grammar, state, PLAIN, _sum(cost, plain)) or changed
            next_guard = _state_cost(grammar, target, GUARD)
            changed = _lower_guarded(grammar, state, _sum(cost, guarded), next_guard) or changed
            if _adds(grammar, get_i32(block(grammar, EDGES), 4 * edge), guard):
                adds_member = 1 if get_i32(block(grammar, GUARDS), guard * GUARD_FIELDS) == ADD else 0
                changed = _lower_adding(grammar, state, _sum(cost, guarded), next_guard, adds_member) or changed
            next_guard = _state_cost(grammar, target, ADDING_GUARD)
            adds_member = _state_cost(grammar, target, ADDS_MEMBER)
            adding = _sum(cost, _state_cost(grammar, target, ADDING))
            changed = _lower_adding(grammar, state, adding, next_guard, adds_member) or changed
    return changed


@kernel
def _weigh(store, grammar, first_state, end_state):
    """Set the weights of rules to more than writing two of their parts takes; whether one changed."""
    never_inline()
    changed = False
    for state in range(first_state, end_state):
        rule = get_i32(block(grammar, STATE_RULES), state)
        for edge in range(get_i32(block(grammar, EDGE_FIRST), state), get_i32(block(grammar, EDGE_FIRST), state + 1)):
            cost = _edge_cost(store, grammar, edge)
            weight = min(LEAST_WEIGHT + 2 * cost, NO_END // 2)
            if cost < NO_END and weight > get_i32(block(grammar, RULE_WEIGHTS), rule):
                put_i32(block(grammar, RULE_WEIGHTS), rule, weight)
                changed = True
    return changed


@kernel
def _cost_states(store, grammar):
    """Find the costs of the states that have none yet: of all, or of rules that were loaded later."""
    never_inline()
    first = grammar[N_COSTED]
    end = grammar[N_RTN_STATES]
    if first == end:
        return
    costs = ensure(grammar, STATE_COSTS, end * COST_FIELDS * 4)
    ensure(grammar, RULE_WEIGHTS, grammar[N_RULES] * 4)
    for _ in range(MOST_PASSES):
        for i in range(first, end):
            put_i32(costs, i * COST_FIELDS + PLAIN, NO_END)
            put_i32(costs, i * COST_FIELDS + GUARDED, NO_END)
            put_i32(costs, i * COST_FIELDS + ADDING, NO_END)
        changed = True
        n_sweeps = 0
        while changed and n_sweeps < MOST_SWEEPS:
            changed = False
            for i in range(end - first):
                state = end - 1 - i if n_sweeps & 1 == 0 else first + i
                if _look_at_edges(store, grammar, state):
                    changed = True
            n_sweeps += 1
        if not _weigh(store, grammar, first, end):
            break
    grammar[N_COSTED] = end


@kernel
def _cost_behind(grammar, edge, parameter):
    """Cost of ending the run that takes an edge, from behind the edge."""
    edges = block(grammar, EDGES)
    kind = get_i32(edges, 4 * edge)
    target = get_i32(edges, 4 * edge + 2)
    if kind >= CALL_NEW:
        return _cost_at(grammar, target, parameter, 0 if kind == CALL_AGAIN else 1)
    return _cost_at(grammar, target, behind(grammar, get_i32(edges, 4 * edge + 3), parameter), 0)


@kernel
def _rule_of_edge(grammar, edge):
    return get_i32(block(grammar, STATE_RULES), get_i32(block(grammar, EDGES), 4 * edge + 2))


@kernel
def _context(grammar, row, rule):
    """Cost of all that follows a run that began in a row whose contexts are found."""
    known = map_get(grammar, OUTER_COSTS, (row << 32) | rule)
    return NO_END if known == MISSING else known


@kernel
def _is_open(grammar, row):
    """Whether the contexts of a row are still to be found."""
    return get_i32(ensure(grammar, OUTER_COSTS_OF_ROWS, (row + 1) * 4), row) == 0


@kernel
def _find_contexts(store, grammar, row):
    """Find the contexts of a row, those of the rows where its runs began before."""
    never_inline()
    bottom = store[SCRATCH_TOP]
    push(store, row)
    while store[SCRATCH_TOP] > bottom:
        here = pop(store)
        if not _is_open(grammar, here):
            continue
        push(store, here)
        top = store[SCRATCH_TOP]
        first = row_field(grammar, here, R_WAITS)
        for i in range(row_field(grammar, here, R_N_WAITS)):
            origin = get_i32(block(grammar, ROW_POOL), first + 4 * i + 3)
            if origin != here and _is_open(grammar, origin):
                push(store, origin)
        if store[SCRATCH_TOP] == top:
            pop(store)
            _contexts_of_row(grammar, here)


@kernel
def _contexts_of_row(grammar, row):
    """Relax the contexts of a row until none falls: calls of calls within the row."""
    never_inline()
    if row == FIRST_ROW:
        map_change(grammar, OUTER_COSTS, (row << 32) | grammar[START_RULE], 0)
    first = row_field(grammar, row, R_WAITS)
    changed = True
    while changed:
        changed = False
        for i in range(row_field(grammar, row, R_N_WAITS)):
            at = first + 4 * i
            pool = block(grammar, ROW_POOL)
            rule = get_i32(pool, at)
            edge = get_i32(pool, at + 1)
            outer = _context(grammar, get_i32(pool, at + 3), _rule_of_edge(grammar, edge))
            if rule < 0 or outer >= NO_END:
                continue
            cost = _sum(outer, _cost_behind(grammar, edge, get_i32(pool, at + 2)))
            if cost < _context(grammar, row, rule):
                map_change(grammar, OUTER_COSTS, (row << 32) | rule, cost)
                changed = True
    put_i32(block(grammar, OUTER_COSTS_OF_ROWS), row, 1)


@kernel
def _cost_lexemes(store, grammar, row):
    """Find the cost behind each lexeme that a row scans; under ANONYMOUS that of the row itself."""
    never_inline()
    _cost_states(store, grammar)
    _find_contexts(store, grammar, row)
    least = 0 if row_field(grammar, row, R_FLAGS) & ACCEPTS != 0 else NO_END
    first = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        at = first + 4 * i
        pool = block(grammar, ROW_POOL)
        lexeme = get_i32(pool, at)
        edge = get_i32(pool, at + 1)
        origin = get_i32(pool, at + 3)
        cost = _cost_behind(grammar, edge, get_i32(pool, at + 2))
        if origin != row:
            _find_contexts(store, grammar, origin)
        cost = _sum(cost, _context(grammar, origin, _rule_of_edge(grammar, edge)))
        key = (row << 32) | lexeme
        known = map_get(grammar, LEXEME_COSTS, key)
        if known == MISSING or cost < known:
            map_change(grammar, LEXEME_COSTS, key, cost)
        least = min(least, _sum(cost, _edge_cost(store, grammar, edge)))
    map_change(grammar, LEXEME_COSTS, (row << 32) | ANONYMOUS, least)


@kernel
def _cost_of_row(store, grammar, row):
    key = (row << 32) | ANONYMOUS
    known = map_get(grammar, LEXEME_COSTS, key)
    if known == MISSING:
        _cost_lexemes(store, grammar, row)
        known = map_get(grammar, LEXEME_COSTS, key)
    return known


@kernel
def estimate(store, grammar, place, state):
    """Cost of what has to be written still from a place and a lexer state; 0 where it may end."""
    row = row_of(grammar, place)
    of_row = _cost_of_row(store, grammar, row)
    if is_start(store, state):
        return of_row
    ignored = list_item(store, LEXEME_SETS, grammar[IGNORED], 0) if grammar[IGNORED] != 0 else ANONYMOUS
    least = NO_END
    for i in range(0, list_length(store, STATE_KEYS, state) & -2, 2):
        at = list_offset(store, STATE_KEYS, state) + i
        lexeme = get_i32(block(store, STATE_KEYS + 1), at)
        rest = field(store, get_i32(block(store, STATE_KEYS + 1), at + 1), DISTANCE)
        if lexeme == ignored:
            least = min(least, _sum(rest, of_row))
        known = map_get(grammar, LEXEME_COSTS, (row << 32) | lexeme)
        if known != MISSING:
            least = min(least, _sum(rest, known))
    return least
