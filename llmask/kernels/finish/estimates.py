"""About how much has to be written still: the estimate that searches for an end go by (finish/paths.py).

    cost of a rule's state   the least until its run ends (finish/rule_costs.py)
    context (row, rule)      the least behind a run of the rule that began in the row: what its callers need, and theirs
    cost of a configuration  of one of its lexemes the rest, the state behind it and the context of that

This is an estimate and no bound: a value that must not repeat, or a late rule that is not written yet, may take more.
Whoever goes by it follows real steps.

In: a grammar's rules and rows, a configuration. Out: costs. Cost: 50 ns a call waiting in a row; then 20 ns a lexeme in
hand.
"""

from __future__ import annotations

from ..lexer.states import ANONYMOUS, is_start
from ..machine.jit import inline, kernel
from ..parser.items import SHARED_BY_LEO
from ..parser.rows import FIRST_ROW
from ..regex.nodes import pop, push
from ..tables.interning import MISSING, list_item, list_length, list_offset, map_change, map_get
from ..tables.memory import reserve, spend
from ..values.parse_states import row_of
from .rule_costs import ENDLESS, cost_after, cost_states, cost_sum, edge_cost


@inline
def _rule_of_edge(grammar, edge):
    return grammar.state_rules[grammar.edges[edge].target]


@inline
def _context(grammar, row, rule):
    """Cost of all that follows a run that began in a row whose contexts are found."""
    known = map_get(grammar.outer_costs, (row << 32) | rule)
    return ENDLESS if known == MISSING else known


@inline
def _is_open(grammar, row):
    """Whether the contexts of a row are still to be found."""
    return reserve(grammar.outer_costs_of_rows, row + 1)[row] == 0


@kernel
def _find_contexts(store, grammar, row):
    """Find the contexts of a row, those of the rows where its runs began before."""
    bottom = store.scratch_top
    push(store, row)
    while store.scratch_top > bottom:
        here = pop(store)
        if not _is_open(grammar, here):
            continue
        push(store, here)
        top = store.scratch_top
        first = grammar.rows[here].waits
        for i in range(grammar.rows[here].n_waits):
            origin = grammar.row_entries[first + i].origin
            if origin != here and _is_open(grammar, origin):
                push(store, origin)
        if store.scratch_top == top:
            pop(store)
            _contexts_of_row(grammar, here)


@kernel
def _contexts_of_row(grammar, row):
    """Relax the contexts of a row until none falls: calls of calls within the row."""
    if row == FIRST_ROW:
        map_change(grammar.outer_costs, (row << 32) | grammar.start_rule, 0)
    first = grammar.rows[row].waits
    changed = True
    while changed:
        changed = False
        spend(grammar, grammar.rows[row].n_waits)
        for i in range(grammar.rows[row].n_waits):
            at = first + i
            entries = grammar.row_entries
            rule = entries[at].symbol
            edge = entries[at].edge
            if entries[at].parameter == SHARED_BY_LEO:
                cost = _context(grammar, entries[at].origin, rule)
            else:
                outer = _context(grammar, entries[at].origin, _rule_of_edge(grammar, edge))
                if rule < 0 or outer >= ENDLESS:
                    continue
                cost = cost_sum(outer, cost_after(grammar, edge, entries[at].parameter))
            if cost < _context(grammar, row, rule):
                map_change(grammar.outer_costs, (row << 32) | rule, cost)
                changed = True
    grammar.outer_costs_of_rows[row] = 1


@kernel
def _cost_lexemes(store, grammar, row):
    """Find the cost behind each lexeme that a row scans, those of the links that it holds before."""
    cost_states(store, grammar)
    bottom = store.scratch_top
    push(store, row)
    while store.scratch_top > bottom:
        here = pop(store)
        if map_get(grammar.lexeme_costs, (here << 32) | ANONYMOUS) != MISSING:
            continue
        push(store, here)
        top = store.scratch_top
        first = grammar.rows[here].scans
        for at in range(first, first + grammar.rows[here].n_scans):
            link = grammar.row_entries[at].origin
            if grammar.row_entries[at].parameter == SHARED_BY_LEO:
                if map_get(grammar.lexeme_costs, (link << 32) | ANONYMOUS) == MISSING:
                    push(store, link)
        if store.scratch_top == top:
            pop(store)
            _cost_lexemes_of_row(store, grammar, here)


@kernel
def _cost_lexemes_of_row(store, grammar, row):
    """Find the cost behind each lexeme that a row scans; under ANONYMOUS that of the row itself."""
    _find_contexts(store, grammar, row)
    least = 0 if grammar.rows[row].accepts else ENDLESS
    first = grammar.rows[row].scans
    for i in range(grammar.rows[row].n_scans):
        at = first + i
        entries = grammar.row_entries
        lexeme = entries[at].symbol
        edge = entries[at].edge
        origin = entries[at].origin
        if entries[at].parameter == SHARED_BY_LEO:
            cost = map_get(grammar.lexeme_costs, (origin << 32) | lexeme)
        else:
            cost = cost_after(grammar, edge, entries[at].parameter)
            if origin != row:
                _find_contexts(store, grammar, origin)
            cost = cost_sum(cost, _context(grammar, origin, _rule_of_edge(grammar, edge)))
        key = (row << 32) | lexeme
        known = map_get(grammar.lexeme_costs, key)
        if known == MISSING or cost < known:
            map_change(grammar.lexeme_costs, key, cost)
        least = min(least, cost_sum(cost, edge_cost(store, grammar, edge)))
    map_change(grammar.lexeme_costs, (row << 32) | ANONYMOUS, least)


@inline
def _cost_of_row(store, grammar, row):
    key = (row << 32) | ANONYMOUS
    known = map_get(grammar.lexeme_costs, key)
    if known == MISSING:
        _cost_lexemes(store, grammar, row)
        known = map_get(grammar.lexeme_costs, key)
    return known


@inline
def estimate(store, grammar, parse_state, state):
    """Cost of what has to be written still from a place and a lexer state; 0 where it may end."""
    row = row_of(grammar, parse_state)
    of_row = _cost_of_row(store, grammar, row)
    if is_start(store, state):
        return of_row
    ignored = list_item(store.lexeme_sets, grammar.ignored, 0) if grammar.ignored != 0 else ANONYMOUS
    least = ENDLESS
    for i in range(0, list_length(store.state_keys, state) & -2, 2):
        at = list_offset(store.state_keys, state) + i
        lexeme = store.state_keys.pool[at]
        rest = store.nodes[store.state_keys.pool[at + 1]].distance
        if lexeme == ignored:
            least = min(least, cost_sum(rest, of_row))
        known = map_get(grammar.lexeme_costs, (row << 32) | lexeme)
        if known != MISSING:
            least = min(least, cost_sum(rest, known))
    return least
