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

In: rows, what was completed. Out: items in progress; links, which are remembered as steps of their rows (GOTO).
Cost: a known link 10 ns, a new one about 1 us.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..regex.nodes import push, scratch
from ..tables.grammar_layout import (
    EDGES,
    FEW_ITEMS,
    GOTO,
    ITEMS,
    KERNELS,
    LIKE_EDGES,
    MOST_LINKS,
    N_ITEMS,
    ROW_POOL,
    RULE_FLAGS,
    STATE_RULES,
)
from ..tables.interning import MISSING, list_length, list_offset, map_get, map_put
from ..tables.memory import EXCEEDED, block, get_i32, put_i32, spend
from ..tables.store_layout import SCRATCH_TOP
from ..values.variants import CHAINED
from .guards import behind
from .items import LINK, LINK_EDGE, LINKED, add_item, advance_free, clear_items, find_item, may_end
from .rows import LINK_MARK, NO_PLACE, R_N_SCANS, R_N_WAITS, R_SCANS, R_WAITS, add_kernel, intern_row, row_field

AFTER = 3 << 29  # in the keys of GOTO: numbers of edges, lexeme sets and steps over tokens are smaller
MOST_COMPARED = 16  # links of a row of which some may hold others, and items of a link that are looked at
MOST_STEPS = 8  # along a chain, when it is looked for a link that another one holds


@kernel
def take_entry(store, grammar, at):
    """Add what stands behind a scan or wait whose guard has let it through; `at` is its place in ROW_POOL."""
    pool = block(grammar, ROW_POOL)
    edge = get_i32(pool, at + 1)
    parameter = get_i32(pool, at + 2)
    origin = get_i32(pool, at + 3)
    if parameter == LINKED:
        _add_link(store, grammar, origin, edge)
        return
    edges = block(grammar, EDGES)
    after = behind(grammar, get_i32(edges, 4 * edge + 3), parameter)
    add_item(grammar, get_i32(edges, 4 * edge + 2), after, origin, 0)


@kernel
def ends_in_link(store, grammar, rule, origin, bound):
    """Add what stands behind the end of a run as a link, if it is one; only of rows before `bound`."""
    if origin >= bound or get_i32(block(grammar, RULE_FLAGS), rule) & CHAINED == 0:
        return False
    if map_get(grammar, GOTO, (origin << 32) | AFTER | rule) == MISSING and not _waits_once(grammar, origin, rule):
        return False
    _add_link(store, grammar, origin, AFTER | rule)
    return True


@kernel
def make_links(store, grammar, bottom):
    """Make the links that are asked for by (row, step) in the scratch items from `bottom` on, and what these need."""
    never_inline()
    while store[SCRATCH_TOP] > bottom:
        top = store[SCRATCH_TOP]
        row = scratch(store, top - 2)
        step = scratch(store, top - 1)
        if map_get(grammar, GOTO, (row << 32) | step) == MISSING:
            clear_items(grammar)
            _take_step(store, grammar, row, step)
            _close(store, grammar, row)
            if store[SCRATCH_TOP] > top:
                continue
            settle(grammar)
            link = intern_row(store, grammar, LINK_MARK)
            if grammar[EXCEEDED] != 0 or store[EXCEEDED] != 0:
                break
            map_put(grammar, GOTO, (row << 32) | step, link)
        store[SCRATCH_TOP] = top - 2
    store[SCRATCH_TOP] = bottom


@kernel
def settle(grammar):
    """Leave only few links in the items in progress, and nothing beside them that one of them holds."""
    never_inline()
    n = _count_links(grammar)
    if n == 0:
        return
    if n <= MOST_COMPARED:
        _drop_held(grammar)
        n = _count_links(grammar)
    if n > grammar[MOST_LINKS]:
        _take_apart(grammar)


@kernel
def _add_link(store, grammar, row, step):
    """Add a link, or its items where they are few; ask for it where it is not made yet."""
    link = map_get(grammar, GOTO, (row << 32) | step)
    if link == MISSING:
        push(store, row)
        push(store, step)
    elif link >= 0:
        n = list_length(grammar, KERNELS, link)
        last = list_offset(grammar, KERNELS, link) + n - 3
        if n <= 3 * (grammar[FEW_ITEMS] + 1) and get_i32(block(grammar, KERNELS + 1), last) != LINK:
            add_kernel(grammar, link)
        else:
            add_item(grammar, LINK, 0, link, 0)


