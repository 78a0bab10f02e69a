"""Interned Earley rows: what the parser knows at a place, shared by every place where it knows the same.

    item        (state of a rule, parameter, origin row); the parameter is the run's count or set, see guards.py
    kernel      the items made by the scan and by completions into earlier rows, sorted: the row's identity
    scans       (lexeme, edge, parameter, origin)    for every edge over a lexeme from an item of the row
    waits       (rule, edge, parameter, origin)      for every edge that calls a rule: whom to wake when it completes;
                                                     the rule may be a variant of the edge's, see variants.py

Prediction and skipping over nullable rules (J. Aycock, N. Horspool, "Practical Earley parsing", The Computer Journal
45, 2002) are derived from the kernel and never part of it. Items that start in a row carry the row's own number as
origin. The step from row to row (goto.py) is thus a pure function and remembered; the rows form a graph-structured
stack that all sequences of a grammar share, and a list reaches a fixed point after its first elements.

Scans and waits have passed their edge's guard; the parameter is the one before it.

The items of runs that wait for each other in a chain may be one item, a link (parser/leo_items.py). Links are rows,
too: with the scans and waits of their kernel, without predictions, and nowhere a place. The scans and waits of a link
are also those of the row that holds it, (lexeme or rule, edge, LINKED, link).

A row knows whether a tracked value begins there or goes on there, which is when the text is recorded
(values/transcripts.py): it goes on where an item's origin records. Where the set of an item holds a text that is not
known, the row is UNDECIDED.

In: items in progress. Out: row ids. Cost: a new row about 1 us and 10 ns an item.
"""

from __future__ import annotations

from ..lexer.states import lexeme_set, start_state, token_set_of
from ..machine.jit import kernel, never_inline
from ..regex.nodes import push, scratch
from ..tables.grammar_layout import (
    EDGE_FIRST,
    EDGES,
    EXPECTED,
    HAS_PRIORITIES,
    IGNORED,
    IGNORED_AT_ENDS,
    ITEMS,
    KERNELS,
    LIKE_EDGES,
    MAX_ROWS,
    N_ITEMS,
    N_ROW_POOL,
    NAMES_TOKENS,
    PRIORITIES,
    ROW_POOL,
    ROWS,
    RULE_STARTS,
    START_RULE,
    STATE_RULES,
    UNDECIDED,
)
from ..tables.interning import forget_last_list, intern_list, list_item, list_length, list_offset
from ..tables.memory import EXCEEDED, block, ensure, exceed, get_i32, put_i32, spend
from ..tables.store_layout import LEXEME_SETS, LIMIT_ROWS, SCRATCH, SCRATCH_TOP
from ..values.variants import has_unknown
from .guards import passes
from .items import (
    CALL_MANY,
    CALL_NEW,
    CALL_PLAIN,
    LINK,
    LINK_EDGE,
    LINKED,
    SCAN,
    SKIP,
    SKIP_LATE,
    add_item,
    advance_free,
    clear_items,
    may_end,
    rule_called,
    sort_items,
)

ROW_FIELDS = 8
R_SCANS = 0  # first scan in ROW_POOL
R_N_SCANS = 1
R_WAITS = 2
R_N_WAITS = 3
R_EXPECTED = 4  # set of the lexemes that its items scan
R_START = 5  # lexer state at the row, the ignored lexeme included where it may stand
R_BARE_START = 6  # lexer state right after an ignored lexeme, 0 = not made yet
R_FLAGS = 7
ACCEPTS = 1  # flags: the document may end here
BEGINS = 2  # a tracked value may begin here
RECORDS_HERE = 4  # and so it may, or one goes on
IS_UNDECIDED = 8  # something may follow or not, a text decides
IS_TENTATIVE = 32  # a value may begin here of which one text more is left out than is known
IS_LIMITED = 64  # there may be few of them
IS_NOWHERE = 16  # and nothing certainly does: the step to the row may be refused
TAKES_TOKENS = 128  # it names tokens that may come next, see parser/token_terminals.py
FIRST_ROW = 0
NO_PLACE = -3  # a step that leads nowhere
UNDECIDED_MARK = -2  # in the kernel of rows that may have more items
LINK_MARK = -3  # in the kernel of links
FIRST_MARK = -1  # in the kernel of row 0, where white space may be forbidden: no later row is the same


