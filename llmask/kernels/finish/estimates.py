"""How much has to be written still, estimated: the heuristic of the best-first search for an end (finish/paths.py).

    cost of a rule's state   the least until its run ends
    context (row, rule)      the least after a run of the rule that began in the row: what its callers need, and theirs
    cost of a configuration  the rest of one of its lexemes, the state after that, and the context of that state

This is no lower bound: a value that must not repeat, or a late rule that is not written yet, may take more. The search
that goes by it takes real steps, so only the length of what it finds depends on it.

The costs of states are the grammar problem (D. Knuth, A generalization of Dijkstra's algorithm, 1977): the cost of a
path is the sum of its lexemes' shortest strings and of the costs of the rules that it calls. It is solved by sweeps
over the states, back and forth, until no cost falls (Bellman-Ford): most edges lead to the next state, so a few sweeps
do. Costs are in parts of BYTE_DISTANCE a byte, as the distances of regular expressions (regex/constructors.py).

Only those guards count that ask for more: a count that is too low, members that are missing. Where a run lacks k, its
cost is that of a path that adds one, and a weight of the rule for each other. The weight is more than writing one
takes, so that a search prefers to begin one:

    "[" item ("," item)* "]" with three items    after the first  , item ]  and one weight; after the second  , item ]

Members that are required by name have costs of their own: a run that lacks some has to get to where it can add one, and
to write each. Each such cost includes that of ending the run, which is paid only once: the excess pays for the commas
before the keys.

In: a grammar's rules and rows, a configuration. Out: costs. Cost: 20 ns an edge, a few times, and 10 ns a missing
member of a run; 50 ns a call waiting in a row; then 20 ns a lexeme in hand.
"""

from ..lexer.states import ANONYMOUS, is_start, live_lexeme, live_rest, n_live
from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..parser.guards import ANOTHER, after_guard, missing_word, n_missing, n_required_words
from ..parser.items import SHARED_BY_LEO, edges_of
from ..parser.rows import FIRST_ROW, rule_of_edge, scans_of, waits_of
from ..regex.nodes import BYTE_DISTANCE, n_operands, operand, pop, push
from ..tables.interning import MISSING, list_item, map_change, map_get
from ..tables.kinds import EdgeKind, GuardKind, NodeKind
from ..tables.memory import reserve, spend
from ..values.called_rules import SIZE, late_key
from ..values.parse_states import row_of

ENDLESS = 2**30  # cost where no end is known
REST = 2**30  # in place of a rule, among the costs of members: the rest of a node
GUESSED_REST = 16 * BYTE_DISTANCE  # of automata and complements
LEAST_WEIGHT = 256 * BYTE_DISTANCE
LATE_COST = 8 * BYTE_DISTANCE  # of a state that is not written yet
MOST_PASSES = 8  # rules that ask for more, one inside the other
MOST_SWEEPS = 100


class PathKind(Kind):
    """The paths to the end of a rule that have a cost each: a state has a record of `state_costs` for each."""

    PLAIN = 0  # past no guard that asks for more
    GUARDED = 1  # past some, as if they were fulfilled; `guard` is the first
    ADDING = 2  # as GUARDED, over an edge that adds something before the guard
    NAMING = 3  # only to an edge that adds a named member


N_PATHS = 4


@inline
def cost_sum(one, two):
    return min(one + two, ENDLESS)


@inline
def _asks_for_more(grammar, guard):
    """Whether a run may get to a guard and have too little for it."""
    if guard == 0:
        return False
    known = grammar.guards[guard]
    if known.kind == GuardKind.CHECK:  # who passes MORE is asked by another guard at the end
        return known.low > 0 or known.required != 0
    return known.kind == GuardKind.COUNT and known.low > 0


@inline
def _n_missing(grammar, guard, parameter):
    """How many of the members that a guard requires by name are not there."""
    known = grammar.guards[guard]
    return 0 if known.kind == GuardKind.COUNT else n_missing(grammar, parameter, known.required)


