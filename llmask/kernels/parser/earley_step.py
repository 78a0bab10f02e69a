"""The Earley step: from a row to the row after a lexeme.

    scan        the edges of the row over one of the lexemes are taken
    complete    an item that may end wakes those that wait for its rule in the row where it began (or a Leo item does)
    predict     what the new row's items call: with the row, once (rows.py)

(J. Earley, "An efficient context-free parsing algorithm", Communications of the ACM 13, 1970.) Several lexemes may end
together. Where edges have priorities, only edges of the highest one among them are taken: a keyword is then no name.
Edges before which nothing is ignored (no_skip: of grammars inside this one) and the others do not compete; the ignored
lexeme competes with all.

In: tables, a row, a set of lexemes. Out: a row. Cost: a new row about 1 us and 10 ns an item.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import list_item, list_length
from ..tables.kinds import EdgeKind
from ..tables.memory import has_stopped, spend
from .items import LEO_EDGE, advance_over_nullable, clear_items, item_in_progress, may_end
from .leo_items import advance_entry, ends_in_leo_item, make_leo_items, normalize_leo_items
from .rows import NO_PARSE_STATE, add_kernel, intern_row, scans_of, waits_of
from .tracked_values import follow_known, take_value

LOWEST = -(2**31)  # below every priority


@kernel
def row_after(store, grammar, row, scanned):
    """Row after the lexemes of set `scanned`, or NO_PARSE_STATE."""
    bottom = store.scratch_top
    while True:
        _find_items(store, grammar, row, scanned)
        if store.scratch_top == bottom or grammar.exceeded != 0:
            break
        make_leo_items(store, grammar, bottom)
        if has_stopped(store, grammar):
            break
    store.scratch_top = bottom
    if has_stopped(store, grammar):
        return NO_PARSE_STATE
    normalize_leo_items(grammar)
    return intern_row(store, grammar, 0)


@kernel
def _find_items(store, grammar, row, scanned):
    """Find the items of the row after the lexemes; Leo items that are missing are asked for (leo_items.py)."""
    clear_items(grammar)
    grammar.undecided = 0
    n_scanned = list_length(store.lexeme_sets, scanned)
    least = LOWEST
    least_no_skip = LOWEST
    if grammar.has_priorities != 0:
        least = _highest_priority(store, grammar, row, scanned, 0)
        least_no_skip = _highest_priority(store, grammar, row, scanned, 1)
    spend(grammar, 8 + (grammar.rows[row].n_scans * (n_scanned + 1) >> 4))
    for at in scans_of(grammar, row):
        scan = grammar.row_entries[at]
        if least != LOWEST or least_no_skip != LOWEST:
            priority = grammar.priorities[scan.edge]
            if priority >> 1 < (least_no_skip if priority & 1 != 0 else least):
                continue
        if _is_in(store, scanned, scan.symbol):
            advance_entry(store, grammar, at)
    if grammar.ignored != 0 and n_scanned > 1 and grammar.ignored_priority >= max(least, least_no_skip):
        if _is_in(store, scanned, list_item(store.lexeme_sets, grammar.ignored, 0)):
            add_kernel(grammar, row)  # it ended together with others: the row goes on as it was, too
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        state, parameter, origin = item_in_progress(grammar, position)
        position += 1
        if state >= LEO_EDGE:
            continue
        if may_end(grammar, state, parameter):
            _complete(store, grammar, grammar.state_rules[state], origin)
        advance_over_nullable(grammar, state, parameter, origin)
        if grammar.follows != 0:
            follow_known(store, grammar, state, parameter, origin)


@inline
def _is_in(store, lexemes, lexeme):
    """Whether a lexeme is in a set."""
    for i in range(list_length(store.lexeme_sets, lexemes)):
        if list_item(store.lexeme_sets, lexemes, i) == lexeme:
            return True
    return False


@kernel
def _highest_priority(store, grammar, row, scanned, no_skip):
    """Highest priority of a no_skip or other edge of the row over one of the lexemes, or of the ignored one."""
    highest = LOWEST
    for at in scans_of(grammar, row):
        scan = grammar.row_entries[at]
        priority = grammar.priorities[scan.edge]
        if priority & 1 == no_skip and priority >> 1 > highest and _is_in(store, scanned, scan.symbol):
            highest = priority >> 1
    if grammar.ignored != 0 and grammar.ignored_priority > highest:
        if _is_in(store, scanned, list_item(store.lexeme_sets, grammar.ignored, 0)):
            highest = grammar.ignored_priority
    return highest


@kernel
def _complete(store, grammar, rule, origin):
    """Wake the items of row `origin` that wait for `rule`."""
    if ends_in_leo_item(store, grammar, rule, origin, origin + 1):
        return
    spend(grammar, 1 + (grammar.rows[origin].n_waits >> 3))
    for at in waits_of(grammar, origin):
        wait = grammar.row_entries[at]
        if wait.symbol == rule:
            if grammar.edges[wait.edge].kind < EdgeKind.CALL_NEW:
                advance_entry(store, grammar, at)
            else:
                take_value(grammar, wait.edge, wait.parameter, wait.origin, origin)
