"""Union and intersection of regular expressions, with the laws that keep them few.

Operands are flattened, sorted and told apart by id; byte sets become one; repetitions of the same thing whose bounds
touch become one; complements in an intersection become the complement of one union; see also containment.py.

In: operands on the scratch stack. Out: node ids. Cost: O(n log n) for n operands.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.interning import intern_list, list_item, list_length
from ..tables.memory import block, get_i32, put_i32, spend
from ..tables.store_layout import BYTE_SETS, NODE_LISTS, SCRATCH, SCRATCH_TOP
from .class_maps import meet
from .constructors import add_node, find_node, make_bytes, make_concat, make_not, make_repeat
from .containment import drop_contained, is_contained
from .nodes import (
    ALL,
    ALL_UNITS,
    BYTE_DISTANCE,
    DISTANCE,
    EMPTY,
    EPSILON,
    FINITE,
    FIRST_SINGLE,
    FLAGS,
    HIDES,
    HIGH,
    K_AND,
    K_BYTES,
    K_CONCAT,
    K_NOT,
    K_REPEAT,
    K_UNION,
    KIND,
    LOW,
    MAP,
    MOST_DISTANCE,
    NULLABLE,
    UNIT,
    A,
    B,
    field,
    has_flag,
    pop,
    push,
    scratch,
)

QUOTE = FIRST_SINGLE + 0x22
MERGE_AT_MOST = 64  # unions longer than this are not searched for repetitions to merge


@kernel
def _sort_scratch(store, first):
    """Sort the scratch items from `first` and drop repetitions (Shell's method: operands are few, or nearly sorted)."""
    never_inline()
    address = block(store, SCRATCH)
    end = store[SCRATCH_TOP]
    gap = 1
    while gap < (end - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, end):
            item = get_i32(address, i)
            j = i
            while j - gap >= first and get_i32(address, j - gap) > item:
                put_i32(address, j, get_i32(address, j - gap))
                j -= gap
            put_i32(address, j, item)
        gap //= 3
    kept = first
    for i in range(first, end):
        item = get_i32(address, i)
        if kept == first or get_i32(address, kept - 1) != item:
            put_i32(address, kept, item)
            kept += 1
    store[SCRATCH_TOP] = kept


@kernel
def _move_down(store, source, destination):
    """Drop the scratch items between `destination` and `source`."""
    never_inline()
    address = block(store, SCRATCH)
    n = store[SCRATCH_TOP] - source
    for i in range(n):
        put_i32(address, destination + i, get_i32(address, source + i))
    store[SCRATCH_TOP] = destination + n


@kernel
def make_union(store, first):
    """Union of the scratch items from `first`, which are taken off the stack."""
    never_inline()
    end = store[SCRATCH_TOP]
    n_sets = 0
    for i in range(first, end):
        node = scratch(store, i)
        kind = field(store, node, KIND)
        if node == ALL:
            store[SCRATCH_TOP] = first
            return ALL
        if kind == K_UNION:
            members = field(store, node, A)
            for j in range(list_length(store, NODE_LISTS, members)):
                member = list_item(store, NODE_LISTS, members, j)
                push(store, member)
                if field(store, member, KIND) == K_BYTES:
                    n_sets += 1
        elif node != EMPTY:
            push(store, node)
            if kind == K_BYTES:
                n_sets += 1
    _move_down(store, end, first)
    if n_sets > 1:
        _merge_sets(store, first)
    spend(store, 3 * (store[SCRATCH_TOP] - first))
    _sort_scratch(store, first)
    n = store[SCRATCH_TOP] - first
    if 1 < n <= MERGE_AT_MOST:
        while _merge_repeats(store, first):
            _sort_scratch(store, first)
        drop_contained(store, first)
        n = store[SCRATCH_TOP] - first
    if n > 1 and scratch(store, first) == EPSILON:
        for i in range(first + 1, store[SCRATCH_TOP]):
            if has_flag(store, scratch(store, i), NULLABLE):
                _move_down(store, first + 1, first)
                n -= 1
                break
    if n == 0:
        return EMPTY
    if n == 1:
        return pop(store)
    flags = FINITE
    class_map = 0
    distance = MOST_DISTANCE
    for i in range(first, first + n):
        node = scratch(store, i)
        inner = field(store, node, FLAGS)
        distance = min(distance, field(store, node, DISTANCE))
        flags = (flags & inner & FINITE) | (flags & (NULLABLE | HIDES)) | (inner & (NULLABLE | HIDES))
        class_map = meet(store, class_map, field(store, node, MAP))
    members = intern_list(store, NODE_LISTS, block(store, SCRATCH), first, n)
    store[SCRATCH_TOP] = first
    found = find_node(store, K_UNION, members, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(store, found, K_UNION, members, 0, 0, 0, flags, class_map, distance)


@kernel
def _merge_sets(store, first):
    """Replace the byte sets among the scratch items from `first` by their union."""
    never_inline()
    end = store[SCRATCH_TOP]
    for _ in range(8):
        push(store, 0)
    kept = first
    for i in range(first, end):
        node = scratch(store, i)
        address = block(store, SCRATCH)
        if field(store, node, KIND) == K_BYTES:
            byte_set = field(store, node, A)
            for j in range(8):
                put_i32(address, end + j, get_i32(address, end + j) | list_item(store, BYTE_SETS, byte_set, j))
        else:
            put_i32(address, kept, node)
            kept += 1
    merged = make_bytes(store, end)
    store[SCRATCH_TOP] = kept
    push(store, merged)


@kernel
def _repeat_head(store, node):
    """The repetition that a node starts with, or EMPTY."""
    if field(store, node, KIND) == K_CONCAT:
        node = field(store, node, A)
    return node if field(store, node, KIND) == K_REPEAT else EMPTY


@kernel
def _tail(store, node):
    return field(store, node, B) if field(store, node, KIND) == K_CONCAT else EPSILON


@kernel
def _merge_repeats(store, first):
    """Make one of x{a,b}t | x{c,d}t when the intervals touch, which keeps (y|yy){1,100} small. One merge a call."""
    never_inline()
    end = store[SCRATCH_TOP]
    for i in range(first, end):
        one = scratch(store, i)
        head = _repeat_head(store, one)
        if head == EMPTY:
            continue
        spend(store, (end - i) >> 1)
        for j in range(i + 1, end):
            two = scratch(store, j)
            other = _repeat_head(store, two)
            if other == EMPTY or field(store, other, A) != field(store, head, A):
                continue
            if _tail(store, one) != _tail(store, two):
                continue
            low = field(store, head, LOW)
            high = field(store, head, HIGH)
            other_low = field(store, other, LOW)
            other_high = field(store, other, HIGH)
            if other_low > high + 1 or low > other_high + 1:
                continue
            repeat = make_repeat(store, field(store, head, A), min(low, other_low), max(high, other_high))
            merged = make_concat(store, repeat, _tail(store, one))
            address = block(store, SCRATCH)
            put_i32(address, i, merged)
            put_i32(address, j, get_i32(address, end - 1))
            store[SCRATCH_TOP] = end - 1
            return True
    return False


@kernel
def make_and(store, first):
    """Intersection of the scratch items from `first`, which are taken off the stack."""
    never_inline()
    end = store[SCRATCH_TOP]
    # operands that are not complements, flattened
    for i in range(first, end):
        node = scratch(store, i)
        if field(store, node, KIND) == K_AND:
            members = field(store, node, A)
            for j in range(list_length(store, NODE_LISTS, members)):
                member = list_item(store, NODE_LISTS, members, j)
                if field(store, member, KIND) != K_NOT:
                    push(store, member)
        elif field(store, node, KIND) != K_NOT:
            push(store, node)
    positive_end = store[SCRATCH_TOP]
    # not x and not y = not (x or y)
    for i in range(first, end):
        node = scratch(store, i)
        if field(store, node, KIND) == K_AND:
            members = field(store, node, A)
            for j in range(list_length(store, NODE_LISTS, members)):
                member = list_item(store, NODE_LISTS, members, j)
                if field(store, member, KIND) == K_NOT:
                    push(store, field(store, member, A))
        elif field(store, node, KIND) == K_NOT:
            push(store, field(store, node, A))
    excluded = make_union(store, positive_end)
    _move_down(store, end, first)
    spend(store, 3 * (store[SCRATCH_TOP] - first))
    all_sets = store[SCRATCH_TOP] > first
    for i in range(first, store[SCRATCH_TOP]):
        node = scratch(store, i)
        if node == EMPTY or node == excluded or is_contained(store, node, excluded):
            store[SCRATCH_TOP] = first
            return EMPTY
        if node == EPSILON:
            return _and_with_epsilon(store, first, excluded)
        if field(store, node, KIND) != K_BYTES:
            all_sets = False
    if excluded == ALL:
        store[SCRATCH_TOP] = first
        return EMPTY
    if all_sets and store[SCRATCH_TOP] - first > 1:
        _intersect_sets(store, first)
        if scratch(store, first) == EMPTY:
            store[SCRATCH_TOP] = first
            return EMPTY
    if _meet_repeats(store, first):
        store[SCRATCH_TOP] = first
        return EMPTY
    if excluded != EMPTY:
        push(store, make_not(store, excluded))
    _sort_scratch(store, first)
    n = store[SCRATCH_TOP] - first
    if n == 0:
        return ALL
    if n == 1:
        return pop(store)
    flags = NULLABLE | HIDES
    class_map = 0
    finite = 0
    farthest = 0
    distance = 0
    for i in range(first, first + n):
        node = scratch(store, i)
        inner = field(store, node, FLAGS)
        distance += field(store, node, DISTANCE)
        farthest = max(farthest, field(store, node, DISTANCE))
        flags = HIDES | (flags & inner & NULLABLE)
        finite |= inner & FINITE
        class_map = meet(store, class_map, field(store, node, MAP))
    members = intern_list(store, NODE_LISTS, block(store, SCRATCH), first, n)
    store[SCRATCH_TOP] = first
    found = find_node(store, K_AND, members, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(
        store,
        found,
        K_AND,
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
    never_inline()
    i = first
    while i < store[SCRATCH_TOP]:
        one = _repeat_head(store, scratch(store, i))
        tail = _tail(store, scratch(store, i))
        i += 1
        if one == EMPTY or (tail != EPSILON and tail != QUOTE) or not has_flag(store, field(store, one, A), ALL_UNITS):
            continue
        for j in range(first, store[SCRATCH_TOP]):
            two = _repeat_head(store, scratch(store, j))
            if j == i - 1 or two == EMPTY or _tail(store, scratch(store, j)) != tail:
                continue
            if not has_flag(store, field(store, two, A), UNIT):
                continue
            low = max(field(store, one, LOW), field(store, two, LOW))
            high = min(field(store, one, HIGH), field(store, two, HIGH))
            if low > high:
                return True
            met = make_concat(store, make_repeat(store, field(store, two, A), low, high), tail)
            put_i32(block(store, SCRATCH), j, met)
            put_i32(block(store, SCRATCH), i - 1, pop(store))  # the last item, unless that was this one
            i = first
            break
    return False


@kernel
def _and_with_epsilon(store, first, excluded):
    """Intersection of operands one of which is EPSILON: EPSILON if all are nullable."""
    never_inline()
    result = EPSILON
    for i in range(first, store[SCRATCH_TOP]):
        if not has_flag(store, scratch(store, i), NULLABLE):
            result = EMPTY
    store[SCRATCH_TOP] = first
    if has_flag(store, excluded, NULLABLE):
        return EMPTY
    return result


@kernel
def _intersect_sets(store, first):
    """Replace the byte sets from scratch item `first` by their intersection."""
    never_inline()
    end = store[SCRATCH_TOP]
    for _ in range(8):
        push(store, -1)
    for i in range(first, end):
        byte_set = field(store, scratch(store, i), A)
        address = block(store, SCRATCH)
        for j in range(8):
            put_i32(address, end + j, get_i32(address, end + j) & list_item(store, BYTE_SETS, byte_set, j))
    merged = make_bytes(store, end)
    store[SCRATCH_TOP] = first
    push(store, merged)
