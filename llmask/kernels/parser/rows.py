"""Interned Earley rows: what the parser knows after a text, shared by all texts after which it knows the same.

    item        (state of a rule, parameter, origin row); the parameter is the run's count or set, see guards.py
    kernel      the items made by the scan and by completions into earlier rows, sorted: the row's identity
    scans       (lexeme, edge, parameter, origin)    for every edge over a lexeme from an item of the row
    waits       (rule, edge, parameter, origin)      for every edge that calls a rule: whom to wake when it completes;
                                                     the rule may be another than the edge's, see values/called_rules.py

Prediction and skipping over nullable rules (J. Aycock, N. Horspool, "Practical Earley parsing", The Computer Journal
45, 2002) are derived from the kernel and never part of it. Items that start in a row carry the row's own number as
origin. The step from row to row (earley_step.py) is a pure function, so it is remembered (goto.py); the rows form a
graph-structured stack that all sequences of a grammar share, and a list reaches a fixed point after its first elements.

Scans and waits have passed their edge's guard; the parameter is the one before it. The items of runs that wait for each
other in a chain may be one item, a Leo item (leo_items.py): a row without predictions, whose scans and waits the rows
that hold it have, too: (lexeme or rule, edge, SHARED_BY_LEO, Leo item).

A row knows whether a tracked value begins there, or goes on, as it does where the origin of an item tracks one
(values/parse_states.py). Where the set of an item holds a text that is not known, the row is undecided.

In: items in progress. Out: row ids. Cost: a new row about 1 us and 10 ns an item.
"""

from ..lexer.states import lexeme_set, start_state, token_set_of
from ..machine.jit import inline, kernel
from ..regex.nodes import push, push_two
from ..regex.set_operations import sort_scratch
from ..tables.interning import forget_last_list, intern_list, list_item
from ..tables.kinds import EdgeKind
from ..tables.memory import exceed, has_stopped, reserve, spend
from ..tables.store_layout import LIMIT_ROWS
from ..values.called_rules import note_value, rule_called
from .guards import is_followed, passes
from .items import (
    ITEM_INTS,
    LEO_EDGE,
    LEO_ITEM,
    SHARED_BY_LEO,
    add_item,
    advance_over_nullable,
    clear_items,
    edges_of,
    item_in_progress,
    kernel_item,
    may_end,
    n_kernel_items,
    push_item,
    pushed_item,
    sort_items,
)

FIRST_ROW = 0
NO_PARSE_STATE = -3  # where a step leads nowhere
UNDECIDED_MARK = -2  # in the kernel of rows that may have more items
LEO_MARK = -3  # in the kernel of Leo items
FIRST_MARK = -1  # in the kernel of row 0, where white space may be forbidden: no later row is the same


@kernel
def add_kernel(grammar, row):
    """Add the items of a row's kernel to the row in progress."""
    for i in range(n_kernel_items(grammar, row)):
        state, parameter, origin = kernel_item(grammar, row, i)
        if state >= 0:
            add_item(grammar, state, parameter, origin, 0)


@kernel
def first_row(store, grammar):
    """Make row 0: the start rule predicted, nothing read."""
    clear_items(grammar)
    add_item(grammar, grammar.rule_starts[grammar.start_rule], 0, 0, 0)
    grammar.undecided = 0
    return intern_row(store, grammar, FIRST_MARK)


