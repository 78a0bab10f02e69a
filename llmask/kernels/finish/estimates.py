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
from ..machine.jit import kernel, never_inline
from ..parser.items import LINKED
from ..parser.rows import ACCEPTS, FIRST_ROW, R_FLAGS, R_N_SCANS, R_N_WAITS, R_SCANS, R_WAITS, row_field
from ..regex.nodes import DISTANCE, field, pop, push
from ..tables.grammar_layout import (
    EDGES,
    IGNORED,
    LEXEME_COSTS,
    OUTER_COSTS,
    OUTER_COSTS_OF_ROWS,
    ROW_POOL,
    START_RULE,
    STATE_RULES,
)
from ..tables.interning import MISSING, list_item, list_length, list_offset, map_change, map_get
from ..tables.memory import block, ensure, get_i32, put_i32, spend
from ..tables.store_layout import LEXEME_SETS, SCRATCH_TOP, STATE_KEYS
from ..values.transcripts import row_of
from .rule_costs import NO_END, cost_behind, cost_states, cost_sum, edge_cost


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
        spend(grammar, row_field(grammar, row, R_N_WAITS))
        for i in range(row_field(grammar, row, R_N_WAITS)):
            at = first + 4 * i
            pool = block(grammar, ROW_POOL)
            rule = get_i32(pool, at)
            edge = get_i32(pool, at + 1)
            if get_i32(pool, at + 2) == LINKED:
                cost = _context(grammar, get_i32(pool, at + 3), rule)
            else:
                outer = _context(grammar, get_i32(pool, at + 3), _rule_of_edge(grammar, edge))
                if rule < 0 or outer >= NO_END:
                    continue
                cost = cost_sum(outer, cost_behind(grammar, edge, get_i32(pool, at + 2)))
            if cost < _context(grammar, row, rule):
                map_change(grammar, OUTER_COSTS, (row << 32) | rule, cost)
                changed = True
    put_i32(block(grammar, OUTER_COSTS_OF_ROWS), row, 1)


@kernel
def _cost_lexemes(store, grammar, row):
    """Find the cost behind each lexeme that a row scans, those of the links that it holds before."""
    never_inline()
    cost_states(store, grammar)
    bottom = store[SCRATCH_TOP]
    push(store, row)
    while store[SCRATCH_TOP] > bottom:
        here = pop(store)
        if map_get(grammar, LEXEME_COSTS, (here << 32) | ANONYMOUS) != MISSING:
            continue
        push(store, here)
        top = store[SCRATCH_TOP]
        first = row_field(grammar, here, R_SCANS)
        for at in range(first, first + 4 * row_field(grammar, here, R_N_SCANS), 4):
            link = get_i32(block(grammar, ROW_POOL), at + 3)
            if get_i32(block(grammar, ROW_POOL), at + 2) == LINKED:
                if map_get(grammar, LEXEME_COSTS, (link << 32) | ANONYMOUS) == MISSING:
                    push(store, link)
        if store[SCRATCH_TOP] == top:
            pop(store)
            _cost_lexemes_of_row(store, grammar, here)


@kernel
def _cost_lexemes_of_row(store, grammar, row):
    """Find the cost behind each lexeme that a row scans; under ANONYMOUS that of the row itself."""
    never_inline()
    _find_contexts(store, grammar, row)
    least = 0 if row_field(grammar, row, R_FLAGS) & ACCEPTS != 0 else NO_END
    first = row_field(grammar, row, R_SCANS)
    for i in range(row_field(grammar, row, R_N_SCANS)):
        at = first + 4 * i
        pool = block(grammar, ROW_POOL)
        lexeme = get_i32(pool, at)
        edge = get_i32(pool, at + 1)
        origin = get_i32(pool, at + 3)
        if get_i32(pool, at + 2) == LINKED:
            cost = map_get(grammar, LEXEME_COSTS, (origin << 32) | lexeme)
        else:
            cost = cost_behind(grammar, edge, get_i32(pool, at + 2))
            if origin != row:
                _find_contexts(store, grammar, origin)
            cost = cost_sum(cost, _context(grammar, origin, _rule_of_edge(grammar, edge)))
        key = (row << 32) | lexeme
        known = map_get(grammar, LEXEME_COSTS, key)
        if known == MISSING or cost < known:
            map_change(grammar, LEXEME_COSTS, key, cost)
        least = min(least, cost_sum(cost, edge_cost(store, grammar, edge)))
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
            least = min(least, cost_sum(rest, of_row))
        known = map_get(grammar, LEXEME_COSTS, (row << 32) | lexeme)
        if known != MISSING:
            least = min(least, cost_sum(rest, known))
    return least
