"""Smart constructors of union and intersection, with the laws that keep their operands few.

Operands are flattened, sorted and compared by id; byte sets become one; repetitions of the same thing whose bounds
touch become one; complements in an intersection become the complement of one union (De Morgan). One law of inclusion:
once something was found in a string, and anything may follow, it is anything. With u for any code point (of the store's
prefix code), x and y for code points or repetitions of some, and any tail t:

    x y u*t | u*t = u*t        x y u*t & not(u*t | z) = nothing

So `.*one.*|.*two.*|.*` is `.*`. Without this law, a string that must have one of several words and none of others cost
an emptiness test of 170,000 derivatives.

In: operands on the scratch stack. Out: node ids. Cost: O(n log n) for n operands.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import sort_ints
from ..tables.interning import intern_list, list_item
from ..tables.kinds import NodeKind
from ..tables.memory import spend
from .class_maps import SET_INTS, meet, push_set
from .constructors import add_node, find_node, is_anything, make_bytes, make_concat, make_not, make_repeat
from .nodes import BYTE_DISTANCE, MOST_DISTANCE, Node, NodeFlag, n_operands, operand, pop, push, push_two

QUOTE = Node.FIRST_SINGLE + 0x22
MERGE_AT_MOST = 64  # unions longer than this are not searched for repetitions to merge
MAX_PARTS = 256  # of a concatenation that are looked at
MAX_MEMBERS = 64  # of an excluded union


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
    are_text = NodeFlag.TEXT  # all of them: the members of each, the spellings of a letter, may be no text
    for i in range(first, store.scratch_top):
        are_text &= store.nodes[store.scratch[i]].flags
    if _flatten_union(store, first):
        store.scratch_top = first
        return Node.ALL
    n_sets = 0
    for i in range(first, store.scratch_top):
        if store.nodes[store.scratch[i]].kind == NodeKind.BYTES:
            n_sets += 1
    if n_sets > 1:
        _combine_sets(store, first, NodeKind.UNION)
    spend(store, 3 * (store.scratch_top - first))
    sort_scratch(store, first)
    if 1 < store.scratch_top - first <= MERGE_AT_MOST:
        while _merge_repeats(store, first):
            sort_scratch(store, first)
    _drop_included(store, first)
    if store.scratch_top - first > 1 and store.scratch[first] == Node.EPSILON:
        for i in range(first + 1, store.scratch_top):
            if store.nodes[store.scratch[i]].nullable:  # it has the empty string, too
                _move_down(store, first + 1, first)
                break
    if store.scratch_top == first:
        return Node.EMPTY
    if store.scratch_top == first + 1:
        return pop(store)
    union = _node_of_members(store, first, NodeKind.UNION)
    store.nodes[union].flags |= are_text
    return union


@inline
def intersection_of(store, one, other):
    """Intersection of two nodes."""
    return make_and(store, push_two(store, one, other))


@inline
def _flatten_union(store, first):
    """Replace unions among the scratch items from `first` by their members, drop EMPTY; True once ALL is found."""
    end = store.scratch_top
    for i in range(first, end):
        node = store.scratch[i]
        if node == Node.ALL:
            return True
        if store.nodes[node].kind == NodeKind.UNION:
            for j in range(n_operands(store, node)):
                push(store, operand(store, node, j))
        elif node != Node.EMPTY:
            push(store, node)
    _move_down(store, end, first)
    return False


@kernel
def _node_of_members(store, first, kind):
    """Union or intersection of two members or more, sorted, the scratch items from `first`, which are taken off."""
    some, all_ = 0, -1  # flags that some members have, and that all have
    class_map = 0
    nearest, farthest, sum_ = MOST_DISTANCE, 0, 0
    for i in range(first, store.scratch_top):
        node = store.nodes[store.scratch[i]]
        some |= node.flags
        all_ &= node.flags
        nearest = min(nearest, node.distance)
        farthest = max(farthest, node.distance)
        sum_ += node.distance
        class_map = meet(store, class_map, node.map)
    members = intern_list(store.node_lists, store.scratch.address, first, store.scratch_top - first)
    store.scratch_top = first
    found = find_node(store, kind, members, 0, 0, 0)
    if found >= 0:
        return found
    if kind == NodeKind.UNION:
        flags = (some & (NodeFlag.NULLABLE | NodeFlag.HIDES)) | (all_ & (NodeFlag.FINITE | NodeFlag.TEXT))
        distance = nearest
    else:
        flags = NodeFlag.HIDES | (all_ & NodeFlag.NULLABLE) | (some & (NodeFlag.FINITE | NodeFlag.TEXT))
        distance = farthest + (sum_ - farthest) // BYTE_DISTANCE
    return add_node(store, found, kind, members, 0, 0, 0, flags, class_map, distance)


@kernel
def _combine_sets(store, first, kind):
    """Replace the byte sets among the scratch items from `first` by their union or intersection, the last item then."""
    end = push_set(store, 0 if kind == NodeKind.UNION else -1)
    kept = first
    for i in range(first, end):
        node = store.scratch[i]
        scratch = store.scratch
        if store.nodes[node].kind == NodeKind.BYTES:
            byte_set = store.nodes[node].a
            for j in range(SET_INTS):
                word = list_item(store.byte_sets, byte_set, j)
                so_far = scratch[end + j]
                scratch[end + j] = so_far | word if kind == NodeKind.UNION else so_far & word
        else:
            scratch[kept] = node
            kept += 1
    combined = make_bytes(store, end)
    store.scratch_top = kept
    push(store, combined)


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
    """Merge x{a,b}t | x{c,d}t when the intervals touch, which keeps (y|yy){1,100} small. One merge a call."""
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
    _push_members(store, first, end, False)
    n_positive = store.scratch_top - end
    _push_members(store, first, end, True)
    excluded = make_union(store, end + n_positive)  # not x & not y = not (x | y)
    _move_down(store, end, first)
    spend(store, 3 * n_positive)
    # intersections that are seen to be empty
    all_sets = n_positive > 0
    for i in range(first, store.scratch_top):
        node = store.scratch[i]
        if node == Node.EMPTY or node == excluded or _is_included(store, node, excluded):
            store.scratch_top = first
            return Node.EMPTY
        if node == Node.EPSILON:
            return _and_with_epsilon(store, first, excluded)
        if store.nodes[node].kind != NodeKind.BYTES:
            all_sets = False
    if excluded == Node.ALL:
        store.scratch_top = first
        return Node.EMPTY
    # members that become one
    if all_sets and n_positive > 1:
        _combine_sets(store, first, NodeKind.AND)
        if store.scratch[first] == Node.EMPTY:
            store.scratch_top = first
            return Node.EMPTY
    if _meet_repeats(store, first):
        store.scratch_top = first
        return Node.EMPTY
    if excluded != Node.EMPTY:
        push(store, make_not(store, excluded))
    sort_scratch(store, first)
    if store.scratch_top == first:
        return Node.ALL
    if store.scratch_top == first + 1:
        return pop(store)
    return _node_of_members(store, first, NodeKind.AND)


@inline
def _push_members(store, first, end, of_complements):
    """Push the members of an intersection whose operands are the scratch items from `first` to `end`: those that are no
    complements, or what the complements exclude.
    """
    for i in range(first, end):
        node = store.scratch[i]
        if store.nodes[node].kind == NodeKind.AND:
            for j in range(n_operands(store, node)):
                _push_member(store, operand(store, node, j), of_complements)
        else:
            _push_member(store, node, of_complements)


@inline
def _push_member(store, node, of_complements):
    if (store.nodes[node].kind == NodeKind.NOT) == of_complements:
        push(store, store.nodes[node].a if of_complements else node)


@kernel
def _meet_repeats(store, first):
    """Make x{max(a,c), min(b,d)}t of x{a,b}t and y{c,d}t, where y is all of a prefix code, x a part of it, and t is
    nothing or a quote, with which no word of the code begins.

    There is one way only to cut such a string into words, so both count the same. After its first letter, the pattern
    ^[A-Z] with a maxLength is such a pair, and no slice would see what it takes. Returns whether the counts contradict
    each other.
    """
    i = first
    while i < store.scratch_top:
        j = _counted_alike(store, first, i)
        if j < 0:
            i += 1
            continue
        one, two = _repeat_head(store, store.scratch[i]), _repeat_head(store, store.scratch[j])
        low = max(store.nodes[one].low, store.nodes[two].low)
        high = min(store.nodes[one].high, store.nodes[two].high)
        if low > high:
            return True
        repeat = make_repeat(store, store.nodes[two].a, low, high)
        store.scratch[j] = make_concat(store, repeat, _tail(store, store.scratch[i]))
        store.scratch[i] = pop(store)  # the last item, unless that was this one
        i = first
    return False


@inline
def _counted_alike(store, first, i):
    """Position of the x{a,b}t for which the scratch item `i` is a y{c,d}t, or -1."""
    one = _repeat_head(store, store.scratch[i])
    tail = _tail(store, store.scratch[i])
    if one == Node.EMPTY or (tail != Node.EPSILON and tail != QUOTE) or not store.nodes[store.nodes[one].a].all_units:
        return -1
    for j in range(first, store.scratch_top):
        two = _repeat_head(store, store.scratch[j])
        if j != i and two != Node.EMPTY and _tail(store, store.scratch[j]) == tail:
            if store.nodes[store.nodes[two].a].unit:
                return j
    return -1


@kernel
def _and_with_epsilon(store, first, excluded):
    """Intersection of EPSILON and others: EPSILON if all are nullable, else EMPTY."""
    result = Node.EPSILON
    for i in range(first, store.scratch_top):
        if not store.nodes[store.scratch[i]].nullable:
            result = Node.EMPTY
    store.scratch_top = first
    if store.nodes[excluded].nullable:
        return Node.EMPTY
    return result


@inline
def _leads_to(store, node, anything):
    """Whether a node is text followed by `anything`."""
    for _ in range(MAX_PARTS):
        if store.nodes[node].kind != NodeKind.CONCAT:
            return False
        spend(store, 1)
        if not store.nodes[store.nodes[node].a].text:
            return False
        node = store.nodes[node].b
        if node == anything:
            return True
    return False


@kernel
def _drop_included(store, first):
    """Drop members of a union, the scratch items from `first`, that are included in another one."""
    for i in range(first, store.scratch_top):
        anything = store.scratch[i]
        if not is_anything(store, anything):
            continue
        kept = first
        for j in range(first, store.scratch_top):
            other = store.scratch[j]
            if other == anything or not _leads_to(store, other, anything):
                store.scratch[kept] = other
                kept += 1
        store.scratch_top = kept
        return


@kernel
def _is_included(store, node, union):
    """Whether all members of a node are seen to be included in a union, see `_is_in`."""
    if store.nodes[node].kind != NodeKind.UNION:
        return _is_in(store, node, union)
    for i in range(n_operands(store, node)):
        if not _is_in(store, operand(store, node, i), union):
            return False
    return True


@kernel
def _is_in(store, node, union):
    """Whether a node is seen to be included in a member of a union, or in `union` itself if that is another node."""
    if node <= Node.FIRST_SINGLE or store.nodes[node].kind != NodeKind.CONCAT:
        return False
    if store.nodes[union].kind != NodeKind.UNION:
        return is_anything(store, union) and _leads_to(store, node, union)
    n = n_operands(store, union)
    if n > MAX_MEMBERS:
        return False
    for i in range(n):
        member = operand(store, union, i)
        if member == node or (is_anything(store, member) and _leads_to(store, node, member)):
            return True
    return False
