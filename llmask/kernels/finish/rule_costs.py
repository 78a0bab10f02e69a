"""What it takes at least to end a run of a rule from each of its states: part of the estimate of finish/estimates.py.

Over edges: the shortest string of a lexeme, the cost of a rule that is called. Costs are in parts of BYTE_DISTANCE a
byte, as those of regular expressions (regex/constructors.py). Of guards only those count that ask for more (a count
that is too low, members that are missing). Where a run lacks k, the cost is that of a path which adds one, and for each
other the weight of the rule, more than writing it takes, so that it is worth beginning:

    "[" item ("," item)* "]" with three items    behind the first  , item ]  and one weight; behind the second  , item ]

Members that are required by name have costs of their own: a run that lacks some has to get to where it can add one, and
to write each. Each such cost includes that of ending the run, which is paid only once: what is too much stands for the
comma before the key.

In: a grammar's rules. Out: costs. Cost: 20 ns an edge, a few times; 10 ns a missing member of a run.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..parser.guards import ADD, ANOTHER, CHECK, COUNT, GUARD_FIELDS, behind, missing_word, n_missing, n_required_words
from ..parser.items import CALL_AGAIN, CALL_NEW, SCAN, SKIP, SKIP_LATE
from ..regex.nodes import (
    BYTE_DISTANCE,
    DISTANCE,
    K_AND,
    K_CONCAT,
    K_DFA,
    K_NOT,
    K_REPEAT,
    K_TOKENS,
    K_UNION,
    KIND,
    LOW,
    A,
    B,
    field,
    pop,
    push,
    scratch,
)
from ..tables.grammar_layout import (
    EDGE_FIRST,
    EDGES,
    GUARDS,
    MEMBER_COSTS,
    N_COSTED,
    N_RTN_STATES,
    N_RULES,
    RULE_STARTS,
    RULE_WEIGHTS,
    SETS,
    STATE_COSTS,
    STATE_FINALS,
    STATE_RULES,
    VARIANTS,
)
from ..tables.interning import MISSING, list_item, list_length, map_change, map_get
from ..tables.memory import block, ensure, get_i32, put_i32, spend
from ..tables.store_layout import LEXEMES, NODE_LISTS, SCRATCH_TOP
from ..values.variants import SIZE, late_key

COST_FIELDS = 7
PLAIN = 0  # without a guard that asks for more
GUARDED = 1  # with such guards, as if they were fulfilled
GUARD = 2  # the first of these
ADDING = 3  # the same over an edge that adds something before
ADDING_GUARD = 4
ADDS_MEMBER = 5  # 1: that edge adds a named member
NAMING = 6  # of getting to an edge that adds a named member

NO_END = 2**30  # cost of what has no end that is known
REST = 2**30  # in the place of a rule, among the costs of members: the rest of a node
GUESSED_REST = 16 * BYTE_DISTANCE  # of automata and complements
LEAST_WEIGHT = 256 * BYTE_DISTANCE
LATE_COST = 8 * BYTE_DISTANCE  # of a state that is not written yet
MOST_PASSES = 8  # rules that ask for more, one inside the other
MOST_SWEEPS = 100


@kernel
def cost_sum(one, two):
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
def _n_missing(grammar, guard, parameter):
    """How many of the members that a guard requires by name are not there."""
    at = guard * GUARD_FIELDS
    guards = block(grammar, GUARDS)
    return 0 if get_i32(guards, at) == COUNT else n_missing(grammar, parameter, get_i32(guards, at + 3))


@kernel
def _n_lacking(grammar, guard, parameter, n_new):
    """How many more a guard asks for; `n_new` more without a name are in the set than the parameter says."""
    at = guard * GUARD_FIELDS
    guards = block(grammar, GUARDS)
    low = get_i32(guards, at + 1) - n_new
    if get_i32(guards, at) == COUNT:
        return max(0, low - parameter)
    return max(low - list_item(grammar, SETS, parameter, SIZE), _n_missing(grammar, guard, parameter))


@kernel
def _cost_at(grammar, state, parameter, n_new):
    """Cost of ending a run from a state of its rule; `n_new` more are in its set than the parameter says."""
    cost = _state_cost(grammar, state, PLAIN)
    guarded = _state_cost(grammar, state, GUARDED)
    if guarded >= NO_END:
        return cost
    guard = _state_cost(grammar, state, GUARD)
    lacking = _n_lacking(grammar, guard, parameter, n_new)
    if lacking <= 0:
        return min(cost, guarded)
    rule = get_i32(block(grammar, STATE_RULES), state)
    weight = get_i32(block(grammar, RULE_WEIGHTS), rule)
    n_named = _n_missing(grammar, guard, parameter)
    if n_named > 0:
        naming = cost_sum(_state_cost(grammar, state, NAMING), weight * (lacking - n_named))
        return min(cost, cost_sum(naming, _cost_of_missing(grammar, rule, guard, parameter)))
    adding = _state_cost(grammar, state, ADDING)
    if adding >= NO_END:
        return min(cost, cost_sum(guarded, weight * lacking))
    lacking = max(1, _n_lacking(grammar, _state_cost(grammar, state, ADDING_GUARD), parameter, n_new))
    return min(cost, cost_sum(adding, weight * (lacking - 1 + _state_cost(grammar, state, ADDS_MEMBER))))


@kernel
def _cost_of_missing(grammar, rule, guard, parameter):
    """Cost of the members that a guard requires by name and that are not there."""
    never_inline()
    required = get_i32(block(grammar, GUARDS), guard * GUARD_FIELDS + 3)
    cost = 0
    for i in range(n_required_words(grammar, required)):
        bits = missing_word(grammar, parameter, required, i)
        for j in range(32):
            if (bits >> j) & 1 != 0:
                known = map_get(grammar, MEMBER_COSTS, (rule << 32) | (32 * i + j))
                cost = cost_sum(cost, NO_END if known == MISSING else known)
    return cost


@kernel
def edge_cost(store, grammar, edge):
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
def _lower_member(grammar, state, cost, member):
    """Put the cost of a run that adds a named member of the state's rule and ends."""
    key = (get_i32(block(grammar, STATE_RULES), state) << 32) | member
    known = map_get(grammar, MEMBER_COSTS, key)
    if cost >= NO_END or (known != MISSING and cost >= known):
        return False
    map_change(grammar, MEMBER_COSTS, key, cost)
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
def _named_member(grammar, guard):
    """The member with a name that a guard adds, or ANOTHER."""
    at = guard * GUARD_FIELDS
    return get_i32(block(grammar, GUARDS), at + 1) if get_i32(block(grammar, GUARDS), at) == ADD else ANOTHER


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
        cost = edge_cost(store, grammar, edge)
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
            changed = _lower_guarded(grammar, state, cost_sum(cost, min(plain, guarded)), guard) or changed
        else:
            changed = _lower(grammar, state, PLAIN, cost_sum(cost, plain)) or changed
            next_guard = _state_cost(grammar, target, GUARD)
            changed = _lower_guarded(grammar, state, cost_sum(cost, guarded), next_guard) or changed
            if _adds(grammar, get_i32(block(grammar, EDGES), 4 * edge), guard):
                adds_member = 1 if get_i32(block(grammar, GUARDS), guard * GUARD_FIELDS) == ADD else 0
                changed = _lower_adding(grammar, state, cost_sum(cost, guarded), next_guard, adds_member) or changed
                member = _named_member(grammar, guard)
                if member != ANOTHER:
                    changed = _lower(grammar, state, NAMING, 0) or changed
                    changed = _lower_member(grammar, state, cost_sum(cost, min(plain, guarded)), member) or changed
            next_guard = _state_cost(grammar, target, ADDING_GUARD)
            adds_member = _state_cost(grammar, target, ADDS_MEMBER)
            adding = cost_sum(cost, _state_cost(grammar, target, ADDING))
            changed = _lower_adding(grammar, state, adding, next_guard, adds_member) or changed
            changed = _lower(grammar, state, NAMING, cost_sum(cost, _state_cost(grammar, target, NAMING))) or changed
    return changed


