"""Hash-consed regular expressions over bytes: constructors that simplify.

A node is NODE_FIELDS int32. Equal expressions get equal ids, up to the laws applied here: union and intersection are
sets (associative, commutative, idempotent), concatenation is right-associative, repetition keeps its bounds as numbers.
That is enough for finitely many derivatives (J. Brzozowski, "Derivatives of regular expressions", JACM 11, 1964; S. Owens,
J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19, 2009).

    kind          A             B             LOW, HIGH
    K_EMPTY                                                   no string (node 0)
    K_EPSILON                                                 the empty string (node 1)
    K_BYTES       byte set                                    one byte of a set
    K_LITERAL     first byte    length >= 2                   a byte string in LITERALS
    K_CONCAT      left          right                         left is never a concatenation
    K_UNION       list                                        of at least two, sorted
    K_AND         list                                        of at least two, sorted
    K_NOT         operand                                     complement over all byte strings (node 2 is NOT EMPTY)
    K_REPEAT      operand                       bounds        HIGH = UNBOUNDED for no bound
    K_DFA         automaton     state                         only states from which it can accept

Only intersections and complements can hide emptiness; every other constructor removes it, see derivatives.is_empty.

In: node ids; lists of operands on the scratch stack. Out: node ids. Cost: a hash look-up, about 30 ns.
"""

from __future__ import annotations

from .interning import intern_list, list_item, list_length, map_get, map_put, mix
from .jit import kernel, never_inline
from .memory import EXCEEDED, block, block_bytes, ensure, exceed, get_i32, get_u8, new_block, publish, put_i32, put_u8
from .memory import retire
from .store_slots import (
    BYTE_SETS,
    CLASS_MAPS,
    DFA_POOL,
    DFAS,
    LIMIT_NODES,
    LITERALS,
    MAP_CLASSES,
    MAX_NODES,
    MEETS,
    N_LITERALS,
    N_NODES,
    NODE_INDEX,
    NODE_LISTS,
    NODES,
    SCRATCH,
    SCRATCH_TOP,
    STAMP,
    STAMPS,
)

NODE_FIELDS = 8
KIND = 0
A = 1
B = 2
LOW = 3
HIGH = 4
FLAGS = 5
MAP = 6
ROW = 7  # first entry of the derivative row + 1, 0 = none yet

K_EMPTY = 0
K_EPSILON = 1
K_BYTES = 2
K_LITERAL = 3
K_CONCAT = 4
K_UNION = 5
K_AND = 6
K_NOT = 7
K_REPEAT = 8
K_DFA = 9

NULLABLE = 1  # matches the empty string
HIDES = 2  # contains an intersection or complement, so emptiness needs a search
FINITE = 4  # has finitely many strings (a sufficient test)
KNOWN_FULL = 8  # a search found a string
KNOWN_EMPTY = 16  # a search found none

EMPTY = 0
EPSILON = 1
ALL = 2
FIRST_SINGLE = 3  # nodes 3 .. 258 match one given byte
UNBOUNDED = 2**31 - 1
MERGE_AT_MOST = 64  # unions longer than this are not searched for repetitions to merge


@kernel
def push(store, value):
    """Put a number on the scratch stack."""
    never_inline()
    top = store[SCRATCH_TOP]
    put_i32(ensure(store, SCRATCH, (top + 1) * 4), top, value)
    store[SCRATCH_TOP] = top + 1


@kernel
def pop(store):
    store[SCRATCH_TOP] -= 1
    return get_i32(block(store, SCRATCH), store[SCRATCH_TOP])


@kernel
def scratch(store, position):
    return get_i32(block(store, SCRATCH), position)


@kernel
def field(store, node, name):
    return get_i32(block(store, NODES), node * NODE_FIELDS + name)


@kernel
def has_flag(store, node, flag):
    return (field(store, node, FLAGS) & flag) != 0


@kernel
def add_flag(store, node, flag):
    nodes = block(store, NODES)
    put_i32(nodes, node * NODE_FIELDS + FLAGS, get_i32(nodes, node * NODE_FIELDS + FLAGS) | flag)


@kernel
def set_contains(store, byte_set, byte):
    return ((list_item(store, BYTE_SETS, byte_set, byte >> 5) >> (byte & 31)) & 1) != 0


# --- class maps: which bytes an expression cannot tell apart


@kernel
def class_of(store, class_map, byte):
    return get_u8(block(store, CLASS_MAPS + 1), class_map * 256 + byte)


@kernel
def n_classes(store, class_map):
    return get_i32(block(store, MAP_CLASSES), class_map)