@kernel
def _waits_once(grammar, row, rule):
    """Whether one run waits for a rule in a row, or several that came there by one link."""
    never_inline()
    pool = block(grammar, ROW_POOL)
    edges = block(grammar, EDGES)
    first = row_field(grammar, row, R_WAITS)
    spend(grammar, 1 + (row_field(grammar, row, R_N_WAITS) >> 3))
    found = -1
    for at in range(first, first + 4 * row_field(grammar, row, R_N_WAITS), 4):
        if get_i32(pool, at) != rule:
            continue
        if found >= 0:
            if get_i32(pool, at + 3) != get_i32(pool, found + 3):
                return False
            if (get_i32(pool, at + 2) == LINKED) != (get_i32(pool, found + 2) == LINKED):
                return False
            target = get_i32(edges, 4 * get_i32(pool, at + 1) + 2)
            other = get_i32(edges, 4 * get_i32(pool, found + 1) + 2)
            if get_i32(block(grammar, STATE_RULES), target) != get_i32(block(grammar, STATE_RULES), other):
                return False
        found = at
    return found >= 0


@kernel
def _take_step(store, grammar, row, step):
    """Add what stands behind the waits of a row for a rule, or behind all scans and waits over edges like one."""
    never_inline()
    if step >= AFTER:
        _wake(store, grammar, step - AFTER, row)
        return
    for is_wait in range(2):
        first = row_field(grammar, row, R_WAITS if is_wait != 0 else R_SCANS)
        n = row_field(grammar, row, R_N_WAITS if is_wait != 0 else R_N_SCANS)
        for at in range(first, first + 4 * n, 4):
            if get_i32(block(grammar, LIKE_EDGES), get_i32(block(grammar, ROW_POOL), at + 1)) == step:
                take_entry(store, grammar, at)


@kernel
def _wake(store, grammar, rule, row):
    never_inline()
    first = row_field(grammar, row, R_WAITS)
    spend(grammar, 1 + (row_field(grammar, row, R_N_WAITS) >> 3))
    for at in range(first, first + 4 * row_field(grammar, row, R_N_WAITS), 4):
        if get_i32(block(grammar, ROW_POOL), at) == rule:
            take_entry(store, grammar, at)


@kernel
def _close(store, grammar, bound):
    """Add what stands behind the ends of the items of a link, and what is reached without taking anything."""
    never_inline()
    position = 0
    while position < grammar[N_ITEMS] and grammar[EXCEEDED] == 0:
        items = block(grammar, ITEMS)
        state = get_i32(items, 4 * position)
        parameter = get_i32(items, 4 * position + 1)
        origin = get_i32(items, 4 * position + 2)
        position += 1
        if state >= LINK_EDGE:
            continue
        if may_end(grammar, state, parameter):
            rule = get_i32(block(grammar, STATE_RULES), state)
            if not ends_in_link(store, grammar, rule, origin, bound):
                _wake(store, grammar, rule, origin)
        advance_free(grammar, state, parameter, origin)


@kernel
def _is_link(grammar, position):
    """Whether an item in progress is a link that is not dropped."""
    items = block(grammar, ITEMS)
    return get_i32(items, 4 * position) == LINK and get_i32(items, 4 * position + 3) == 0


@kernel
def _count_links(grammar):
    n = 0
    for position in range(grammar[N_ITEMS]):
        if _is_link(grammar, position):
            n += 1
    return n


@kernel
def _drop_held(grammar):
    """Drop the items that stand on the chain of a link beside them."""
    never_inline()
    for position in range(grammar[N_ITEMS]):
        if not _is_link(grammar, position):
            continue
        here = get_i32(block(grammar, ITEMS), 4 * position + 2)
        for _ in range(MOST_STEPS):
            here = _drop_items_of(grammar, here)
            if here < 0:
                break


@kernel
def _drop_items_of(grammar, link):
    """Drop the items that a link holds; the next link of the chain, or NO_PLACE."""
    n = list_length(grammar, KERNELS, link)
    if n > 3 * MOST_COMPARED:
        return NO_PLACE
    following = NO_PLACE
    offset = list_offset(grammar, KERNELS, link)
    pool = block(grammar, KERNELS + 1)
    for at in range(offset, offset + n, 3):
        state = get_i32(pool, at)
        origin = get_i32(pool, at + 2)
        found = find_item(grammar, state, get_i32(pool, at + 1), origin)
        if found >= 0:
            put_i32(block(grammar, ITEMS), 4 * found + 3, 1)
        if state == LINK:
            following = origin
    return following


@kernel
def _take_apart(grammar):
    """Put the items of all links, and of those on their chains, in their place."""
    never_inline()
    position = 0
    while position < grammar[N_ITEMS] and grammar[EXCEEDED] == 0:
        if get_i32(block(grammar, ITEMS), 4 * position) == LINK:
            put_i32(block(grammar, ITEMS), 4 * position + 3, 1)
            link = get_i32(block(grammar, ITEMS), 4 * position + 2)
            offset = list_offset(grammar, KERNELS, link)
            for i in range(offset, offset + list_length(grammar, KERNELS, link), 3):
                pool = block(grammar, KERNELS + 1)
                state = get_i32(pool, i)
                if state >= 0:
                    derived = 1 if state == LINK else 0
                    add_item(grammar, state, get_i32(pool, i + 1), get_i32(pool, i + 2), derived)
        position += 1