@kernel
def intern_row(store, grammar, mark):
    """Row whose kernel is a mark or 0 and the items in progress that are not derived; NO_PARSE_STATE: without items.

    A Leo item whose only content is another Leo item is replaced by it.
    """
    first = store.scratch_top
    if mark != 0:
        push_item(store, mark, mark, mark)
    if grammar.undecided != 0:
        push_item(store, UNDECIDED_MARK, UNDECIDED_MARK, UNDECIDED_MARK)
    edge_first = grammar.edge_first
    state_rules = grammar.state_rules
    start_rule = grammar.start_rule
    for n in range(grammar.n_items):
        items = grammar.items
        state = items[n].state
        if items[n].is_derived != 0:
            continue
        leads_on = state == LEO_ITEM or edge_first[state] < edge_first[state + 1]
        if leads_on and grammar.follows != 0 and state != LEO_ITEM:
            leads_on = edge_first[state] + 1 < edge_first[state + 1] or not is_followed(grammar, edge_first[state])
        if leads_on or (items[n].origin == FIRST_ROW and state_rules[state] == start_rule):
            push_item(store, state, items[n].parameter, items[n].origin)
    n_items = (store.scratch_top - first) // ITEM_INTS
    if n_items == 0 or (mark == LEO_MARK and n_items == 1):
        store.scratch_top = first
        return NO_PARSE_STATE
    if mark == LEO_MARK and n_items == 2 and pushed_item(store, first, 1)[0] == LEO_ITEM:
        store.scratch_top = first
        return pushed_item(store, first, 1)[2]
    sort_items(store, first)
    known = grammar.kernels.count
    row = intern_list(grammar.kernels, store.scratch.address, first, store.scratch_top - first)
    store.scratch_top = first
    if row == known:
        if row >= grammar.max_rows:
            exceed(grammar, LIMIT_ROWS)
        _derive_row(store, grammar, row)
        if has_stopped(store, grammar):
            forget_last_list(grammar.kernels)  # half a row must not be found again
    return row


@kernel
def _derive_row(store, grammar, row):
    """Predict from a new row's kernel, write its scans and waits, and find the lexer state in which it begins."""
    clear_items(grammar)
    add_kernel(grammar, row)
    grammar.undecided = 0
    reserve(grammar.rows, row + 1)
    grammar.rows[row].flags = 0  # of a row that was taken back
    mark = list_item(grammar.kernels, row, 0)
    if mark == UNDECIDED_MARK:
        grammar.rows[row].is_undecided = True
        grammar.rows[row].is_nowhere = grammar.n_items == 0
    found = store.scratch_top
    _predict(store, grammar, row, mark == LEO_MARK)
    _write_entries(store, grammar, row, found)
    store.scratch_top = found
    if grammar.undecided != 0:
        grammar.rows[row].is_undecided = True
    if grammar.names_tokens != 0 and _scans_tokens(store, grammar, row):
        grammar.rows[row].takes_tokens = True
    _find_start(store, grammar, row, mark == LEO_MARK)


@kernel
def _predict(store, grammar, row, is_leo_item):
    """Follow the items in progress to a fixed point; notes (edge, item) for each edge over a lexeme or a rule.

    A Leo item predicts nothing: whoever holds it has what it waits for.
    """
    start_rule = grammar.start_rule
    n = 0
    while n < grammar.n_items and grammar.exceeded == 0:
        state, parameter, origin = item_in_progress(grammar, n)
        n += 1
        if state == LEO_ITEM:
            if grammar.rows[origin].accepts:
                grammar.rows[row].accepts = True
            for at in entries_of(grammar, origin):  # the edges that leave its items, one for all that are alike
                add_item(grammar, LEO_EDGE, grammar.like_edges[grammar.row_entries[at].edge], origin, 1)
            continue
        if state == LEO_EDGE:
            if not is_leo_item and grammar.edges[parameter].kind != EdgeKind.SCAN:
                add_item(grammar, grammar.rule_starts[grammar.edges[parameter].symbol], 0, row, 1)
            push_two(store, parameter, n - 1)
            continue
        if origin == FIRST_ROW and grammar.state_rules[state] == start_rule:
            if may_end(grammar, state, parameter):
                grammar.rows[row].accepts = True
        if origin < row and grammar.rows[origin].tracks:
            grammar.rows[row].tracks = True
        advance_over_nullable(grammar, state, parameter, origin)
        edges = grammar.edges
        for edge in edges_of(grammar, state):
            kind = edges[edge].kind
            if kind == EdgeKind.SKIP or kind == EdgeKind.SKIP_LATE or not passes(grammar, edges[edge].guard, parameter):
                continue
            if kind != EdgeKind.SCAN:
                rule = rule_called(grammar, edge, parameter)
                if rule < 0:
                    continue
                if kind >= EdgeKind.CALL_NEW:
                    note_value(grammar, row, kind, parameter)
                if not is_leo_item:
                    add_item(grammar, grammar.rule_starts[rule], 0, row, 1)
            push_two(store, edge, n - 1)


