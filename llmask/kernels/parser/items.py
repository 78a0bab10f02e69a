"""Items of the Earley row in progress: a set of (state of a rule, parameter, origin row), found again by hash.

    (LEO_ITEM, 0, number)     all items of a Leo item, see leo_items.py
    (LEO_EDGE, edge, number)  the items of it that the edge leaves; while scans and waits are written

In: a grammar's table. Out: slots `items`, `n_items` and `item_index`. Cost: 15 ns an item.
"""

from ..machine.jit import inline, kernel
from ..regex.nodes import push
from ..tables.interning import list_length, list_offset, mix
from ..tables.kinds import EdgeKind
from ..tables.memory import exceed, fill_bytes, reserve, spend
from ..tables.store_layout import LIMIT_ITEMS
from ..values.called_rules import late_state
from .guards import after_guard, passes

LEO_ITEM = 2**31 - 1  # in place of a state
LEO_EDGE = LEO_ITEM - 1
SHARED_BY_LEO = -1  # in place of the parameter of scans and waits
FIRST_INDEX_SIZE = 64


@kernel
def clear_items(grammar):
    grammar.n_items = 0
    index = reserve(grammar.item_index, FIRST_INDEX_SIZE)
    fill_bytes(index.address, FIRST_INDEX_SIZE * 4, 0)
    grammar.item_index_size = FIRST_INDEX_SIZE


@inline
def _slot_of(grammar, state, parameter, origin):
    """Where an item is in the index, or the free slot where it would be."""
    index = grammar.item_index
    items = grammar.items
    mask = grammar.item_index_size - 1
    slot = mix(mix(mix(3, state), parameter), origin) & mask
    while True:
        entry = index[slot] - 1
        if entry < 0 or (
            items[entry].state == state and items[entry].parameter == parameter and items[entry].origin == origin
        ):
            return slot
        slot = (slot + 1) & mask


@inline
def item_in_progress(grammar, position):
    """(state, parameter, origin) of an item of the row in progress."""
    item = grammar.items[position]
    return item.state, item.parameter, item.origin


@inline
def find_item(grammar, state, parameter, origin):
    """Position of an item of the row in progress, -1 where it is not there."""
    return grammar.item_index[_slot_of(grammar, state, parameter, origin)] - 1


@kernel
def add_item(grammar, state, parameter, origin, derived):
    """Add an item to the row in progress; an item found twice is derived only if it was so both times."""
    spend(grammar, 1)
    slot = _slot_of(grammar, state, parameter, origin)
    entry = grammar.item_index[slot] - 1
    if entry >= 0:
        if derived == 0:
            grammar.items[entry].is_derived = 0
        return
    n = grammar.n_items
    if n >= grammar.max_items:
        exceed(grammar, LIMIT_ITEMS)
        return
    item = reserve(grammar.items, n + 1)[n]
    item.state, item.parameter, item.origin, item.is_derived = state, parameter, origin, derived
    grammar.n_items = n + 1
    grammar.item_index[slot] = n + 1
    if 2 * (n + 1) >= grammar.item_index_size:
        _grow_item_index(grammar)


@kernel
def _grow_item_index(grammar):
    size = 2 * grammar.item_index_size
    grammar.item_index_size = size
    index = reserve(grammar.item_index, size)
    fill_bytes(index.address, size * 4, 0)
    mask = size - 1
    items = grammar.items
    for n in range(grammar.n_items):
        slot = mix(mix(mix(3, items[n].state), items[n].parameter), items[n].origin) & mask
        while index[slot] != 0:
            slot = (slot + 1) & mask
        index[slot] = n + 1


@inline
def may_end(grammar, state, parameter):
    guard = grammar.state_finals[state]
    return guard != 0 and passes(grammar, guard - 1, parameter)


@inline
def edges_of(grammar, state):
    """Numbers of the edges that leave a state."""
    return range(grammar.edge_first[state], grammar.edge_first[state + 1])


@inline
def takes_nothing(grammar, edge):
    """Whether an edge is a skip that is written, or calls a nullable rule."""
    return edge.kind == EdgeKind.SKIP or (edge.kind == EdgeKind.CALL and grammar.rule_flags[edge.symbol].is_nullable)


@kernel
def advance_over_nullable(grammar, state, parameter, origin):
    """Add what an item reaches without taking anything: skips, also late ones, and calls of nullable rules."""
    edges = grammar.edges
    for number in edges_of(grammar, state):
        edge = edges[number]
        if edge.kind == EdgeKind.SKIP_LATE:
            target = late_state(grammar, edge.symbol)
            if target < 0:
                return
            add_item(grammar, target, parameter, origin, 1)
        elif takes_nothing(grammar, edge) and passes(grammar, edge.guard, parameter):
            add_item(grammar, edge.target, after_guard(grammar, edge.guard, parameter), origin, 1)


ITEM_INTS = 3  # state, parameter, origin: an item of a kernel, and on the scratch stack


@inline
def n_kernel_items(grammar, row):
    """Number of items in a row's kernel, marks included."""
    return list_length(grammar.kernels, row) // ITEM_INTS


@inline
def kernel_item(grammar, row, i):
    """(state, parameter, origin) of an item of a row's kernel."""
    return _item_at(grammar.kernels.pool, list_offset(grammar.kernels, row), i)


@inline
def pushed_item(store, first, i):
    """(state, parameter, origin) of an item in the scratch items from `first`."""
    return _item_at(store.scratch, first, i)


@inline
def _item_at(ints, first, i):
    at = first + ITEM_INTS * i
    return ints[at], ints[at + 1], ints[at + 2]


@inline
def _write_item(ints, first, i, item):
    at = first + ITEM_INTS * i
    ints[at], ints[at + 1], ints[at + 2] = item


@inline
def push_item(store, state, parameter, origin):
    """Push an item on the scratch stack."""
    push(store, state)
    push(store, parameter)
    push(store, origin)


@kernel
def sort_items(store, first):
    """Sort the items in the scratch items from `first` (D. Shell's sort, gaps of Knuth)."""
    ints = store.scratch
    n = (store.scratch_top - first) // ITEM_INTS
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item = _item_at(ints, first, i)
            j = i
            while j >= gap and _item_at(ints, first, j - gap) > item:
                _write_item(ints, first, j, _item_at(ints, first, j - gap))
                j -= gap
            _write_item(ints, first, j, item)
        gap //= 3