@inline
def _n_lacking(grammar, guard, parameter, n_new):
    """How many more a guard asks for; `n_new` more without a name are in the set than the parameter says."""
    low = grammar.guards[guard].low - n_new
    if grammar.guards[guard].kind == GuardKind.COUNT:
        return max(0, low - parameter)
    return max(low - list_item(grammar.sets, parameter, SIZE), _n_missing(grammar, guard, parameter))


@inline
def _path(grammar, state, kind):
    """The least path of a kind that is known from a state: its cost, and what guards it."""
    return grammar.state_costs[N_PATHS * state + kind]


@inline
def _cost_at(grammar, state, parameter, n_new):
    """Cost of ending a run from a state of its rule; `n_new` more are in its set than the parameter says."""
    cost = _path(grammar, state, PathKind.PLAIN).cost
    guarded = _path(grammar, state, PathKind.GUARDED)
    if guarded.cost >= ENDLESS:
        return cost
    lacking = _n_lacking(grammar, guarded.guard, parameter, n_new)
    if lacking <= 0:
        return min(cost, guarded.cost)
    rule = grammar.state_rules[state]
    weight = grammar.rule_weights[rule]
    n_named = _n_missing(grammar, guarded.guard, parameter)
    if n_named > 0:
        naming = cost_sum(_path(grammar, state, PathKind.NAMING).cost, weight * (lacking - n_named))
        return min(cost, cost_sum(naming, _cost_of_missing(grammar, rule, guarded.guard, parameter)))
    adding = _path(grammar, state, PathKind.ADDING)
    if adding.cost >= ENDLESS:
        return min(cost, cost_sum(guarded.cost, weight * lacking))
    lacking = max(1, _n_lacking(grammar, adding.guard, parameter, n_new))
    return min(cost, cost_sum(adding.cost, weight * (lacking - 1 + adding.adds_member)))


@kernel
def _cost_of_missing(grammar, rule, guard, parameter):
    """Cost of the members that a guard requires by name and that are not there."""
    required = grammar.guards[guard].required
    if n_required_words(grammar, required) == 0:
        return min(ENDLESS, grammar.rule_weights[rule] * n_missing(grammar, parameter, required))
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
    kind, symbol = grammar.edges[edge].kind, grammar.edges[edge].symbol
    if kind == EdgeKind.SKIP or kind == EdgeKind.SKIP_LATE:
        return 0
    if kind != EdgeKind.SCAN:
        return _cost_at(grammar, grammar.rule_starts[symbol], 0, 0)
    lexeme = store.nodes[store.lexemes[symbol]]
    return BYTE_DISTANCE if lexeme.kind == NodeKind.TOKENS else max(BYTE_DISTANCE, lexeme.distance)


@inline
def _lower(grammar, state, kind, cost, guard, adds_member):
    """Note a path that costs less than the one known; whether it does."""
    known = _path(grammar, state, kind)
    is_less = cost < known.cost
    if is_less:
        known.cost, known.guard, known.adds_member = cost, guard, adds_member
    return is_less


@inline
def _lower_over(grammar, state, kind, cost, target):
    """Note the path over an edge of this cost and the known one from its target on."""
    known = _path(grammar, target, kind)
    return _lower(grammar, state, kind, cost_sum(cost, known.cost), known.guard, known.adds_member)


@inline
def _lower_member(grammar, state, cost, member):
    """Note the cost of a run that adds a named member of the state's rule and ends, if it is less."""
    key = (grammar.state_rules[state] << 32) | member
    known = map_get(grammar.member_costs, key)
    if cost >= ENDLESS or (known != MISSING and cost >= known):
        return False
    map_change(grammar.member_costs, key, cost)
    return True


@inline
def _adds(grammar, kind, guard):
    """Whether an edge adds to what the run's guards ask for."""
    if kind >= EdgeKind.CALL_NEW and kind != EdgeKind.CALL_AGAIN:
        return True
    known = grammar.guards[guard]
    return known.add > 0 if known.kind == GuardKind.COUNT else known.kind == GuardKind.ADD