@kernel
def intern_map(store, first):
    """Id of the class map whose 256 bytes lie at scratch item `first` (64 items)."""
    never_inline()
    known = store[CLASS_MAPS + 3]
    address = block(store, SCRATCH)
    number = intern_list(store, CLASS_MAPS, address, first, 64)
    if number == known:
        largest = 0
        for byte in range(256):
            largest = max(largest, get_u8(address, first * 4 + byte))
        put_i32(ensure(store, MAP_CLASSES, (number + 1) * 4), number, largest + 1)
    return number


@kernel
def meet(store, one, two):
    """The coarsest class map that refines both."""
    never_inline()
    if one == two or two == 0:
        return one
    if one == 0:
        return two
    if one > two:
        one, two = two, one
    key = (one << 32) | two
    known = map_get(store, MEETS, key)
    if known >= 0:
        return known
    stamps = ensure(store, STAMPS, 65536 * 4)
    if store[STAMP] >= 2**22:
        for i in range(65536):
            put_i32(stamps, i, 0)
        store[STAMP] = 0
    store[STAMP] += 1
    stamp = store[STAMP]
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    n = 0
    for byte in range(256):
        pair = class_of(store, one, byte) * 256 + class_of(store, two, byte)
        entry = get_i32(stamps, pair)
        if entry >> 8 != stamp:
            entry = (stamp << 8) | n
            put_i32(stamps, pair, entry)
            n += 1
        put_u8(address, first * 4 + byte, entry & 255)
    number = intern_map(store, first)
    map_put(store, MEETS, key, number)
    return number


@kernel
def _map_of_set(store, byte_set):
    never_inline()
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    class_of_first = set_contains(store, byte_set, 0)
    for byte in range(256):
        put_u8(address, first * 4 + byte, 0 if set_contains(store, byte_set, byte) == class_of_first else 1)
    return intern_map(store, first)


# --- nodes


@kernel
def _literal_hash(store, first, n):
    literals = block(store, LITERALS)
    value = n + 7
    for i in range(first, first + n):
        value = mix(value, get_u8(literals, i))
    return value


@kernel
def _node_hash(store, kind, a, b, low, high):
    if kind == K_LITERAL:
        return _literal_hash(store, a, b)
    return mix(mix(mix(mix(kind, a), b), low), high)


@kernel
def _same_literal(store, one, two, n):
    literals = block(store, LITERALS)
    for i in range(n):
        if get_u8(literals, one + i) != get_u8(literals, two + i):
            return False
    return True


