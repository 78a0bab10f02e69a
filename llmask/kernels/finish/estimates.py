"""How much has to be written still, estimated: the heuristic of the best-first search for an end (finish/paths.py).

    cost of a rule's state   the least until its run ends (finish/rule_costs.py)
    context (row, rule)      the least after a run of the rule that began in the row: what its callers need, and theirs
    cost of a configuration  the rest of one of its lexemes, the state after that, and the context of that state

This is no lower bound: a value that must not repeat, or a late rule that is not written yet, may take more. The search
that goes by it takes real steps, so only the length of what it finds depends on it.

In: a grammar's rules and rows, a configuration. Out: costs. Cost: 50 ns a call waiting in a row; then 20 ns a lexeme in
hand.
"""

from ..lexer.states import ANONYMOUS, is_start, live_lexeme, live_rest, n_live
from ..machine.jit import inline, kernel
from ..parser.items import SHARED_BY_LEO
from ..parser.rows import FIRST_ROW, rule_of_edge, scans_of, waits_of
from ..regex.nodes import push
from ..tables.interning import MISSING, list_item, map_change, map_get
from ..tables.memory import reserve, spend
from ..values.parse_states import row_of
from .rule_costs import ENDLESS, cost_after, cost_states, cost_sum, edge_cost, make_postorder


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