@inline
def _relax_edge(store, grammar, state, edge):
    """Lower the costs of a state by the costs of an edge and its target; whether one fell."""
    cost = edge_cost(store, grammar, edge)
    if cost >= ENDLESS:
        return False
    target, guard = grammar.edges[edge].target, grammar.edges[edge].guard
    if grammar.edges[edge].kind == EdgeKind.SKIP_LATE:
        guard = 0
        target = map_get(grammar.variants, late_key(grammar.edges[edge].symbol))
        if target < 0:
            return _lower(grammar, state, PathKind.PLAIN, LATE_COST, 0, 0)
    guarded = _path(grammar, target, PathKind.GUARDED)
    either = cost_sum(cost, min(_path(grammar, target, PathKind.PLAIN).cost, guarded.cost))
    if _asks_for_more(grammar, guard):
        return _lower(grammar, state, PathKind.GUARDED, either, guard, 0)
    changed = _lower_over(grammar, state, PathKind.PLAIN, cost, target)
    changed |= _lower_over(grammar, state, PathKind.GUARDED, cost, target)
    # the edge adds something itself
    if _adds(grammar, grammar.edges[edge].kind, guard):
        is_named = grammar.guards[guard].kind == GuardKind.ADD
        adding = cost_sum(cost, guarded.cost)
        changed |= _lower(grammar, state, PathKind.ADDING, adding, guarded.guard, 1 if is_named else 0)
        if is_named and grammar.guards[guard].member != ANOTHER:
            changed |= _lower(grammar, state, PathKind.NAMING, 0, 0, 0)
            changed |= _lower_member(grammar, state, either, grammar.guards[guard].member)
    # an edge after it does
    changed |= _lower_over(grammar, state, PathKind.ADDING, cost, target)
    changed |= _lower_over(grammar, state, PathKind.NAMING, cost, target)
    return changed


@inline
def _relax(store, grammar, state):
    """Lower the costs of a state by what its edges lead to; whether one fell."""
    changed = False
    final = grammar.state_finals[state]
    if final != 0:
        kind = PathKind.GUARDED if _asks_for_more(grammar, final - 1) else PathKind.PLAIN
        changed = _lower(grammar, state, kind, 0, final - 1, 0)
    for edge in edges_of(grammar, state):
        changed |= _relax_edge(store, grammar, state, edge)
    return changed


@kernel
def _weigh(store, grammar, first_state, end_state):
    """Raise the weights of rules to more than writing two of their parts takes; whether one rose."""
    changed = False
    for state in range(first_state, end_state):
        rule = grammar.state_rules[state]
        for edge in edges_of(grammar, state):
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
    costs = reserve(grammar.state_costs, N_PATHS * end)
    reserve(grammar.rule_weights, grammar.n_rules)
    for _ in range(MOST_PASSES):
        for i in range(N_PATHS * first, N_PATHS * end):
            costs[i].cost = ENDLESS
        changed = True
        n_sweeps = 0
        while changed and n_sweeps < MOST_SWEEPS:
            changed = False
            spend(grammar, 2 * (end - first))
            for i in range(end - first):
                state = end - 1 - i if n_sweeps & 1 == 0 else first + i
                changed |= _relax(store, grammar, state)
            n_sweeps += 1
        if not _weigh(store, grammar, first, end):
            break
    grammar.n_costed = end


@inline
def _whole_cost(grammar, state):
    """Cost of ending a run from a state to which nothing was added, without the weights that searches go by."""
    plain = _path(grammar, state, PathKind.PLAIN).cost
    guarded = _path(grammar, state, PathKind.GUARDED)
    cost = guarded.cost
    if cost >= ENDLESS:
        return plain
    n_named = _n_missing(grammar, guarded.guard, 0)
    adding = _path(grammar, state, PathKind.ADDING).cost
    if adding < ENDLESS:
        cost = max(cost, min(ENDLESS - 1, adding * max(1, _n_lacking(grammar, guarded.guard, 0, 0) - n_named)))
    if n_named > 0:
        cost = max(cost, _cost_of_missing(grammar, grammar.state_rules[state], guarded.guard, 0))
    return min(plain, cost)


