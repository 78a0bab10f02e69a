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

from ..machine.jit import inline, kernel
from ..parser.guards import ANOTHER, after_guard, missing_word, n_missing, n_required_words
from ..regex.nodes import BYTE_DISTANCE, pop, push
from ..tables.interning import MISSING, list_item, list_length, map_change, map_get
from ..tables.kinds import EdgeKind, GuardKind, NodeKind
from ..tables.memory import reserve, spend
from ..values.called_rules import SIZE, late_key

ENDLESS = 2**30  # cost of what has no end that is known
REST = 2**30  # in the place of a rule, among the costs of members: the rest of a node
GUESSED_REST = 16 * BYTE_DISTANCE  # of automata and complements
LEAST_WEIGHT = 256 * BYTE_DISTANCE
LATE_COST = 8 * BYTE_DISTANCE  # of a state that is not written yet
MOST_PASSES = 8  # rules that ask for more, one inside the other
MOST_SWEEPS = 100


@inline
def cost_sum(one, two):
    return min(one + two, ENDLESS)


@inline
def _asks_for_more(grammar, guard):
    """Whether a run may get to a guard and have too little for it."""
    if guard == 0:
        return False
    guards = grammar.guards
    kind = guards[guard].kind
    return (kind == GuardKind.COUNT and guards[guard].low > 0) or (
        kind == GuardKind.CHECK and (guards[guard].low > 0 or guards[guard].add != 0)
    )


@inline
def _n_missing(grammar, guard, parameter):
    """How many of the members that a guard requires by name are not there."""
    guards = grammar.guards
    return 0 if guards[guard].kind == GuardKind.COUNT else n_missing(grammar, parameter, guards[guard].add)


@inline
def _n_lacking(grammar, guard, parameter, n_new):
    """How many more a guard asks for; `n_new` more without a name are in the set than the parameter says."""
    guards = grammar.guards
    low = guards[guard].low - n_new
    if guards[guard].kind == GuardKind.COUNT:
        return max(0, low - parameter)
    return max(low - list_item(grammar.sets, parameter, SIZE), _n_missing(grammar, guard, parameter))


@inline
def _cost_at(grammar, state, parameter, n_new):
    """Cost of ending a run from a state of its rule; `n_new` more are in its set than the parameter says."""
    cost = grammar.state_costs[state].plain
    guarded = grammar.state_costs[state].guarded
    if guarded >= ENDLESS:
        return cost
    guard = grammar.state_costs[state].guard
    lacking = _n_lacking(grammar, guard, parameter, n_new)
    if lacking <= 0:
        return min(cost, guarded)
    rule = grammar.state_rules[state]
    weight = grammar.rule_weights[rule]
    n_named = _n_missing(grammar, guard, parameter)
    if n_named > 0:
        naming = cost_sum(grammar.state_costs[state].naming, weight * (lacking - n_named))
        return min(cost, cost_sum(naming, _cost_of_missing(grammar, rule, guard, parameter)))
    adding = grammar.state_costs[state].adding
    if adding >= ENDLESS:
        return min(cost, cost_sum(guarded, weight * lacking))
    lacking = max(1, _n_lacking(grammar, grammar.state_costs[state].adding_guard, parameter, n_new))
    return min(cost, cost_sum(adding, weight * (lacking - 1 + grammar.state_costs[state].adds_member)))


@kernel
def _cost_of_missing(grammar, rule, guard, parameter):
    """Cost of the members that a guard requires by name and that are not there."""
    required = grammar.guards[guard].add
    cost = 0
    for i in range(n_required_words(grammar, required)):
        bits = missing_word(grammar, parameter, required, i)
        for j in range(32):
            if (bits >> j) & 1 != 0:
                known = map_get(grammar.member_costs, (rule << 32) | (32 * i + j))
                cost = cost_sum(cost, ENDLESS if known == MISSING else known)
    return cost


@inline
def edge_cost(store, grammar, edge):
    """Cost of the lexeme or rule of an edge."""
    edges = grammar.edges
    kind = edges[edge].kind
    symbol = edges[edge].symbol
    if kind == EdgeKind.SKIP or kind == EdgeKind.SKIP_LATE:
        return 0
    if kind != EdgeKind.SCAN:
        return _cost_at(grammar, grammar.rule_starts[symbol], 0, 0)
    node = store.lexemes[symbol]
    return (
        BYTE_DISTANCE if store.nodes[node].kind == NodeKind.TOKENS else max(BYTE_DISTANCE, store.nodes[node].distance)
    )


@inline
def _lower_plain(grammar, state, cost):
    """Put a cost that is less than the one known; whether it is. So do those below."""
    known = grammar.state_costs[state]
    is_less = cost < known.plain
    if is_less:
        known.plain = cost
    return is_less


@inline
def _lower_naming(grammar, state, cost):
    known = grammar.state_costs[state]
    is_less = cost < known.naming
    if is_less:
        known.naming = cost
    return is_less