@inline
def _found(store, first, i):
    """(edge, number of the item) that was found by `_predict`."""
    return store.scratch[first + 2 * i], store.scratch[first + 2 * i + 1]


@kernel
def _write_entries(store, grammar, row, found):
    """Write the scans of a row, then its waits: what was found while predicting."""
    n = (store.scratch_top - found) // 2
    spend(grammar, 32 + 3 * n)
    first = grammar.n_row_entries
    entries = reserve(grammar.row_entries, first + n)
    at = first
    n_scans = 0
    edges = grammar.edges
    for is_wait in range(2):
        for i in range(n):
            edge, number = _found(store, found, i)
            if (edges[edge].kind != EdgeKind.SCAN) == (is_wait != 0):
                item, entry = grammar.items[number], entries[at]
                parameter = SHARED_BY_LEO if item.state == LEO_EDGE else item.parameter
                entry.symbol = rule_called(grammar, edge, parameter) if is_wait != 0 else edges[edge].symbol
                entry.edge, entry.parameter, entry.origin = edge, parameter, item.origin
                at += 1
        if is_wait == 0:
            n_scans = at - first
    grammar.n_row_entries = at
    written = grammar.rows[row]
    written.scans, written.n_scans = first, n_scans
    written.waits, written.n_waits = first + n_scans, n - n_scans


@inline
def _scans_tokens(store, grammar, row):
    """Whether a row names tokens that may come next."""
    for at in scans_of(grammar, row):
        if token_set_of(store, grammar.row_entries[at].symbol) >= 0:
            return True
    return False


@kernel
def _find_start(store, grammar, row, is_leo_item):
    """Write the lexer state in which a row begins; a Leo item is no parse state, and has none."""
    grammar.rows[row].start_after_ignored = 0
    if is_leo_item:
        grammar.rows[row].expected = 0
        grammar.rows[row].start = 0
        return
    expected = _expected_set(store, grammar, row, False)
    grammar.rows[row].expected = expected
    has_scans = row != FIRST_ROW and grammar.rows[row].n_scans > 0
    with_ignored = grammar.ignored != 0 and (grammar.ignored_at_ends != 0 or has_scans)
    if with_ignored and (grammar.rows[row].accepts or not _skip_nothing(grammar, row)):
        expected = _expected_set(store, grammar, row, True)
    grammar.rows[row].start = start_state(store, expected)


@inline
def rule_of_edge(grammar, edge):
    """The rule that an edge belongs to."""
    return grammar.state_rules[grammar.edges[edge].target]


@inline
def scans_of(grammar, row):
    """Numbers of the scans of a row."""
    return range(grammar.rows[row].scans, grammar.rows[row].scans + grammar.rows[row].n_scans)


@inline
def waits_of(grammar, row):
    """Numbers of the waits of a row."""
    return range(grammar.rows[row].waits, grammar.rows[row].waits + grammar.rows[row].n_waits)


@inline
def entries_of(grammar, row):
    """Numbers of the scans and waits of a row."""
    return range(grammar.rows[row].scans, grammar.rows[row].waits + grammar.rows[row].n_waits)


@kernel
def _skip_nothing(grammar, row):
    """True if no scan of the row may be preceded by an ignored lexeme: all are over no_skip edges."""
    if grammar.has_priorities == 0 or grammar.rows[row].n_scans == 0:
        return False
    for at in scans_of(grammar, row):
        if grammar.priorities[grammar.row_entries[at].edge] & 1 == 0:
            return False
    return True


@kernel
def start_after_ignored(store, grammar, row):
    """Lexer state of a row right after an ignored lexeme: another one may not follow."""
    state = grammar.rows[row].start_after_ignored
    if state == 0:
        state = start_state(store, grammar.rows[row].expected)
        if store.exceeded == 0:
            grammar.rows[row].start_after_ignored = state
    return state


@kernel
def _expected_set(store, grammar, row, with_ignored):
    """Set of the lexemes of a row's scans."""
    first = store.scratch_top
    for at in scans_of(grammar, row):
        push(store, grammar.row_entries[at].symbol)
    if with_ignored:
        push(store, list_item(store.lexeme_sets, grammar.ignored, 0))
    sort_scratch(store, first)
    return lexeme_set(store, first)