def make_postorder(is_known, push_unknown, find):
    """A kernel that finds something of a number after the same of the numbers that it needs: depth-first, by a stack.

    Parameters
    ----------
    is_known : whether it is found; push_unknown : push the numbers that are needed first; find : find it.
    """

    @kernel
    def find_in_order(store, grammar, number):
        bottom = store.scratch_top
        push(store, number)
        while store.scratch_top > bottom:
            top = store.scratch_top
            here = store.scratch[top - 1]
            if is_known(grammar, here):
                pop(store)
                continue
            push_unknown(store, grammar, here)
            if store.scratch_top == top:
                find(store, grammar, here)

    return find_in_order


@inline
def _known_rest(grammar, node):
    return map_get(grammar.member_costs, (REST << 32) | node)


@inline
def _has_rest(grammar, node):
    return _known_rest(grammar, node) != MISSING


@inline
def _push_unknown(store, grammar, node):
    if not _has_rest(grammar, node):
        push(store, node)


@inline
def _push_parts(store, grammar, node):
    """Push the parts of a node whose rests are not known yet."""
    here = store.nodes[node]
    if here.kind == NodeKind.CONCAT or here.kind == NodeKind.REPEAT:
        _push_unknown(store, grammar, here.a)
        if here.kind == NodeKind.CONCAT:
            _push_unknown(store, grammar, here.b)
    elif here.kind == NodeKind.UNION or here.kind == NodeKind.AND:
        for i in range(n_operands(store, node)):
            _push_unknown(store, grammar, operand(store, node, i))


@inline
def _rest_of_parts(store, grammar, node):
    """The rest of a node by the rests of its parts; of an intersection their sum, as each may ask for more."""
    here = store.nodes[node]
    if here.kind == NodeKind.CONCAT:
        in_first = cost_sum(_known_rest(grammar, here.a), store.nodes[here.b].distance)
        return min(max(in_first, _known_rest(grammar, here.b)), ENDLESS)
    if here.kind == NodeKind.REPEAT:
        return cost_sum(_known_rest(grammar, here.a), max(here.low - 1, 0) * store.nodes[here.a].distance)
    if here.kind == NodeKind.UNION or here.kind == NodeKind.AND:
        rest = 0
        for i in range(n_operands(store, node)):
            own = _known_rest(grammar, operand(store, node, i))
            rest = max(rest, own) if here.kind == NodeKind.UNION else cost_sum(rest, own)
        return rest
    return cost_sum(here.distance, GUESSED_REST if here.kind == NodeKind.DFA or here.kind == NodeKind.NOT else 0)


@kernel
def _put_rest(store, grammar, node):
    map_change(grammar.member_costs, (REST << 32) | node, _rest_of_parts(store, grammar, node))
    spend(grammar, 1)


_find_rest = make_postorder(_has_rest, _push_parts, _put_rest)


@inline
def _rest(store, grammar, node):
    """About the most that the rest of a lexeme takes at least, whatever of it is written; see `_rest_of_parts`."""
    _find_rest(store, grammar, node)
    return _known_rest(grammar, node)


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
        for edge in edges_of(grammar, state):
            if grammar.edges[edge].kind == EdgeKind.SCAN:
                lexeme = store.lexemes[grammar.edges[edge].symbol]
                rest = max(rest, _rest(store, grammar, lexeme))
    return cost_sum(greatest, rest) // BYTE_DISTANCE


@inline
def cost_after(grammar, edge, parameter):
    """Cost of ending the run that takes an edge, once the edge is taken."""
    taken = grammar.edges[edge]
    if taken.kind >= EdgeKind.CALL_NEW:
        return _cost_at(grammar, taken.target, parameter, 0 if taken.kind == EdgeKind.CALL_AGAIN else 1)
    return _cost_at(grammar, taken.target, after_guard(grammar, taken.guard, parameter), 0)


@inline
def _pair(row, symbol):
    """Key of what follows a rule, or a lexeme, in a row."""
    return (row << 32) | symbol


@inline
def _context(grammar, row, rule):
    """Cost of all that follows a run that began in a row whose contexts are found."""
    known = map_get(grammar.outer_costs, _pair(row, rule))
    return ENDLESS if known == MISSING else known


@inline
def _has_contexts(grammar, row):
    return reserve(grammar.outer_costs_of_rows, row + 1)[row] != 0