@kernel
def row_field(grammar, row, name):
    return get_i32(block(grammar, ROWS), row * ROW_FIELDS + name)


@kernel
def has_flag_of_row(grammar, row, flag):
    return row_field(grammar, row, R_FLAGS) & flag != 0


@kernel
def add_kernel(grammar, row):
    """Add the items of a row's kernel to the row in progress."""
    never_inline()
    offset = list_offset(grammar, KERNELS, row)
    for i in range(0, list_length(grammar, KERNELS, row), 3):
        pool = block(grammar, KERNELS + 1)
        if get_i32(pool, offset + i) >= 0:
            add_item(
                grammar, get_i32(pool, offset + i), get_i32(pool, offset + i + 1), get_i32(pool, offset + i + 2), 0
            )


@kernel
def first_row(store, grammar):
    """Make row 0: the start rule predicted, nothing read."""
    never_inline()
    clear_items(grammar)
    add_item(grammar, get_i32(block(grammar, RULE_STARTS), grammar[START_RULE]), 0, 0, 0)
    grammar[UNDECIDED] = 0
    return intern_row(store, grammar, FIRST_MARK)


@kernel
def intern_row(store, grammar, mark):
    """Row whose kernel is a mark or 0 and the items in progress that are not derived; NO_PLACE where there are none.

    A link that holds nothing but another one is that one.
    """
    never_inline()
    first = store[SCRATCH_TOP]
    if mark != 0:
        for _ in range(3):
            push(store, mark)
    if grammar[UNDECIDED] != 0:
        for _ in range(3):
            push(store, UNDECIDED_MARK)
    edge_first = block(grammar, EDGE_FIRST)
    state_rules = block(grammar, STATE_RULES)
    start_rule = grammar[START_RULE]
    for n in range(grammar[N_ITEMS]):
        items = block(grammar, ITEMS)
        state = get_i32(items, 4 * n)
        if get_i32(items, 4 * n + 3) != 0:
            continue
        leads_on = state == LINK or get_i32(edge_first, state) < get_i32(edge_first, state + 1)
        if leads_on or (get_i32(items, 4 * n + 2) == FIRST_ROW and get_i32(state_rules, state) == start_rule):
            push(store, state)
            push(store, get_i32(items, 4 * n + 1))
            push(store, get_i32(items, 4 * n + 2))
    n_items = (store[SCRATCH_TOP] - first) // 3
    if n_items == 0 or (mark == LINK_MARK and n_items == 1):
        store[SCRATCH_TOP] = first
        return NO_PLACE
    if mark == LINK_MARK and n_items == 2 and scratch(store, first + 3) == LINK:
        store[SCRATCH_TOP] = first
        return scratch(store, first + 5)
    sort_items(store, first)
    known = grammar[KERNELS + 3]
    row = intern_list(grammar, KERNELS, block(store, SCRATCH), first, store[SCRATCH_TOP] - first)
    store[SCRATCH_TOP] = first
    if row == known:
        if row >= grammar[MAX_ROWS]:
            exceed(grammar, LIMIT_ROWS)
        _derive_row(store, grammar, row)
        if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
            forget_last_list(grammar, KERNELS)  # half a row must not be found again
    return row


