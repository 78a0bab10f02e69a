"""Leo items: what follows the end of a right-recursive run, stored once for all rows in which the run ends.

    list: item list tail?       after n items, n runs wait for their tail, and every further row would hold them all

(J. Leo, "A general context-free parsing algorithm running in linear time on every LR(k) grammar without using
lookahead", Theoretical Computer Science 82, 1991.) A Leo item is stored as a row without predictions; it is never a
parse state. Its kernel holds the items after the waits that a completion wakes, and those after the ends that these
have at once; where these are many, they are a Leo item in their turn. So the items of n runs are a chain of n Leo
items, and a row holds the first one as one item, (LEO_ITEM, 0, its number). The row has the scans and waits of a Leo
item, too, SHARED_BY_LEO, one for all over the same lexeme or rule and of the same priority. What follows them is again
a Leo item, found once:

    AFTER | rule    after the runs of a rule that began in a row     the targets of the row's waits
    edge            after edges like it from a Leo item              the targets of its scans or waits over them

Leo leaves the chain out, as all of its runs but the last can do nothing but end; here they may also go on. As with Leo,
one is made only where all waits of the row for the rule belong to one run, so chains do not branch, and only for rules
that call each other in a circle of calls after which a run may end (grammar/tails.py). Few items are taken one by
one instead, and so are all where a row would hold many Leo items. What is on the chain of a Leo item is left out beside
it: so the rows after tails are there already, and only the first tails after n runs take time that grows with n.

A Leo item depends on others of lower numbers only: of runs that began in the row itself, the waits are woken at once.

In: rows, what was completed. Out: items in progress; Leo items, remembered as steps of their rows (`goto`).
Cost: a known one 10 ns, a new one about 1 us.
"""

from ..machine.jit import inline, kernel
from ..regex.nodes import push_two
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import has_stopped, spend
from .guards import after_guard
from .items import (
    LEO_EDGE,
    LEO_ITEM,
    SHARED_BY_LEO,
    add_item,
    advance_over_nullable,
    clear_items,
    find_item,
    item_in_progress,
    kernel_item,
    may_end,
    n_kernel_items,
)
from .rows import LEO_MARK, NO_PARSE_STATE, add_kernel, entries_of, intern_row, rule_of_edge, waits_of

AFTER = 3 << 29  # in the keys of `goto`: numbers of edges, lexeme sets and steps over tokens are smaller
ASKED_INTS = 2  # row, step: on the scratch stack
MOST_COMPARED = 16  # Leo items of a row, where some may hold others, and items of one that are looked at
MOST_STEPS = 8  # along a chain, to find a Leo item that another one holds


@inline
def advance_entry(store, grammar, at):
    """Add the item after a scan or wait whose guard has let it through; `at` is its number in `row_entries`."""
    entry = grammar.row_entries[at]
    if entry.parameter == SHARED_BY_LEO:
        _add_leo_item(store, grammar, entry.origin, entry.edge)
        return
    edge = grammar.edges[entry.edge]
    add_item(grammar, edge.target, after_guard(grammar, edge.guard, entry.parameter), entry.origin, 0)


@inline
def ends_in_leo_item(store, grammar, rule, origin, bound):
    """Add what follows the end of a run as a Leo item, if it is one; only of rows before `bound`."""
    if origin >= bound or not grammar.rule_flags[rule].is_chained:
        return False
    if map_get(grammar.goto, (origin << 32) | AFTER | rule) == MISSING and not _waits_once(grammar, origin, rule):
        return False
    _add_leo_item(store, grammar, origin, AFTER | rule)
    return True


@kernel
def make_leo_items(store, grammar, bottom):
    """Make the Leo items asked for by (row, step) in the scratch items from `bottom` on, and those that they need."""
    while store.scratch_top > bottom:
        top = store.scratch_top
        row, step = store.scratch[top - ASKED_INTS], store.scratch[top - 1]
        if map_get(grammar.goto, (row << 32) | step) == MISSING:
            clear_items(grammar)
            _take_step(store, grammar, row, step)
            _close(store, grammar, row)
            if store.scratch_top > top:
                continue
            normalize_leo_items(grammar)
            leo_item = intern_row(store, grammar, LEO_MARK)
            if has_stopped(store, grammar):
                break
            map_put(grammar.goto, (row << 32) | step, leo_item)
        store.scratch_top = top - ASKED_INTS
    store.scratch_top = bottom