@kernel
def _grow_node_index(store):
    never_inline()
    old = block(store, NODE_INDEX)
    size = 1024
    if old != 0:
        size = 2 * (block_bytes(old) // 4)
        retire(store, old)
    index = new_block(store, size * 4)
    nodes = block(store, NODES)
    for node in range(1, store[N_NODES]):
        at = node * NODE_FIELDS
        kind = get_i32(nodes, at)
        slot = _node_hash(
            store, kind, get_i32(nodes, at + A), get_i32(nodes, at + B), get_i32(nodes, at + LOW), get_i32(nodes, at + HIGH)
        ) & (size - 1)
        while get_i32(index, slot) != 0:
            slot = (slot + 1) & (size - 1)
        put_i32(index, slot, node)
    publish(store, NODE_INDEX, index)
    return index


@kernel
def _find(store, kind, a, b, low, high):
    """Id of an equal node, or -1 - (free index position)."""
    never_inline()
    index = block(store, NODE_INDEX)
    if index == 0 or 2 * (store[N_NODES] + 1) > block_bytes(index) // 4:
        index = _grow_node_index(store)
    mask = block_bytes(index) // 4 - 1
    slot = _node_hash(store, kind, a, b, low, high) & mask
    nodes = block(store, NODES)
    while True:
        node = get_i32(index, slot)
        if node == 0:
            return -1 - slot
        at = node * NODE_FIELDS
        if get_i32(nodes, at) == kind and get_i32(nodes, at + B) == b:
            if kind == K_LITERAL:
                if _same_literal(store, get_i32(nodes, at + A), a, b):
                    return node
            elif (
                get_i32(nodes, at + A) == a
                and get_i32(nodes, at + LOW) == low
                and get_i32(nodes, at + HIGH) == high
            ):
                return node
        slot = (slot + 1) & mask


@kernel
def _add(store, slot, kind, a, b, low, high, flags, class_map):
    """Append a node; `slot` is what `_find` returned."""
    never_inline()
    if store[N_NODES] >= store[MAX_NODES]:
        exceed(store, LIMIT_NODES)
    node = store[N_NODES]
    nodes = ensure(store, NODES, (node + 1) * NODE_FIELDS * 4)
    at = node * NODE_FIELDS
    put_i32(nodes, at + KIND, kind)
    put_i32(nodes, at + A, a)
    put_i32(nodes, at + B, b)
    put_i32(nodes, at + LOW, low)
    put_i32(nodes, at + HIGH, high)
    put_i32(nodes, at + FLAGS, flags)
    put_i32(nodes, at + MAP, class_map)
    put_i32(nodes, at + ROW, 0)
    put_i32(block(store, NODE_INDEX), -1 - slot, node)
    store[N_NODES] = node + 1
    return node


@kernel
def init_nodes(store):
    """Make the reserved nodes: EMPTY, EPSILON, ALL and the 256 single bytes."""
    never_inline()
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    for i in range(64):
        put_i32(address, first + i, 0)
    intern_map(store, first)  # map 0: one class
    _add(store, _find(store, K_EMPTY, 0, 0, 0, 0), K_EMPTY, 0, 0, 0, 0, FINITE, 0)
    # node 0 must not stand in the index, where 0 means free; nothing ever looks it up
    _add(store, _find(store, K_EPSILON, 0, 0, 0, 0), K_EPSILON, 0, 0, 0, 0, NULLABLE | FINITE, 0)
    _add(store, _find(store, K_NOT, 0, 0, 0, 0), K_NOT, 0, 0, 0, 0, NULLABLE | HIDES | KNOWN_FULL, 0)
    for byte in range(256):
        for i in range(8):
            push(store, (1 << (byte & 31)) if i == byte >> 5 else 0)
        make_bytes(store, store[SCRATCH_TOP] - 8)


@kernel
def make_bytes(store, first):
    """Node for the byte set in the 8 scratch items from `first`, which are taken off the stack."""
    never_inline()
    any_bit = 0
    for i in range(8):
        any_bit |= scratch(store, first + i)
    byte_set = intern_list(store, BYTE_SETS, block(store, SCRATCH), first, 8)
    store[SCRATCH_TOP] = first
    if any_bit == 0:
        return EMPTY
    found = _find(store, K_BYTES, byte_set, 0, 0, 0)
    if found >= 0:
        return found
    return _add(store, found, K_BYTES, byte_set, 0, 0, 0, FINITE, _map_of_set(store, byte_set))


@kernel
def make_literal(store, first, n):
    """Node for LITERALS[first : first + n]."""
    never_inline()
    if n == 0:
        return EPSILON
    byte = get_u8(block(store, LITERALS), first)
    if n == 1:
        return FIRST_SINGLE + byte
    found = _find(store, K_LITERAL, first, n, 0, 0)
    if found >= 0:
        return found
    return _add(store, found, K_LITERAL, first, n, 0, 0, FINITE, field(store, FIRST_SINGLE + byte, MAP))


@kernel
def _cons(store, left, right):
    """Concatenation whose left part is not one."""
    never_inline()
    if left == EMPTY or right == EMPTY:
        return EMPTY
    if left == EPSILON:
        return right
    if right == EPSILON:
        return left
    if left == ALL and right == ALL:
        return ALL
    found = _find(store, K_CONCAT, left, right, 0, 0)
    if found >= 0:
        return found
    one = field(store, left, FLAGS)
    two = field(store, right, FLAGS)
    flags = (one & two & (NULLABLE | FINITE)) | ((one | two) & HIDES)
    class_map = field(store, left, MAP)
    if one & NULLABLE:
        class_map = meet(store, class_map, field(store, right, MAP))
    return _add(store, found, K_CONCAT, left, right, 0, 0, flags, class_map)


@kernel
def make_concat(store, left, right):
    """left right, right-associated."""
    never_inline()
    if field(store, left, KIND) != K_CONCAT:
        return _cons(store, left, right)
    first = store[SCRATCH_TOP]
    while field(store, left, KIND) == K_CONCAT:
        push(store, field(store, left, A))
        left = field(store, left, B)
    result = _cons(store, left, right)
    while store[SCRATCH_TOP] > first:
        result = _cons(store, pop(store), result)
    return result


@kernel
def make_repeat(store, operand, low, high):
    """operand{low,high}."""
    never_inline()
    if operand == EMPTY:
        return EPSILON if low == 0 else EMPTY
    if high == 0 or operand == EPSILON:
        return EPSILON
    if operand == ALL or (low == 1 and high == 1):
        return operand
    flags = field(store, operand, FLAGS)
    if flags & NULLABLE:
        low = 0
    if field(store, operand, KIND) == K_REPEAT and high == UNBOUNDED and low <= 1:
        # (x*)* = x*, (x+)+ = x+, (x?)* = x*; x{2,}* has gaps and stays
        if field(store, operand, LOW) <= 1:
            return make_repeat_plain(store, field(store, operand, A), low * field(store, operand, LOW), UNBOUNDED)
    return make_repeat_plain(store, operand, low, high)


@kernel
def make_repeat_plain(store, operand, low, high):
    never_inline()
    found = _find(store, K_REPEAT, operand, 0, low, high)
    if found >= 0:
        return found
    inner = field(store, operand, FLAGS)
    flags = inner & HIDES
    if low == 0:
        flags |= NULLABLE
    if high != UNBOUNDED:
        flags |= inner & FINITE
    return _add(store, found, K_REPEAT, operand, 0, low, high, flags, field(store, operand, MAP))


@kernel
def make_not(store, operand):
    """Complement over all byte strings."""
    never_inline()
    if field(store, operand, KIND) == K_NOT:
        return field(store, operand, A)
    found = _find(store, K_NOT, operand, 0, 0, 0)
    if found >= 0:
        return found
    flags = HIDES
    if not has_flag(store, operand, NULLABLE):
        flags |= NULLABLE
    return _add(store, found, K_NOT, operand, 0, 0, 0, flags, field(store, operand, MAP))


@kernel
def make_dfa(store, dfa, state):
    """Node for a state of a registered automaton; a state that accepts and goes nowhere is EPSILON."""
    never_inline()
    info = block(store, DFAS)
    pool = block(store, DFA_POOL)
    class_map = get_i32(info, dfa * 4)
    width = get_i32(info, dfa * 4 + 1)
    accepting = get_i32(pool, get_i32(info, dfa * 4 + 3) + state) != 0
    row = get_i32(info, dfa * 4 + 2) + state * width
    goes_on = False
    for i in range(width):
        if get_i32(pool, row + i) >= 0:
            goes_on = True
            break
    if not goes_on:
        return EPSILON if accepting else EMPTY
    found = _find(store, K_DFA, dfa, state, 0, 0)
    if found >= 0:
        return found
    return _add(store, found, K_DFA, dfa, state, 0, 0, NULLABLE if accepting else 0, class_map)


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
    _sort_scratch(store, first)
    n = store[SCRATCH_TOP] - first
    if 1 < n <= MERGE_AT_MOST:
        while _merge_repeats(store, first):
            _sort_scratch(store, first)
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
    for i in range(first, first + n):
        node = scratch(store, i)
        inner = field(store, node, FLAGS)
        flags = (flags & inner & FINITE) | (flags & (NULLABLE | HIDES)) | (inner & (NULLABLE | HIDES))
        class_map = meet(store, class_map, field(store, node, MAP))
    members = intern_list(store, NODE_LISTS, block(store, SCRATCH), first, n)
    store[SCRATCH_TOP] = first
    found = _find(store, K_UNION, members, 0, 0, 0)
    if found >= 0:
        return found
    return _add(store, found, K_UNION, members, 0, 0, 0, flags, class_map)


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
    """x{a,b}t | x{c,d}t = x{min,max}t when the intervals touch: keeps (y|yy){1,100} from multiplying. One merge a call."""
    never_inline()
    end = store[SCRATCH_TOP]
    for i in range(first, end):
        one = scratch(store, i)
        head = _repeat_head(store, one)
        if head == EMPTY:
            continue
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
    all_sets = store[SCRATCH_TOP] > first
    for i in range(first, store[SCRATCH_TOP]):
        node = scratch(store, i)
        if node == EMPTY or node == excluded:
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
    for i in range(first, first + n):
        node = scratch(store, i)
        inner = field(store, node, FLAGS)
        flags = HIDES | (flags & inner & NULLABLE)
        finite |= inner & FINITE
        class_map = meet(store, class_map, field(store, node, MAP))
    members = intern_list(store, NODE_LISTS, block(store, SCRATCH), first, n)
    store[SCRATCH_TOP] = first
    found = _find(store, K_AND, members, 0, 0, 0)
    if found >= 0:
        return found
    return _add(store, found, K_AND, members, 0, 0, 0, flags | finite, class_map)


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


@kernel
def add_literal(store, data):
    """Append bytes (one an item of `data`) to LITERALS and return their node."""
    never_inline()
    n = data.shape[0]
    first = store[N_LITERALS]
    literals = ensure(store, LITERALS, first + n)
    for i in range(n):
        put_u8(literals, first + i, data[i])
    # long literals are cut, so that interning the rest after each byte stays linear
    result = EPSILON
    end = first + n
    while end > first:
        size = (end - first - 1) % 32 + 1
        piece = make_literal(store, end - size, size)
        result = make_concat(store, piece, result)
        end -= size
    store[N_LITERALS] = first + n
    return result


@kernel
def budget_spent(store):
    return store[EXCEEDED] != 0