@inline
def _lower_guarded(grammar, state, cost, guard):
    known = grammar.state_costs[state]
    is_less = cost < known.guarded
    if is_less:
        known.guarded = cost
        known.guard = guard
    return is_less


@inline
def _lower_adding(grammar, state, cost, guard, adds_member):
    known = grammar.state_costs[state]
    is_less = cost < known.adding
    if is_less:
        known.adding = cost
        known.adding_guard = guard
        known.adds_member = adds_member
    return is_less


@inline
def _lower_member(grammar, state, cost, member):
    """Put the cost of a run that adds a named member of the state's rule and ends."""
    key = (grammar.state_rules[state] << 32) | member
    known = map_get(grammar.member_costs, key)
    if cost >= ENDLESS or (known != MISSING and cost >= known):
        return False
    map_change(grammar.member_costs, key, cost)
    return True


@inline
def _adds(grammar, kind, guard):
    """Whether an edge adds to what the run's guards ask for."""
    guards = grammar.guards
    if guards[guard].kind == GuardKind.COUNT:
        return guards[guard].add > 0 or (kind >= EdgeKind.CALL_NEW and kind != EdgeKind.CALL_AGAIN)
    return guards[guard].kind == GuardKind.ADD or (kind >= EdgeKind.CALL_NEW and kind != EdgeKind.CALL_AGAIN)


@inline
def _named_member(grammar, guard):
    """The member with a name that a guard adds, or ANOTHER."""
    return grammar.guards[guard].low if grammar.guards[guard].kind == GuardKind.ADD else ANOTHER


@inline
def _look_at_edges(store, grammar, state):
    """Lower the costs of a state by what its edges lead to; whether one changed."""
    changed = False
    final = grammar.state_finals[state]
    if final != 0:
        if _asks_for_more(grammar, final - 1):
            changed = _lower_guarded(grammar, state, 0, final - 1)
        else:
            changed = _lower_plain(grammar, state, 0)
    for edge in range(grammar.edge_first[state], grammar.edge_first[state + 1]):
        cost = edge_cost(store, grammar, edge)
        if cost >= ENDLESS:
            continue
        edges = grammar.edges
        target = edges[edge].target
        guard = edges[edge].guard
        if edges[edge].kind == EdgeKind.SKIP_LATE:
            guard = 0
            target = map_get(grammar.variants, late_key(edges[edge].symbol))
            if target < 0:
                changed = _lower_plain(grammar, state, LATE_COST) or changed
                continue
        plain = grammar.state_costs[target].plain
        guarded = grammar.state_costs[target].guarded
        if _asks_for_more(grammar, guard):
            changed = _lower_guarded(grammar, state, cost_sum(cost, min(plain, guarded)), guard) or changed
        else:
            changed = _lower_plain(grammar, state, cost_sum(cost, plain)) or changed
            next_guard = grammar.state_costs[target].guard
            changed = _lower_guarded(grammar, state, cost_sum(cost, guarded), next_guard) or changed
            if _adds(grammar, grammar.edges[edge].kind, guard):
                adds_member = 1 if grammar.guards[guard].kind == GuardKind.ADD else 0
                changed = _lower_adding(grammar, state, cost_sum(cost, guarded), next_guard, adds_member) or changed
                member = _named_member(grammar, guard)
                if member != ANOTHER:
                    changed = _lower_naming(grammar, state, 0) or changed
                    changed = _lower_member(grammar, state, cost_sum(cost, min(plain, guarded)), member) or changed
            next_guard = grammar.state_costs[target].adding_guard
            adds_member = grammar.state_costs[target].adds_member
            adding = cost_sum(cost, grammar.state_costs[target].adding)
            changed = _lower_adding(grammar, state, adding, next_guard, adds_member) or changed
            changed = _lower_naming(grammar, state, cost_sum(cost, grammar.state_costs[target].naming)) or changed
    return changed