@kernel
def _derive_row(store, grammar, row):
    """Predict from a new row's kernel and write its scans and waits."""
    never_inline()
    clear_items(grammar)
    add_kernel(grammar, row)
    grammar[UNDECIDED] = 0
    flags = 0
    if get_i32(block(grammar, KERNELS + 1), list_offset(grammar, KERNELS, row)) == UNDECIDED_MARK:
        flags = IS_UNDECIDED if grammar[N_ITEMS] > 0 else IS_UNDECIDED | IS_NOWHERE
    is_link = get_i32(block(grammar, KERNELS + 1), list_offset(grammar, KERNELS, row)) == LINK_MARK
    start_rule = grammar[START_RULE]
    scans = store[SCRATCH_TOP]
    position = 0
    while position < grammar[N_ITEMS] and grammar[EXCEEDED] == 0:
        items = block(grammar, ITEMS)
        state = get_i32(items, 4 * position)
        parameter = get_i32(items, 4 * position + 1)
        origin = get_i32(items, 4 * position + 2)
        if state >= LINK_EDGE:
            if state == LINK:
                flags |= row_field(grammar, origin, R_FLAGS) & ACCEPTS
                _add_link_edges(grammar, origin)
            else:
                rule = get_i32(block(grammar, EDGES), 4 * parameter + 1)
                if not is_link and get_i32(block(grammar, EDGES), 4 * parameter) != SCAN:
                    add_item(grammar, get_i32(block(grammar, RULE_STARTS), rule), 0, row, 1)
                push(store, parameter)
                push(store, position)
            position += 1
            continue
        if origin == FIRST_ROW and get_i32(block(grammar, STATE_RULES), state) == start_rule:
            if may_end(grammar, state, parameter):
                flags |= ACCEPTS
        if origin < row:
            flags |= row_field(grammar, origin, R_FLAGS) & RECORDS_HERE
        advance_free(grammar, state, parameter, origin)
        edge_first = block(grammar, EDGE_FIRST)
        edges = block(grammar, EDGES)
        for edge in range(get_i32(edge_first, state), get_i32(edge_first, state + 1)):
            kind = get_i32(edges, 4 * edge)
            if kind == SKIP or kind == SKIP_LATE:
                continue
            if not passes(grammar, get_i32(edges, 4 * edge + 3), parameter):
                continue
            if kind != SCAN:
                rule = rule_called(grammar, edge, parameter)
                if rule < 0:
                    continue
                if kind >= CALL_NEW:
                    flags |= BEGINS | RECORDS_HERE
                    if (kind == CALL_PLAIN or kind == CALL_MANY) and has_unknown(grammar, parameter):
                        flags |= IS_TENTATIVE if kind == CALL_MANY else IS_TENTATIVE | IS_LIMITED
                if not is_link:
                    add_item(grammar, get_i32(block(grammar, RULE_STARTS), rule), 0, row, 1)
            push(store, edge)
            push(store, position)
        position += 1
    n = (store[SCRATCH_TOP] - scans) // 2
    spend(grammar, 32 + 3 * n)
    offset = grammar[N_ROW_POOL]
    pool = ensure(grammar, ROW_POOL, (offset + 4 * n) * 4)
    at = offset
    n_scans = 0
    items = block(grammar, ITEMS)
    edges = block(grammar, EDGES)
    for is_wait in range(2):
        for i in range(n):
            edge = scratch(store, scans + 2 * i)
            if (get_i32(edges, 4 * edge) != SCAN) == (is_wait != 0):
                item = 4 * scratch(store, scans + 2 * i + 1)
                parameter = LINKED if get_i32(items, item) == LINK_EDGE else get_i32(items, item + 1)
                symbol = get_i32(edges, 4 * edge + 1)
                put_i32(pool, at, symbol if is_wait == 0 else rule_called(grammar, edge, parameter))
                put_i32(pool, at + 1, edge)
                put_i32(pool, at + 2, parameter)
                put_i32(pool, at + 3, get_i32(items, item + 2))
                at += 4
        if is_wait == 0:
            n_scans = (at - offset) // 4
    grammar[N_ROW_POOL] = at
    store[SCRATCH_TOP] = scans
    rows = ensure(grammar, ROWS, (row + 1) * ROW_FIELDS * 4)
    base = row * ROW_FIELDS
    put_i32(rows, base + R_SCANS, offset)
    put_i32(rows, base + R_N_SCANS, n_scans)
    put_i32(rows, base + R_WAITS, offset + 4 * n_scans)
    put_i32(rows, base + R_N_WAITS, n - n_scans)
    if grammar[UNDECIDED] != 0:
        flags |= IS_UNDECIDED
    if grammar[NAMES_TOKENS] != 0:
        for i in range(n_scans):
            if token_set_of(store, get_i32(pool, offset + 4 * i)) >= 0:
                flags |= TAKES_TOKENS
    put_i32(rows, base + R_FLAGS, flags)
    if is_link:
        for name in (R_EXPECTED, R_START, R_BARE_START):
            put_i32(rows, base + name, 0)
        return
    expected = _expected_set(store, grammar, offset, n_scans, False)
    put_i32(rows, base + R_EXPECTED, expected)
    with_ignored = grammar[IGNORED] != 0 and (grammar[IGNORED_AT_ENDS] != 0 or (row != FIRST_ROW and n_scans > 0))
    if with_ignored and not (flags & ACCEPTS == 0 and _are_bare(grammar, offset, n_scans)):
        put_i32(rows, base + R_START, start_state(store, _expected_set(store, grammar, offset, n_scans, True)))
    else:
        put_i32(rows, base + R_START, start_state(store, expected))


