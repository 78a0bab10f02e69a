"""Links: what stands behind the end of a run, shared by all rows where such a run ends.

    list: item list tail?       after n items, n runs wait for their tail, and every further row would hold them all

A link is a row without predictions. Its kernel holds the items behind the waits that a completion wakes, and those
behind the ends that these have at once; where that are many, they are a link in their turn. So the items of n runs are
a chain of n links, of which a row holds the first one as one item (LINK, 0, link). A scan or wait of a link is one of
the row, too, marked LINKED, one for all over the same lexeme or rule and of the same priority; what stands behind it is
again a link, found once:

    AFTER | rule    behind the runs of a rule that began in a row    the targets of the row's waits
    edge            behind edges like it from a link                 the targets of the link's scans or waits over them

These are J. Leo's transitive items ("A general context-free parsing algorithm running in linear time on every LR(k)
grammar without using lookahead", Theoretical Computer Science 82, 1991), which leave the chain out, as all of its runs
but the last one can do nothing but end; here they may also go on. As with Leo, a link is made only where all waits of
the row for the rule are those of one run, so chains do not branch, and only for rules that call each other in a circle
of calls behind which a run may end (grammar/chained.py). Links of few items are not worth it: those are taken one by
one, and so are all where a row would hold many links. What stands on the chain of a link is left out beside it: so the
rows behind tails are links that are there already, and only the first tails behind n runs take time that grows with n.

A link depends on links of lower numbers only: of runs that began in the row itself, the waits are woken at once.

In: rows, what was completed. Out: items in progress; links, which are remembered as steps of their rows (`goto`).
Cost: a known link 10 ns, a new one about 1 us.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..regex.nodes import push
from ..tables.interning import MISSING, list_length, list_offset, map_get, map_put
from ..tables.memory import spend
from .guards import behind
from .items import LINK, LINK_EDGE, LINKED, add_item, advance_free, clear_items, find_item, may_end
from .rows import LINK_MARK, NO_PLACE, add_kernel, entries_of, intern_row

AFTER = 3 << 29  # in the keys of `goto`: numbers of edges, lexeme sets and steps over tokens are smaller
MOST_COMPARED = 16  # links of a row of which some may hold others, and items of a link that are looked at
MOST_STEPS = 8  # along a chain, when it is looked for a link that another one holds


@inline
def take_entry(store, grammar, at):
    """Add what stands behind a scan or wait whose guard has let it through; `at` is its place in `row_entries`."""
    entries = grammar.row_entries
    edge = entries[at].edge
    parameter = entries[at].parameter
    origin = entries[at].origin
    if parameter == LINKED:
        _add_link(store, grammar, origin, edge)
        return
    edges = grammar.edges
    after = behind(grammar, edges[edge].guard, parameter)
    add_item(grammar, edges[edge].target, after, origin, 0)


@inline
def ends_in_link(store, grammar, rule, origin, bound):
    """Add what stands behind the end of a run as a link, if it is one; only of rows before `bound`."""
    if origin >= bound or not grammar.rule_flags[rule].is_chained:
        return False
    if map_get(grammar.goto, (origin << 32) | AFTER | rule) == MISSING and not _waits_once(grammar, origin, rule):
        return False
    _add_link(store, grammar, origin, AFTER | rule)
    return True


@kernel
def make_links(store, grammar, bottom):
    """Make the links that are asked for by (row, step) in the scratch items from `bottom` on, and what these need."""
    while store.scratch_top > bottom:
        top = store.scratch_top
        row = store.scratch[top - 2]
        step = store.scratch[top - 1]
        if map_get(grammar.goto, (row << 32) | step) == MISSING:
            clear_items(grammar)
            _take_step(store, grammar, row, step)
            _close(store, grammar, row)
            if store.scratch_top > top:
                continue
            settle(grammar)
            link = intern_row(store, grammar, LINK_MARK)
            if grammar.exceeded != 0 or store.exceeded != 0:
                break
            map_put(grammar.goto, (row << 32) | step, link)
        store.scratch_top = top - 2
    store.scratch_top = bottom


@kernel
def settle(grammar):
    """Leave only few links in the items in progress, and nothing beside them that one of them holds."""
    n = _count_links(grammar)
    if n == 0:
        return
    if n <= MOST_COMPARED:
        _drop_held(grammar)
        n = _count_links(grammar)
    if n > grammar.most_links:
        _take_apart(grammar)


@inline
def _add_link(store, grammar, row, step):
    """Add a link, or its items where they are few; ask for it where it is not made yet."""
    link = map_get(grammar.goto, (row << 32) | step)
    if link == MISSING:
        push(store, row)
        push(store, step)
    elif link >= 0:
        n = list_length(grammar.kernels, link)
        last = list_offset(grammar.kernels, link) + n - 3
        if n <= 3 * (grammar.few_items + 1) and grammar.kernels.pool[last] != LINK:
            add_kernel(grammar, link)
        else:
            add_item(grammar, LINK, 0, link, 0)


@kernel
def _waits_once(grammar, row, rule):
    """Whether one run waits for a rule in a row, or several that came there by one link."""
    entries = grammar.row_entries
    edges = grammar.edges
    first = grammar.rows[row].waits
    spend(grammar, 1 + (grammar.rows[row].n_waits >> 3))
    found = -1
    for at in range(first, first + grammar.rows[row].n_waits):
        if entries[at].symbol != rule:
            continue
        if found >= 0:
            if entries[at].origin != entries[found].origin:
                return False
            if (entries[at].parameter == LINKED) != (entries[found].parameter == LINKED):
                return False
            target = edges[entries[at].edge].target
            other = edges[entries[found].edge].target
            if grammar.state_rules[target] != grammar.state_rules[other]:
                return False
        found = at
    return found >= 0


@kernel
def _take_step(store, grammar, row, step):
    """Add what stands behind the waits of a row for a rule, or behind all scans and waits over edges like one."""
    if step >= AFTER:
        _wake(store, grammar, step - AFTER, row)
        return
    for at in entries_of(grammar, row):
        if grammar.like_edges[grammar.row_entries[at].edge] == step:
            take_entry(store, grammar, at)


@kernel
def _wake(store, grammar, rule, row):
    first = grammar.rows[row].waits
    spend(grammar, 1 + (grammar.rows[row].n_waits >> 3))
    for at in range(first, first + grammar.rows[row].n_waits):
        if grammar.row_entries[at].symbol == rule:
            take_entry(store, grammar, at)


@kernel
def _close(store, grammar, bound):
    """Add what stands behind the ends of the items of a link, and what is reached without taking anything."""
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        items = grammar.items
        state = items[position].state
        parameter = items[position].parameter
        origin = items[position].origin
        position += 1
        if state >= LINK_EDGE:
            continue
        if may_end(grammar, state, parameter):
            rule = grammar.state_rules[state]
            if not ends_in_link(store, grammar, rule, origin, bound):
                _wake(store, grammar, rule, origin)
        advance_free(grammar, state, parameter, origin)


@inline
def _is_link(grammar, position):
    """Whether an item in progress is a link that is not dropped."""
    items = grammar.items
    return items[position].state == LINK and items[position].is_derived == 0


@inline
def _count_links(grammar):
    n = 0
    for position in range(grammar.n_items):
        if _is_link(grammar, position):
            n += 1
    return n


@kernel
def _drop_held(grammar):
    """Drop the items that stand on the chain of a link beside them."""
    for position in range(grammar.n_items):
        if not _is_link(grammar, position):
            continue
        here = grammar.items[position].origin
        for _ in range(MOST_STEPS):
            here = _drop_items_of(grammar, here)
            if here < 0:
                break


@inline
def _drop_items_of(grammar, link):
    """Drop the items that a link holds; the next link of the chain, or NO_PLACE."""
    n = list_length(grammar.kernels, link)
    if n > 3 * MOST_COMPARED:
        return NO_PLACE
    following = NO_PLACE
    offset = list_offset(grammar.kernels, link)
    pool = grammar.kernels.pool
    for at in range(offset, offset + n, 3):
        state = pool[at]
        origin = pool[at + 2]
        found = find_item(grammar, state, pool[at + 1], origin)
        if found >= 0:
            grammar.items[found].is_derived = 1
        if state == LINK:
            following = origin
    return following


@kernel
def _take_apart(grammar):
    """Put the items of all links, and of those on their chains, in their place."""
    position = 0
    while position < grammar.n_items and grammar.exceeded == 0:
        if grammar.items[position].state == LINK:
            grammar.items[position].is_derived = 1
            link = grammar.items[position].origin
            offset = list_offset(grammar.kernels, link)
            for i in range(offset, offset + list_length(grammar.kernels, link), 3):
                pool = grammar.kernels.pool
                state = pool[i]
                if state >= 0:
                    derived = 1 if state == LINK else 0
                    add_item(grammar, state, pool[i + 1], pool[i + 2], derived)
        position += 1