@kernel
def normalize_leo_items(grammar):
    """Leave few Leo items among the items in progress, and nothing beside them that one of them holds."""
    n = _count_leo_items(grammar)
    if n == 0:
        return
    if n <= MOST_COMPARED:
        _drop_held(grammar)
        n = _count_leo_items(grammar)
    if n > grammar.most_leo_items:
        _take_apart(grammar)


@inline
def _add_leo_item(store, grammar, row, step):
    """Add a Leo item, or its items where they are few; ask for it where it is not made yet."""
    leo_item = map_get(grammar.goto, (row << 32) | step)
    if leo_item == MISSING:
        push_two(store, row, step)
    elif leo_item >= 0:
        n = n_kernel_items(grammar, leo_item)
        if n <= grammar.few_items + 1 and kernel_item(grammar, leo_item, n - 1)[0] != LEO_ITEM:
            add_kernel(grammar, leo_item)
        else:
            add_item(grammar, LEO_ITEM, 0, leo_item, 0)


@kernel
def _waits_once(grammar, row, rule):
    """Whether one run waits for a rule in a row, or several that came there by one Leo item."""
    spend(grammar, 1 + (grammar.rows[row].n_waits >> 3))
    found = -1
    for at in waits_of(grammar, row):
        wait = grammar.row_entries[at]
        if wait.symbol != rule:
            continue
        if found >= 0:
            before = grammar.row_entries[found]
            if wait.origin != before.origin or rule_of_edge(grammar, wait.edge) != rule_of_edge(grammar, before.edge):
                return False
            if (wait.parameter == SHARED_BY_LEO) != (before.parameter == SHARED_BY_LEO):
                return False
        found = at
    return found >= 0


@kernel
def _take_step(store, grammar, row, step):
    """Add what follows the waits of a row for a rule, or all scans and waits over edges like one."""
    if step >= AFTER:
        _wake(store, grammar, step - AFTER, row)
        return
    for at in entries_of(grammar, row):
        if grammar.like_edges[grammar.row_entries[at].edge] == step:
            advance_entry(store, grammar, at)


@kernel
def _wake(store, grammar, rule, row):
    spend(grammar, 1 + (grammar.rows[row].n_waits >> 3))
    for at in waits_of(grammar, row):
        if grammar.row_entries[at].symbol == rule:
            advance_entry(store, grammar, at)


@kernel
def _close(store, grammar, bound):
    """Add what follows the ends of the items in progress, and what is reached without taking anything."""
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        state, parameter, origin = item_in_progress(grammar, position)
        position += 1
        if state >= LEO_EDGE:
            continue
        if may_end(grammar, state, parameter):
            rule = grammar.state_rules[state]
            if not ends_in_leo_item(store, grammar, rule, origin, bound):
                _wake(store, grammar, rule, origin)
        advance_over_nullable(grammar, state, parameter, origin)


@inline
def _is_leo_item(grammar, position):
    """Whether an item in progress is a Leo item that is not dropped."""
    item = grammar.items[position]
    return item.state == LEO_ITEM and item.is_derived == 0


@inline
def _count_leo_items(grammar):
    n = 0
    for position in range(grammar.n_items):
        if _is_leo_item(grammar, position):
            n += 1
    return n


@kernel
def _drop_held(grammar):
    """Drop the items that are on the chain of a Leo item beside them."""
    for position in range(grammar.n_items):
        if not _is_leo_item(grammar, position):
            continue
        here = grammar.items[position].origin
        for _ in range(MOST_STEPS):
            here = _drop_items_of(grammar, here)
            if here < 0:
                break


@inline
def _drop_items_of(grammar, leo_item):
    """Drop the items that a Leo item holds; the next one of the chain, or NO_PARSE_STATE."""
    n = n_kernel_items(grammar, leo_item)
    following = NO_PARSE_STATE
    if n > MOST_COMPARED:
        return following
    for i in range(n):
        state, parameter, origin = kernel_item(grammar, leo_item, i)
        found = find_item(grammar, state, parameter, origin)
        if found >= 0:
            grammar.items[found].is_derived = 1
        if state == LEO_ITEM:
            following = origin
    return following


@kernel
def _take_apart(grammar):
    """Replace all Leo items by their items, and so along the chains."""
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        if grammar.items[position].state == LEO_ITEM:
            grammar.items[position].is_derived = 1
            leo_item = grammar.items[position].origin
            for i in range(n_kernel_items(grammar, leo_item)):
                state, parameter, origin = kernel_item(grammar, leo_item, i)
                if state >= 0:
                    add_item(grammar, state, parameter, origin, 1 if state == LEO_ITEM else 0)
        position += 1