@kernel
def _weigh(store, grammar, first_state, end_state):
    """Set the weights of rules to more than writing two of their parts takes; whether one changed."""
    never_inline()
    changed = False
    for state in range(first_state, end_state):
        rule = get_i32(block(grammar, STATE_RULES), state)
        for edge in range(get_i32(block(grammar, EDGE_FIRST), state), get_i32(block(grammar, EDGE_FIRST), state + 1)):
            cost = edge_cost(store, grammar, edge)
            weight = min(LEAST_WEIGHT + 2 * cost, NO_END // 2)
            if cost < NO_END and weight > get_i32(block(grammar, RULE_WEIGHTS), rule):
                put_i32(block(grammar, RULE_WEIGHTS), rule, weight)
                changed = True
    return changed


@kernel
def cost_states(store, grammar):
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
            put_i32(costs, i * COST_FIELDS + NAMING, NO_END)
        changed = True
        n_sweeps = 0
        while changed and n_sweeps < MOST_SWEEPS:
            changed = False
            spend(grammar, 2 * (end - first))
            for i in range(end - first):
                state = end - 1 - i if n_sweeps & 1 == 0 else first + i
                if _look_at_edges(store, grammar, state):
                    changed = True
            n_sweeps += 1
        if not _weigh(store, grammar, first, end):
            break
    grammar[N_COSTED] = end


@kernel
def _whole_cost(grammar, state):
    """Cost of ending a run from a state to which nothing was added, without the weights that searches go by."""
    plain = _state_cost(grammar, state, PLAIN)
    guarded = _state_cost(grammar, state, GUARDED)
    if guarded >= NO_END:
        return plain
    guard = _state_cost(grammar, state, GUARD)
    n_named = _n_missing(grammar, guard, 0)
    adding = _state_cost(grammar, state, ADDING)
    if adding < NO_END:
        guarded = max(guarded, min(NO_END - 1, adding * max(1, _n_lacking(grammar, guard, 0, 0) - n_named)))
    if n_named > 0:
        rule = get_i32(block(grammar, STATE_RULES), state)
        guarded = max(guarded, _cost_of_missing(grammar, rule, guard, 0))
    return min(plain, guarded)


@kernel
def greatest_cost(store, grammar):
    """The most bytes that it takes at least to end a run of a rule, from any of its states, and a lexeme in hand."""
    never_inline()
    cost_states(store, grammar)
    spend(grammar, grammar[N_RTN_STATES])
    greatest = 0
    rest = 0
    for state in range(grammar[N_RTN_STATES]):
        cost = _whole_cost(grammar, state)
        if cost < NO_END:
            greatest = max(greatest, cost)
        for edge in range(get_i32(block(grammar, EDGE_FIRST), state), get_i32(block(grammar, EDGE_FIRST), state + 1)):
            if get_i32(block(grammar, EDGES), 4 * edge) == SCAN:
                lexeme = get_i32(block(store, LEXEMES), get_i32(block(grammar, EDGES), 4 * edge + 1))
                rest = max(rest, _rest(store, grammar, lexeme))
    return cost_sum(greatest, rest) // BYTE_DISTANCE


@kernel
def _known_rest(grammar, node):
    return map_get(grammar, MEMBER_COSTS, (REST << 32) | node)


@kernel
def _rest(store, grammar, node):
    """About the most that the rest of a lexeme takes at least, whatever of it is written; see `_rest_of_parts`."""
    never_inline()
    bottom = store[SCRATCH_TOP]
    push(store, node)
    while store[SCRATCH_TOP] > bottom:
        here = scratch(store, store[SCRATCH_TOP] - 1)
        if _known_rest(grammar, here) == MISSING and not _push_parts(store, grammar, here):
            map_change(grammar, MEMBER_COSTS, (REST << 32) | here, _rest_of_parts(store, grammar, here))
            spend(grammar, 1)
        if _known_rest(grammar, here) != MISSING:
            pop(store)
    return _known_rest(grammar, node)


@kernel
def _push_parts(store, grammar, node):
    """Put the parts of a node on the stack whose rests are not known yet; whether there are any."""
    kind = field(store, node, KIND)
    top = store[SCRATCH_TOP]
    if kind == K_CONCAT or kind == K_REPEAT:
        if _known_rest(grammar, field(store, node, A)) == MISSING:
            push(store, field(store, node, A))
        if kind == K_CONCAT and _known_rest(grammar, field(store, node, B)) == MISSING:
            push(store, field(store, node, B))
    elif kind == K_UNION or kind == K_AND:
        members = field(store, node, A)
        for i in range(list_length(store, NODE_LISTS, members)):
            member = list_item(store, NODE_LISTS, members, i)
            if _known_rest(grammar, member) == MISSING:
                push(store, member)
    return store[SCRATCH_TOP] > top


@kernel
def _rest_of_parts(store, grammar, node):
    """The rest by those of a node's parts; of an intersection their sum, as one may ask for more than the other."""
    kind = field(store, node, KIND)
    distance = field(store, node, DISTANCE)
    if kind == K_CONCAT:
        behind = field(store, field(store, node, B), DISTANCE)
        rest = max(
            cost_sum(_known_rest(grammar, field(store, node, A)), behind), _known_rest(grammar, field(store, node, B))
        )
        return min(rest, NO_END)
    if kind == K_REPEAT:
        operand = field(store, node, A)
        more = max(field(store, node, LOW) - 1, 0) * field(store, operand, DISTANCE)
        return cost_sum(_known_rest(grammar, operand), more)
    if kind == K_UNION or kind == K_AND:
        members = field(store, node, A)
        rest = 0
        for i in range(list_length(store, NODE_LISTS, members)):
            own = _known_rest(grammar, list_item(store, NODE_LISTS, members, i))
            rest = max(rest, own) if kind == K_UNION else cost_sum(rest, own)
        return rest
    return cost_sum(distance, GUESSED_REST) if kind == K_DFA or kind == K_NOT else distance


@kernel
def cost_behind(grammar, edge, parameter):
    """Cost of ending the run that takes an edge, from behind the edge."""
    edges = block(grammar, EDGES)
    kind = get_i32(edges, 4 * edge)
    target = get_i32(edges, 4 * edge + 2)
    if kind >= CALL_NEW:
        return _cost_at(grammar, target, parameter, 0 if kind == CALL_AGAIN else 1)
    return _cost_at(grammar, target, behind(grammar, get_i32(edges, 4 * edge + 3), parameter), 0)
