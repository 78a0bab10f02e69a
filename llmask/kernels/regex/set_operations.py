"""Union and intersection of regular expressions, with the laws that keep them few.

Operands are flattened, sorted and told apart by id; byte sets become one; repetitions of the same thing whose bounds
touch become one; complements in an intersection become the complement of one union; see also containment.py.

In: operands on the scratch stack. Out: node ids. Cost: O(n log n) for n operands.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.int_lists import sort_ints
from ..tables.interning import intern_list, list_item, list_length
from ..tables.kinds import NodeKind
from ..tables.memory import spend
from .class_maps import meet
from .constructors import add_node, find_node, make_bytes, make_concat, make_not, make_repeat
from .containment import drop_contained, is_contained
from .nodes import BYTE_DISTANCE, MOST_DISTANCE, Node, NodeFlag, pop, push

QUOTE = Node.FIRST_SINGLE + 0x22
MERGE_AT_MOST = 64  # unions longer than this are not searched for repetitions to merge


@kernel
def sort_scratch(store, first):
    """Sort the scratch items from `first` and drop repetitions."""
    address = store.scratch
    end = store.scratch_top
    sort_ints(address, first, end)
    kept = first
    for i in range(first, end):
        item = address[i]
        if kept == first or address[kept - 1] != item:
            address[kept] = item
            kept += 1
    store.scratch_top = kept


@kernel
def _move_down(store, source, destination):
    """Drop the scratch items between `destination` and `source`."""
    address = store.scratch
    n = store.scratch_top - source
    for i in range(n):
        address[destination + i] = address[source + i]
    store.scratch_top = destination + n


@kernel
def make_union(store, first):
    """Union of the scratch items from `first`, which are taken off the stack."""
    end = store.scratch_top
    n_sets = 0
    for i in range(first, end):
        node = store.scratch[i]
        kind = store.nodes[node].kind
        if node == Node.ALL:
            store.scratch_top = first
            return Node.ALL
        if kind == NodeKind.UNION:
            members = store.nodes[node].a
            for j in range(list_length(store.node_lists, members)):
                member = list_item(store.node_lists, members, j)
                push(store, member)
                if store.nodes[member].kind == NodeKind.BYTES:
                    n_sets += 1
        elif node != Node.EMPTY:
            push(store, node)
            if kind == NodeKind.BYTES:
                n_sets += 1
    _move_down(store, end, first)
    if n_sets > 1:
        _merge_sets(store, first)
    spend(store, 3 * (store.scratch_top - first))
    sort_scratch(store, first)
    n = store.scratch_top - first
    if 1 < n <= MERGE_AT_MOST:
        while _merge_repeats(store, first):
            sort_scratch(store, first)
        drop_contained(store, first)
        n = store.scratch_top - first
    if n > 1 and store.scratch[first] == Node.EPSILON:
        for i in range(first + 1, store.scratch_top):
            if store.nodes[store.scratch[i]].nullable:
                _move_down(store, first + 1, first)
                n -= 1
                break
    if n == 0:
        return Node.EMPTY
    if n == 1:
        return pop(store)
    flags = NodeFlag.FINITE
    class_map = 0
    distance = MOST_DISTANCE
    for i in range(first, first + n):
        node = store.scratch[i]
        inner = store.nodes[node].flags
        distance = min(distance, store.nodes[node].distance)
        flags = (
            (flags & inner & NodeFlag.FINITE)
            | (flags & (NodeFlag.NULLABLE | NodeFlag.HIDES))
            | (inner & (NodeFlag.NULLABLE | NodeFlag.HIDES))
        )
        class_map = meet(store, class_map, store.nodes[node].map)
    members = intern_list(store.node_lists, store.scratch.address, first, n)
    store.scratch_top = first
    found = find_node(store, NodeKind.UNION, members, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(store, found, NodeKind.UNION, members, 0, 0, 0, flags, class_map, distance)


@kernel
def _merge_sets(store, first):
    """Replace the byte sets among the scratch items from `first` by their union."""
    end = store.scratch_top
    for _ in range(8):
        push(store, 0)
    kept = first
    for i in range(first, end):
        node = store.scratch[i]
        address = store.scratch
        if store.nodes[node].kind == NodeKind.BYTES:
            byte_set = store.nodes[node].a
            for j in range(8):
                address[end + j] = address[end + j] | list_item(store.byte_sets, byte_set, j)
        else:
            address[kept] = node
            kept += 1
    merged = make_bytes(store, end)
    store.scratch_top = kept
    push(store, merged)


@inline
def _repeat_head(store, node):
    """The repetition that a node starts with, or EMPTY."""
    if store.nodes[node].kind == NodeKind.CONCAT:
        node = store.nodes[node].a
    return node if store.nodes[node].kind == NodeKind.REPEAT else Node.EMPTY


@inline
def _tail(store, node):
    return store.nodes[node].b if store.nodes[node].kind == NodeKind.CONCAT else Node.EPSILON


@kernel
def _merge_repeats(store, first):
    """Make one of x{a,b}t | x{c,d}t when the intervals touch, which keeps (y|yy){1,100} small. One merge a call."""
    end = store.scratch_top
    for i in range(first, end):
        one = store.scratch[i]
        head = _repeat_head(store, one)
        if head == Node.EMPTY:
            continue
        spend(store, (end - i) >> 1)
        for j in range(i + 1, end):
            two = store.scratch[j]
            other = _repeat_head(store, two)
            if other == Node.EMPTY or store.nodes[other].a != store.nodes[head].a:
                continue
            if _tail(store, one) != _tail(store, two):
                continue
            low = store.nodes[head].low
            high = store.nodes[head].high
            other_low = store.nodes[other].low
            other_high = store.nodes[other].high
            if other_low > high + 1 or low > other_high + 1:
                continue
            repeat = make_repeat(store, store.nodes[head].a, min(low, other_low), max(high, other_high))
            merged = make_concat(store, repeat, _tail(store, one))
            address = store.scratch
            address[i] = merged
            address[j] = address[end - 1]
            store.scratch_top = end - 1
            return True
    return False


@kernel
def make_and(store, first):
    """Intersection of the scratch items from `first`, which are taken off the stack."""
    end = store.scratch_top
    # operands that are not complements, flattened
    for i in range(first, end):
        node = store.scratch[i]
        if store.nodes[node].kind == NodeKind.AND:
            members = store.nodes[node].a
            for j in range(list_length(store.node_lists, members)):
                member = list_item(store.node_lists, members, j)
                if store.nodes[member].kind != NodeKind.NOT:
                    push(store, member)
        elif store.nodes[node].kind != NodeKind.NOT:
            push(store, node)
    positive_end = store.scratch_top
    # not x and not y = not (x or y)
    for i in range(first, end):
        node = store.scratch[i]
        if store.nodes[node].kind == NodeKind.AND:
            members = store.nodes[node].a
            for j in range(list_length(store.node_lists, members)):
                member = list_item(store.node_lists, members, j)
                if store.nodes[member].kind == NodeKind.NOT:
                    push(store, store.nodes[member].a)
        elif store.nodes[node].kind == NodeKind.NOT:
            push(store, store.nodes[node].a)
    excluded = make_union(store, positive_end)
    _move_down(store, end, first)
    spend(store, 3 * (store.scratch_top - first))
    all_sets = store.scratch_top > first
    for i in range(first, store.scratch_top):
        node = store.scratch[i]
        if node == Node.EMPTY or node == excluded or is_contained(store, node, excluded):
            store.scratch_top = first
            return Node.EMPTY
        if node == Node.EPSILON:
            return _and_with_epsilon(store, first, excluded)
        if store.nodes[node].kind != NodeKind.BYTES:
            all_sets = False
    if excluded == Node.ALL:
        store.scratch_top = first
        return Node.EMPTY
    if all_sets and store.scratch_top - first > 1:
        _intersect_sets(store, first)
        if store.scratch[first] == Node.EMPTY:
            store.scratch_top = first
            return Node.EMPTY
    if _meet_repeats(store, first):
        store.scratch_top = first
        return Node.EMPTY
    if excluded != Node.EMPTY:
        push(store, make_not(store, excluded))
    sort_scratch(store, first)
    n = store.scratch_top - first
    if n == 0:
        return Node.ALL
    if n == 1:
        return pop(store)
    flags = NodeFlag.NULLABLE | NodeFlag.HIDES
    class_map = 0
    finite = 0
    farthest = 0
    distance = 0
    for i in range(first, first + n):
        node = store.scratch[i]
        inner = store.nodes[node].flags
        distance += store.nodes[node].distance
        farthest = max(farthest, store.nodes[node].distance)
        flags = NodeFlag.HIDES | (flags & inner & NodeFlag.NULLABLE)
        finite |= inner & NodeFlag.FINITE
        class_map = meet(store, class_map, store.nodes[node].map)
    members = intern_list(store.node_lists, store.scratch.address, first, n)
    store.scratch_top = first
    found = find_node(store, NodeKind.AND, members, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(
        store,
        found,
        NodeKind.AND,
        members,
        0,
        0,
        0,
        flags | finite,
        class_map,
        farthest + (distance - farthest) // BYTE_DISTANCE,
    )


@kernel
def _meet_repeats(store, first):
    """Make x{max(a,c), min(b,d)}t of x{a,b}t and y{c,d}t, where y is all of a prefix code, x a part of it, and t is
    nothing or a quote, with which no word of the code begins.

    Such a string is cut into words in one way only, so both count the same. After its first letter, the pattern
    ^[A-Z] with a maxLength is such a pair, and no slice would see what it takes. Returns whether the counts contradict
    each other.
    """
    i = first
    while i < store.scratch_top:
        one = _repeat_head(store, store.scratch[i])
        tail = _tail(store, store.scratch[i])
        i += 1
        if (
            one == Node.EMPTY
            or (tail != Node.EPSILON and tail != QUOTE)
            or not store.nodes[store.nodes[one].a].all_units
        ):
            continue
        for j in range(first, store.scratch_top):
            two = _repeat_head(store, store.scratch[j])
            if j == i - 1 or two == Node.EMPTY or _tail(store, store.scratch[j]) != tail:
                continue
            if not store.nodes[store.nodes[two].a].unit:
                continue
            low = max(store.nodes[one].low, store.nodes[two].low)
            high = min(store.nodes[one].high, store.nodes[two].high)
            if low > high:
                return True
            met = make_concat(store, make_repeat(store, store.nodes[two].a, low, high), tail)
            store.scratch[j] = met
            store.scratch[i - 1] = pop(store)  # the last item, unless that was this one
            i = first
            break
    return False


@kernel
def _and_with_epsilon(store, first, excluded):
    """Intersection of operands one of which is EPSILON: EPSILON if all are nullable."""
    result = Node.EPSILON
    for i in range(first, store.scratch_top):
        if not store.nodes[store.scratch[i]].nullable:
            result = Node.EMPTY
    store.scratch_top = first
    if store.nodes[excluded].nullable:
        return Node.EMPTY
    return result


@kernel
def _intersect_sets(store, first):
    """Replace the byte sets from scratch item `first` by their intersection."""
    end = store.scratch_top
    for _ in range(8):
        push(store, -1)
    for i in range(first, end):
        byte_set = store.nodes[store.scratch[i]].a
        address = store.scratch
        for j in range(8):
            address[end + j] = address[end + j] & list_item(store.byte_sets, byte_set, j)
    merged = make_bytes(store, end)
    store.scratch_top = first
    push(store, merged)
