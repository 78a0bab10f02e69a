"""Hash-consed regular expressions over bytes: constructors that simplify.

Equal expressions get equal ids, up to the laws applied here: union and intersection are
sets (associative, commutative, idempotent), concatenation is right-associative, repetition keeps its bounds as
numbers. That is enough for finitely many derivatives (J. Brzozowski, "Derivatives of regular expressions", JACM 11,
1964; S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19, 2009).

    kind        a             b             low, high       (tables/store_layout.py)
    EMPTY                                                   no string (node 0)
    EPSILON                                                 the empty string (node 1)
    BYTES       byte set                                    one byte of a set
    LITERAL     first byte    length >= 2                   a byte string in `literals`
    CONCAT      left          right                         left is never a concatenation
    UNION       list                                        of at least two, sorted
    AND         list                                        of at least two, sorted
    NOT         operand                                     complement over all byte strings (node 2 is NOT EMPTY)
    REPEAT      operand                       bounds        high = UNBOUNDED for no bound
    DFA         automaton     state                         only states from which it can accept
    TOKENS      token set                                   tokens by their ids: no byte leads on, yet not empty

Only intersections and complements can hide emptiness; every other constructor removes it, see emptiness.py. The
search there goes by `distance`: the bytes of the shortest string, except that a complement has 0 or 1, and an
intersection the greatest of its members' and a sixteenth of the others': each may ask for something of its own, but all
wait together for the last byte of a letter.

In: node ids; lists of operands on the scratch stack. Out: node ids. Cost: a hash look-up, about 30 ns.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import intern_list, mix
from ..tables.kinds import NodeKind
from ..tables.linear_hash import HASH_BITS, NOT_FOUND, add_record, first_place, next_record
from ..tables.memory import exceed, reserve, spend
from ..tables.store_layout import LIMIT_NODES, STORE
from .class_maps import intern_map, map_of_set, meet
from .nodes import BYTE_DISTANCE, MOST_DISTANCE, UNBOUNDED, Node, NodeFlag, pop, push

_NODE_BYTES, _NEXT = STORE.record("nodes").n_bytes, STORE.record("nodes").offset("next")


@inline
def _literal_hash(store, first, n):
    literals = store.literals
    value = n + 7
    for i in range(first, first + n):
        value = mix(value, literals[i])
    return value


@inline
def _node_hash(store, kind, a, b, low, high):
    if kind == NodeKind.LITERAL:
        return _literal_hash(store, a, b)
    return mix(mix(mix(mix(kind, a), b), low), high)


@inline
def _same_literal(store, one, two, n):
    literals = store.literals
    for i in range(n):
        if literals[one + i] != literals[two + i]:
            return False
    return True


@kernel
def find_node(store, kind, a, b, low, high):
    """Id of an equal node, or -1 - (its hash)."""
    hashed = _node_hash(store, kind, a, b, low, high) & HASH_BITS
    nodes = store.nodes
    place = first_place(store, STORE.node_heads, STORE.n_nodes, hashed)
    while place != 0:
        node, place = next_record(place, nodes.address + _NEXT, _NODE_BYTES, hashed)
        if node != NOT_FOUND and nodes[node].kind == kind and nodes[node].b == b:
            if kind == NodeKind.LITERAL:
                if _same_literal(store, nodes[node].a, a, b):
                    return node
            elif nodes[node].a == a and nodes[node].low == low and nodes[node].high == high:
                return node
    return -1 - hashed


@kernel
def add_node(store, missed, kind, a, b, low, high, flags, class_map, distance):
    """Append a node; `missed` is what `find_node` returned."""
    if store.n_nodes >= store.max_nodes:
        exceed(store, LIMIT_NODES)
    spend(store, 10)
    node = store.n_nodes
    nodes = reserve(store.nodes, node + 1)
    nodes[node].kind = kind
    nodes[node].a = a
    nodes[node].b = b
    nodes[node].low = low
    nodes[node].high = high
    nodes[node].flags = flags
    nodes[node].map = class_map
    nodes[node].row = 0
    nodes[node].distance = min(distance, MOST_DISTANCE)
    add_record(store, STORE.node_heads, STORE.n_nodes, nodes.address + _NEXT, _NODE_BYTES, -1 - missed)
    return node


@kernel
def init_nodes(store):
    """Make the reserved nodes: EMPTY, EPSILON, ALL, the 256 single bytes, and LAZY_END."""
    first = store.scratch_top
    address = reserve(store.scratch, first + 64)
    for i in range(64):
        address[first + i] = 0
    intern_map(store, first)  # map 0: one class
    empty = find_node(store, NodeKind.EMPTY, 0, 0, 0, 0)
    add_node(store, empty, NodeKind.EMPTY, 0, 0, 0, 0, NodeFlag.FINITE, 0, MOST_DISTANCE)
    epsilon = find_node(store, NodeKind.EPSILON, 0, 0, 0, 0)
    add_node(store, epsilon, NodeKind.EPSILON, 0, 0, 0, 0, NodeFlag.NULLABLE | NodeFlag.FINITE, 0, 0)
    everything = find_node(store, NodeKind.NOT, 0, 0, 0, 0)
    add_node(
        store, everything, NodeKind.NOT, 0, 0, 0, 0, NodeFlag.NULLABLE | NodeFlag.HIDES | NodeFlag.KNOWN_FULL, 0, 0
    )
    for byte in range(256):
        for i in range(8):
            push(store, (1 << (byte & 31)) if i == byte >> 5 else 0)
        make_bytes(store, store.scratch_top - 8)
    lazy_end = find_node(store, NodeKind.EPSILON, 1, 0, 0, 0)
    add_node(store, lazy_end, NodeKind.EPSILON, 1, 0, 0, 0, NodeFlag.NULLABLE | NodeFlag.FINITE, 0, 0)


@kernel
def make_bytes(store, first):
    """Node for the byte set in the 8 scratch items from `first`, which are taken off the stack."""
    any_bit = 0
    for i in range(8):
        any_bit |= store.scratch[first + i]
    byte_set = intern_list(store.byte_sets, store.scratch.address, first, 8)
    store.scratch_top = first
    if any_bit == 0:
        return Node.EMPTY
    found = find_node(store, NodeKind.BYTES, byte_set, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(
        store, found, NodeKind.BYTES, byte_set, 0, 0, 0, NodeFlag.FINITE, map_of_set(store, byte_set), BYTE_DISTANCE
    )


@kernel
def make_literal(store, first, n):
    """Node for `literals`[first : first + n]."""
    if n == 0:
        return Node.EPSILON
    byte = store.literals[first]
    if n == 1:
        return Node.FIRST_SINGLE + byte
    found = find_node(store, NodeKind.LITERAL, first, n, 0, 0)
    if found >= 0:
        return found
    return add_node(
        store,
        found,
        NodeKind.LITERAL,
        first,
        n,
        0,
        0,
        NodeFlag.FINITE,
        store.nodes[Node.FIRST_SINGLE + byte].map,
        n * BYTE_DISTANCE,
    )


@kernel
def _cons(store, left, right):
    """Concatenation whose left part is not one."""
    if left == Node.EMPTY or right == Node.EMPTY:
        return Node.EMPTY
    if left == Node.EPSILON:
        return right
    if right == Node.EPSILON:
        return left
    if left == Node.ALL and right == Node.ALL:
        return Node.ALL
    found = find_node(store, NodeKind.CONCAT, left, right, 0, 0)
    if found >= 0:
        return found
    one = store.nodes[left].flags
    two = store.nodes[right].flags
    flags = (one & two & (NodeFlag.NULLABLE | NodeFlag.FINITE)) | ((one | two) & NodeFlag.HIDES)
    class_map = store.nodes[left].map
    if one & NodeFlag.NULLABLE:
        class_map = meet(store, class_map, store.nodes[right].map)
    distance = store.nodes[left].distance + store.nodes[right].distance
    return add_node(store, found, NodeKind.CONCAT, left, right, 0, 0, flags, class_map, distance)


@kernel
def make_concat(store, left, right):
    """Left right, right-associated."""
    if store.nodes[left].kind != NodeKind.CONCAT:
        return _cons(store, left, right)
    first = store.scratch_top
    while store.nodes[left].kind == NodeKind.CONCAT:
        push(store, store.nodes[left].a)
        left = store.nodes[left].b
    result = _cons(store, left, right)
    while store.scratch_top > first:
        result = _cons(store, pop(store), result)
    return result


@kernel
def make_repeat(store, operand, low, high):
    """operand{low,high}."""
    if operand == Node.EMPTY:
        return Node.EPSILON if low == 0 else Node.EMPTY
    if high == 0 or operand == Node.EPSILON:
        return Node.EPSILON
    if operand == Node.ALL or (low == 1 and high == 1):
        return operand
    flags = store.nodes[operand].flags
    if flags & NodeFlag.NULLABLE:
        low = 0
    if store.nodes[operand].kind == NodeKind.REPEAT and high == UNBOUNDED and low <= 1:
        # (x*)* = x*, (x+)+ = x+, (x?)* = x*; x{2,}* has gaps and stays
        if store.nodes[operand].low <= 1:
            return make_repeat_plain(store, store.nodes[operand].a, low * store.nodes[operand].low, UNBOUNDED)
    return make_repeat_plain(store, operand, low, high)


@kernel
def make_repeat_plain(store, operand, low, high):
    found = find_node(store, NodeKind.REPEAT, operand, 0, low, high)
    if found >= 0:
        return found
    inner = store.nodes[operand].flags
    flags = inner & NodeFlag.HIDES
    if low == 0:
        flags |= NodeFlag.NULLABLE
    if high != UNBOUNDED:
        flags |= inner & NodeFlag.FINITE
    distance = low * store.nodes[operand].distance
    return add_node(store, found, NodeKind.REPEAT, operand, 0, low, high, flags, store.nodes[operand].map, distance)


@kernel
def make_not(store, operand):
    """Complement over all byte strings."""
    if store.nodes[operand].kind == NodeKind.NOT:
        return store.nodes[operand].a
    found = find_node(store, NodeKind.NOT, operand, 0, 0, 0)
    if found >= 0:
        return found
    flags = NodeFlag.HIDES
    distance = BYTE_DISTANCE
    if not store.nodes[operand].nullable:
        flags |= NodeFlag.NULLABLE
        distance = 0
    return add_node(store, found, NodeKind.NOT, operand, 0, 0, 0, flags, store.nodes[operand].map, distance)


@kernel
def make_dfa(store, dfa, state):
    """Node for a state of a registered automaton; a state that accepts and goes nowhere is EPSILON.

    The pool has a flag and a distance a state: 1 where it accepts, plus twice its node once that is known; and how many
    bytes it takes from there to a state that accepts.
    """
    info = store.dfas
    pool = store.dfa_pool
    place = info[dfa].said + 2 * state
    flag = pool[place]
    if flag >> 1 != 0:
        return flag >> 1
    node = _node_of_state(store, dfa, state, flag, pool[place + 1])
    store.dfa_pool[place] = flag | (node << 1)
    return node


@kernel
def _node_of_state(store, dfa, state, accepting, distance):
    info = store.dfas
    width = info[dfa].width
    row = info[dfa].first + state * width
    goes_on = False
    for i in range(width):
        if store.dfa_pool[row + i] >= 0:
            goes_on = True
            break
    if not goes_on:
        return Node.EPSILON if accepting != 0 else Node.EMPTY
    found = find_node(store, NodeKind.DFA, dfa, state, 0, 0)
    if found >= 0:
        return found
    flags = NodeFlag.NULLABLE if accepting != 0 else 0
    return add_node(store, found, NodeKind.DFA, dfa, state, 0, 0, flags, info[dfa].map, distance * BYTE_DISTANCE)


@kernel
def make_tokens(store, token_set):
    """Tokens of a set; a terminal by itself, never part of an expression."""
    found = find_node(store, NodeKind.TOKENS, token_set, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(store, found, NodeKind.TOKENS, token_set, 0, 0, 0, 0, store.nodes[Node.EMPTY].map, 0)


@kernel
def add_literal(store, data):
    """Append bytes (one an item of `data`) to `literals` and return their node."""
    n = data.shape[0]
    first = store.n_literals
    literals = reserve(store.literals, first + n)
    for i in range(n):
        literals[first + i] = data[i]
    store.n_literals = first + n
    return literal_node(store, first, n)


@kernel
def literal_node(store, first, n):
    """Node of `literals[first : first + n]`; long ones are cut, so that interning what is left is linear."""
    result = Node.EPSILON
    end = first + n
    while end > first:
        size = (end - first - 1) % 32 + 1
        result = make_concat(store, make_literal(store, end - size, size), result)
        end -= size
    return result