@kernel
def _weigh(store, grammar, first_state, end_state):
    """Set the weights of rules to more than writing two of their parts takes; whether one changed."""
    changed = False
    for state in range(first_state, end_state):
        rule = grammar.state_rules[state]
        for edge in range(grammar.edge_first[state], grammar.edge_first[state + 1]):
            cost = edge_cost(store, grammar, edge)
            weight = min(LEAST_WEIGHT + 2 * cost, ENDLESS // 2)
            if cost < ENDLESS and weight > grammar.rule_weights[rule]:
                grammar.rule_weights[rule] = weight
                changed = True
    return changed


@kernel
def cost_states(store, grammar):
    """Find the costs of the states that have none yet: of all, or of rules that were loaded later."""
    first = grammar.n_costed
    end = grammar.n_rtn_states
    if first == end:
        return
    costs = reserve(grammar.state_costs, end)
    reserve(grammar.rule_weights, grammar.n_rules)
    for _ in range(MOST_PASSES):
        for i in range(first, end):
            costs[i].plain = ENDLESS
            costs[i].guarded = ENDLESS
            costs[i].adding = ENDLESS
            costs[i].naming = ENDLESS
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
    grammar.n_costed = end


@inline
def _whole_cost(grammar, state):
    """Cost of ending a run from a state to which nothing was added, without the weights that searches go by."""
    plain = grammar.state_costs[state].plain
    guarded = grammar.state_costs[state].guarded
    if guarded >= ENDLESS:
        return plain
    guard = grammar.state_costs[state].guard
    n_named = _n_missing(grammar, guard, 0)
    adding = grammar.state_costs[state].adding
    if adding < ENDLESS:
        guarded = max(guarded, min(ENDLESS - 1, adding * max(1, _n_lacking(grammar, guard, 0, 0) - n_named)))
    if n_named > 0:
        rule = grammar.state_rules[state]
        guarded = max(guarded, _cost_of_missing(grammar, rule, guard, 0))
    return min(plain, guarded)


@kernel
def greatest_cost(store, grammar):
    """The most bytes that it takes at least to end a run of a rule, from any of its states, and a lexeme in hand."""
    cost_states(store, grammar)
    spend(grammar, grammar.n_rtn_states)
    greatest = 0
    rest = 0
    for state in range(grammar.n_rtn_states):
        cost = _whole_cost(grammar, state)
        if cost < ENDLESS:
            greatest = max(greatest, cost)
        for edge in range(grammar.edge_first[state], grammar.edge_first[state + 1]):
            if grammar.edges[edge].kind == EdgeKind.SCAN:
                lexeme = store.lexemes[grammar.edges[edge].symbol]
                rest = max(rest, _rest(store, grammar, lexeme))
    return cost_sum(greatest, rest) // BYTE_DISTANCE


@inline
def _known_rest(grammar, node):
    return map_get(grammar.member_costs, (REST << 32) | node)


@kernel
def _rest(store, grammar, node):
    """About the most that the rest of a lexeme takes at least, whatever of it is written; see `_rest_of_parts`."""
    bottom = store.scratch_top
    push(store, node)
    while store.scratch_top > bottom:
        here = store.scratch[store.scratch_top - 1]
        if _known_rest(grammar, here) == MISSING and not _push_parts(store, grammar, here):
            map_change(grammar.member_costs, (REST << 32) | here, _rest_of_parts(store, grammar, here))
            spend(grammar, 1)
        if _known_rest(grammar, here) != MISSING:
            pop(store)
    return _known_rest(grammar, node)


@inline
def _push_parts(store, grammar, node):
    """Put the parts of a node on the stack whose rests are not known yet; whether there are any."""
    kind = store.nodes[node].kind
    top = store.scratch_top
    if kind == NodeKind.CONCAT or kind == NodeKind.REPEAT:
        if _known_rest(grammar, store.nodes[node].a) == MISSING:
            push(store, store.nodes[node].a)
        if kind == NodeKind.CONCAT and _known_rest(grammar, store.nodes[node].b) == MISSING:
            push(store, store.nodes[node].b)
    elif kind == NodeKind.UNION or kind == NodeKind.AND:
        members = store.nodes[node].a
        for i in range(list_length(store.node_lists, members)):
            member = list_item(store.node_lists, members, i)
            if _known_rest(grammar, member) == MISSING:
                push(store, member)
    return store.scratch_top > top


@inline
def _rest_of_parts(store, grammar, node):
    """The rest by those of a node's parts; of an intersection their sum, as one may ask for more than the other."""
    kind = store.nodes[node].kind
    distance = store.nodes[node].distance
    if kind == NodeKind.CONCAT:
        behind = store.nodes[store.nodes[node].b].distance
        rest = max(
            cost_sum(_known_rest(grammar, store.nodes[node].a), behind), _known_rest(grammar, store.nodes[node].b)
        )
        return min(rest, ENDLESS)
    if kind == NodeKind.REPEAT:
        operand = store.nodes[node].a
        more = max(store.nodes[node].low - 1, 0) * store.nodes[operand].distance
        return cost_sum(_known_rest(grammar, operand), more)
    if kind == NodeKind.UNION or kind == NodeKind.AND:
        members = store.nodes[node].a
        rest = 0
        for i in range(list_length(store.node_lists, members)):
            own = _known_rest(grammar, list_item(store.node_lists, members, i))
            rest = max(rest, own) if kind == NodeKind.UNION else cost_sum(rest, own)
        return rest
    return cost_sum(distance, GUESSED_REST) if kind == NodeKind.DFA or kind == NodeKind.NOT else distance


@inline
def cost_after(grammar, edge, parameter):
    """Cost of ending the run that takes an edge, from behind the edge."""
    edges = grammar.edges
    kind = edges[edge].kind
    target = edges[edge].target
    if kind >= EdgeKind.CALL_NEW:
        return _cost_at(grammar, target, parameter, 0 if kind == EdgeKind.CALL_AGAIN else 1)
    return _cost_at(grammar, target, after_guard(grammar, edges[edge].guard, parameter), 0)
