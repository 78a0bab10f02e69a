"""Items of the Earley row in progress: a set of (state of a rule, parameter, origin row), found again by hash.

    (LINK, 0, link)          all items of a link, see parser/leo_items.py
    (LINK_EDGE, edge, link)  those of them that the edge leaves; while scans and waits are written

In: a grammar's table. Out: slots ITEMS, N_ITEMS and ITEM_INDEX. Cost: 15 ns an item.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.grammar_layout import (
    EDGE_FIRST,
    EDGES,
    ITEM_INDEX,
    ITEM_INDEX_SIZE,
    ITEMS,
    MAX_ITEMS,
    N_ITEMS,
    RULE_FLAGS,
    STATE_FINALS,
)
from ..tables.interning import mix
from ..tables.memory import block, ensure, exceed, fill_bytes, get_i32, put_i32, spend
from ..tables.store_layout import LIMIT_ITEMS, SCRATCH, SCRATCH_TOP
from ..values.variants import RULE_NULLABLE, late_state, tentative_variant, variant
from .guards import behind, passes

SCAN = 0  # kinds of edges, as in grammar/rules.py
CALL = 1
SKIP = 2
CALL_NEW = 3  # of a value that is not in the run's set: the rule is a variant of the edge's
CALL_PLAIN = 4  # the same, where different texts are different values
CALL_MANY = 5  # the same, where also infinitely many of the values are objects
CALL_OPEN = 6  # the same, where also the edge's rule itself is called and a value that is in the set refused at its end
CALL_AGAIN = 7  # of a value that is in the run's set, refused at its end if it is not
SKIP_LATE = 8  # to a state that is written when a run first gets here
LINK = 2**31 - 1  # in place of a state
LINK_EDGE = LINK - 1
LINKED = -1  # in place of the parameter of scans and waits
FIRST_INDEX_SIZE = 64


@kernel
def clear_items(grammar):
    never_inline()
    grammar[N_ITEMS] = 0
    index = ensure(grammar, ITEM_INDEX, FIRST_INDEX_SIZE * 4)
    fill_bytes(index, FIRST_INDEX_SIZE * 4, 0)
    grammar[ITEM_INDEX_SIZE] = FIRST_INDEX_SIZE


@kernel
def _slot_of(grammar, state, parameter, origin):
    """Where an item stands in the index, or the free slot where it would."""
    index = block(grammar, ITEM_INDEX)
    items = block(grammar, ITEMS)
    mask = grammar[ITEM_INDEX_SIZE] - 1
    slot = mix(mix(mix(3, state), parameter), origin) & mask
    while True:
        entry = get_i32(index, slot) - 1
        if entry < 0 or (
            get_i32(items, 4 * entry) == state
            and get_i32(items, 4 * entry + 1) == parameter
            and get_i32(items, 4 * entry + 2) == origin
        ):
            return slot
        slot = (slot + 1) & mask


@kernel
def find_item(grammar, state, parameter, origin):
    """Position of an item of the row in progress, -1 where it is not there."""
    return get_i32(block(grammar, ITEM_INDEX), _slot_of(grammar, state, parameter, origin)) - 1


@kernel
def add_item(grammar, state, parameter, origin, derived):
    """Add an item to the row in progress; an item found twice is derived only if it was so both times."""
    never_inline()
    spend(grammar, 1)
    slot = _slot_of(grammar, state, parameter, origin)
    entry = get_i32(block(grammar, ITEM_INDEX), slot) - 1
    if entry >= 0:
        if derived == 0:
            put_i32(block(grammar, ITEMS), 4 * entry + 3, 0)
        return
    n = grammar[N_ITEMS]
    if n >= grammar[MAX_ITEMS]:
        exceed(grammar, LIMIT_ITEMS)
        return
    items = ensure(grammar, ITEMS, (n + 1) * 16)
    put_i32(items, 4 * n, state)
    put_i32(items, 4 * n + 1, parameter)
    put_i32(items, 4 * n + 2, origin)
    put_i32(items, 4 * n + 3, derived)
    grammar[N_ITEMS] = n + 1
    put_i32(block(grammar, ITEM_INDEX), slot, n + 1)
    if 2 * (n + 1) >= grammar[ITEM_INDEX_SIZE]:
        _grow_item_index(grammar)


@kernel
def _grow_item_index(grammar):
    never_inline()
    size = 2 * grammar[ITEM_INDEX_SIZE]
    grammar[ITEM_INDEX_SIZE] = size
    index = ensure(grammar, ITEM_INDEX, size * 4)
    fill_bytes(index, size * 4, 0)
    mask = size - 1
    items = block(grammar, ITEMS)
    for n in range(grammar[N_ITEMS]):
        slot = mix(mix(mix(3, get_i32(items, 4 * n)), get_i32(items, 4 * n + 1)), get_i32(items, 4 * n + 2)) & mask
        while get_i32(index, slot) != 0:
            slot = (slot + 1) & mask
        put_i32(index, slot, n + 1)


@kernel
def may_end(grammar, state, parameter):
    guard = get_i32(block(grammar, STATE_FINALS), state)
    return guard != 0 and passes(grammar, guard - 1, parameter)


@kernel
def advance_free(grammar, state, parameter, origin):
    """Add what an item reaches without taking anything: skips, also late ones, and calls of nullable rules."""
    never_inline()
    edge_first = block(grammar, EDGE_FIRST)
    edges = block(grammar, EDGES)
    for edge in range(get_i32(edge_first, state), get_i32(edge_first, state + 1)):
        kind = get_i32(edges, 4 * edge)
        if kind == SKIP_LATE:
            target = late_state(grammar, get_i32(edges, 4 * edge + 1))
            if target < 0:
                return
            add_item(grammar, target, parameter, origin, 1)
            continue
        if kind == SCAN or kind >= CALL_NEW:
            continue
        if kind == CALL and get_i32(block(grammar, RULE_FLAGS), get_i32(edges, 4 * edge + 1)) & RULE_NULLABLE == 0:
            continue
        guard = get_i32(edges, 4 * edge + 3)
        if passes(grammar, guard, parameter):
            add_item(grammar, get_i32(edges, 4 * edge + 2), behind(grammar, guard, parameter), origin, 1)


@kernel
def rule_called(grammar, edge, parameter):
    """The rule that an edge calls in a run with this parameter; negative where it calls none, see variants.py."""
    edges = block(grammar, EDGES)
    rule = get_i32(edges, 4 * edge + 1)
    kind = get_i32(edges, 4 * edge)
    if kind == CALL_NEW:
        return variant(grammar, rule, parameter)
    return rule if kind >= CALL_OPEN or kind == CALL else tentative_variant(grammar, rule, parameter)


@kernel
def sort_items(store, first):
    """Sort the triples in the scratch items from `first`."""
    never_inline()
    address = block(store, SCRATCH)
    n = (store[SCRATCH_TOP] - first) // 3
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            a = get_i32(address, first + 3 * i)
            b = get_i32(address, first + 3 * i + 1)
            c = get_i32(address, first + 3 * i + 2)
            j = i
            while j >= gap:
                at = first + 3 * (j - gap)
                x = get_i32(address, at)
                y = get_i32(address, at + 1)
                z = get_i32(address, at + 2)
                if x < a or (x == a and (y < b or (y == b and z <= c))):
                    break
                put_i32(address, first + 3 * j, x)
                put_i32(address, first + 3 * j + 1, y)
                put_i32(address, first + 3 * j + 2, z)
                j -= gap
            put_i32(address, first + 3 * j, a)
            put_i32(address, first + 3 * j + 1, b)
            put_i32(address, first + 3 * j + 2, c)
        gap //= 3