@inline
def _push_origins(store, grammar, row):
    """Push the rows where runs of a row began, as far as their contexts are not known yet."""
    for at in waits_of(grammar, row):
        origin = grammar.row_entries[at].origin
        if origin != row and not _has_contexts(grammar, origin):
            push(store, origin)


@kernel
def _contexts_of_row(store, grammar, row):
    """Relax the contexts of a row until none falls: rules call rules within the row."""
    if row == FIRST_ROW:
        map_change(grammar.outer_costs, _pair(row, grammar.start_rule), 0)
    changed = True
    while changed:
        changed = False
        spend(grammar, grammar.rows[row].n_waits)
        for at in waits_of(grammar, row):
            call = grammar.row_entries[at]
            rule = call.symbol
            if call.parameter == SHARED_BY_LEO:
                cost = _context(grammar, call.origin, rule)
            else:
                outer = _context(grammar, call.origin, rule_of_edge(grammar, call.edge))
                if rule < 0 or outer >= ENDLESS:
                    continue
                cost = cost_sum(outer, cost_after(grammar, call.edge, call.parameter))
            if cost < _context(grammar, row, rule):
                map_change(grammar.outer_costs, _pair(row, rule), cost)
                changed = True
    grammar.outer_costs_of_rows[row] = 1


_find_contexts = make_postorder(_has_contexts, _push_origins, _contexts_of_row)


@inline
def _has_costs(grammar, row):
    """Whether the costs after the lexemes of a row are known."""
    return map_get(grammar.lexeme_costs, _pair(row, ANONYMOUS)) != MISSING


@inline
def _push_leo_items(store, grammar, row):
    """Push the Leo items of a row whose costs are not known yet."""
    for at in scans_of(grammar, row):
        leo_item = grammar.row_entries[at].origin
        if grammar.row_entries[at].parameter == SHARED_BY_LEO and not _has_costs(grammar, leo_item):
            push(store, leo_item)


@kernel
def _cost_lexemes_of_row(store, grammar, row):
    """Find the cost after each lexeme that a row scans; under ANONYMOUS the cost of the row itself."""
    _find_contexts(store, grammar, row)
    least = 0 if grammar.rows[row].accepts else ENDLESS
    for at in scans_of(grammar, row):
        scan = grammar.row_entries[at]
        if scan.parameter == SHARED_BY_LEO:
            cost = map_get(grammar.lexeme_costs, _pair(scan.origin, scan.symbol))
        else:
            cost = cost_after(grammar, scan.edge, scan.parameter)
            if scan.origin != row:
                _find_contexts(store, grammar, scan.origin)
            cost = cost_sum(cost, _context(grammar, scan.origin, rule_of_edge(grammar, scan.edge)))
        key = _pair(row, scan.symbol)
        known = map_get(grammar.lexeme_costs, key)
        if known == MISSING or cost < known:
            map_change(grammar.lexeme_costs, key, cost)
        least = min(least, cost_sum(cost, edge_cost(store, grammar, scan.edge)))
    map_change(grammar.lexeme_costs, _pair(row, ANONYMOUS), least)


_cost_lexemes = make_postorder(_has_costs, _push_leo_items, _cost_lexemes_of_row)


@inline
def _cost_of_row(store, grammar, row):
    if not _has_costs(grammar, row):
        cost_states(store, grammar)
        _cost_lexemes(store, grammar, row)
    return map_get(grammar.lexeme_costs, _pair(row, ANONYMOUS))


@inline
def estimate(store, grammar, parse_state, state):
    """Cost of what has to be written still from a parse state and a lexer state; 0 where the document may end."""
    row = row_of(grammar, parse_state)
    of_row = _cost_of_row(store, grammar, row)
    if is_start(store, state):
        return of_row
    ignored = list_item(store.lexeme_sets, grammar.ignored, 0) if grammar.ignored != 0 else ANONYMOUS
    least = ENDLESS
    for i in range(n_live(store, state)):
        lexeme = live_lexeme(store, state, i)
        rest = store.nodes[live_rest(store, state, i)].distance
        if lexeme == ignored:
            least = min(least, cost_sum(rest, of_row))
        known = map_get(grammar.lexeme_costs, _pair(row, lexeme))
        if known != MISSING:
            least = min(least, cost_sum(rest, known))
    return least