@kernel
def _add_link_edges(grammar, link):
    """Add the edges that leave items of a link, one for all that are alike."""
    never_inline()
    for is_wait in range(2):
        first = row_field(grammar, link, R_WAITS if is_wait != 0 else R_SCANS)
        n = row_field(grammar, link, R_N_WAITS if is_wait != 0 else R_N_SCANS)
        for at in range(first, first + 4 * n, 4):
            edge = get_i32(block(grammar, LIKE_EDGES), get_i32(block(grammar, ROW_POOL), at + 1))
            add_item(grammar, LINK_EDGE, edge, link, 1)


@kernel
def _are_bare(grammar, first_scan, n_scans):
    """Whether nothing ignored may stand before any of a row's scans."""
    never_inline()
    if grammar[HAS_PRIORITIES] == 0 or n_scans == 0:
        return False
    for i in range(n_scans):
        edge = get_i32(block(grammar, ROW_POOL), first_scan + 4 * i + 1)
        if get_i32(block(grammar, PRIORITIES), edge) & 1 == 0:
            return False
    return True


@kernel
def bare_start(store, grammar, row):
    """Lexer state of a row right after an ignored lexeme: another one may not follow."""
    never_inline()
    state = row_field(grammar, row, R_BARE_START)
    if state == 0:
        state = start_state(store, row_field(grammar, row, R_EXPECTED))
        if store[EXCEEDED] == 0:
            put_i32(block(grammar, ROWS), row * ROW_FIELDS + R_BARE_START, state)
    return state


@kernel
def _expected_set(store, grammar, first_scan, n_scans, with_ignored):
    """Set of the lexemes of a row's scans."""
    never_inline()
    n = n_scans
    work = ensure(grammar, EXPECTED, (n + 1) * 4)
    pool = block(grammar, ROW_POOL)
    for i in range(n):
        put_i32(work, i, get_i32(pool, first_scan + 4 * i))
    if with_ignored:
        put_i32(work, n, list_item(store, LEXEME_SETS, grammar[IGNORED], 0))
        n += 1
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item = get_i32(work, i)
            j = i
            while j >= gap and get_i32(work, j - gap) > item:
                put_i32(work, j, get_i32(work, j - gap))
                j -= gap
            put_i32(work, j, item)
        gap //= 3
    first = store[SCRATCH_TOP]
    for i in range(n):
        item = get_i32(work, i)
        if i == 0 or get_i32(work, i - 1) != item:
            push(store, item)
    return lexeme_set(store, first)
