"""Smart constructors of regular expressions over bytes: they simplify, and equal expressions get equal ids.

The laws applied here and in set_operations.py: union and intersection are sets (associative, commutative, idempotent),
concatenation is right-associative, repetition keeps its bounds as numbers. That is enough for finitely many derivatives
(J. Brzozowski, "Derivatives of regular expressions", JACM 11, 1964; S. Owens, J. Reppy, A. Turon, "Regular-expression
derivatives re-examined", JFP 19, 2009).

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
search there goes by `distance`: about the length of the shortest string. A complement has 0 or 1, an intersection the
greatest of its members' and a sixteenth of the others': each may ask for something of its own, but all wait together
for the last byte of a letter.

Automata are made by Python: a state is a node, its derivatives are read from a transition table. The tables of all are
in one pool. They may be large, eleven megabytes for host names beyond ASCII, so their numbers come in pieces, an
operation each: the first one takes room for all, and others get their turn in between.

In: node ids; lists of operands on the scratch stack. Out: node ids. Cost: a hash look-up, about 30 ns.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import intern_list, mix
from ..tables.kinds import NodeKind
from ..tables.linear_hash import HASH_BITS, NOT_FOUND, add_record, first_probe, next_record
from ..tables.memory import copy_bytes, exceed, reserve, spend
from ..tables.store_layout import LIMIT_NODES, STORE
from .class_maps import SET_INTS, add_to_set, class_of, init_maps, map_of_classes, map_of_set, meet, push_set
from .nodes import BYTE_DISTANCE, MOST_DISTANCE, UNBOUNDED, Node, NodeFlag, pop, push

_NODE_BYTES, _NEXT = STORE.record("nodes").n_bytes, STORE.record("nodes").offset("next")
LITERAL_BYTES = 32  # long literals are cut into such pieces, so that interning what is left of one is linear
SAID_INTS = 2  # what is said of a state in `dfa_pool`:
SAID_FLAG = 0  # 1 where it accepts, plus twice its node once that is known
SAID_DISTANCE = 1  # bytes from there to a state that accepts


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
    probe = first_probe(store, STORE.node_heads, STORE.n_nodes, hashed)
    while probe != 0:
        node, probe = next_record(probe, nodes.address + _NEXT, _NODE_BYTES, hashed)
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
    added = nodes[node]
    added.kind, added.a, added.b, added.low, added.high = kind, a, b, low, high
    added.flags, added.map, added.distance = flags, class_map, min(distance, MOST_DISTANCE)
    added.row = 0
    add_record(store, STORE.node_heads, STORE.n_nodes, nodes.address + _NEXT, _NODE_BYTES, -1 - missed)
    return node


@kernel
def intern_node(store, kind, a, b, low, high, flags, class_map, distance):
    """The node with these fields; flags, map and distance follow from the others."""
    found = find_node(store, kind, a, b, low, high)
    return found if found >= 0 else add_node(store, found, kind, a, b, low, high, flags, class_map, distance)


@kernel
def init_nodes(store):
    """Make the reserved nodes: EMPTY, EPSILON, ALL, the 256 single bytes, and LAZY_END."""
    init_maps(store)
    nothing = NodeFlag.NULLABLE | NodeFlag.FINITE
    intern_node(store, NodeKind.EMPTY, 0, 0, 0, 0, NodeFlag.FINITE | NodeFlag.TEXT, 0, MOST_DISTANCE)
    intern_node(store, NodeKind.EPSILON, 0, 0, 0, 0, nothing | NodeFlag.TEXT, 0, 0)
    everything = NodeFlag.NULLABLE | NodeFlag.HIDES | NodeFlag.KNOWN_FULL
    intern_node(store, NodeKind.NOT, Node.EMPTY, 0, 0, 0, everything, 0, 0)
    for byte in range(256):
        first = push_set(store, 0)
        add_to_set(store, first, byte)
        make_bytes(store, first)
    intern_node(store, NodeKind.EPSILON, 1, 0, 0, 0, nothing, 0, 0)


@kernel
def make_bytes(store, first):
    """Node for the byte set in the scratch items from `first`, which are taken off the stack."""
    any_bit = 0
    for i in range(SET_INTS):
        any_bit |= store.scratch[first + i]
    byte_set = intern_list(store.byte_sets, store.scratch.address, first, SET_INTS)
    store.scratch_top = first
    if any_bit == 0:
        return Node.EMPTY
    found = find_node(store, NodeKind.BYTES, byte_set, 0, 0, 0)
    if found >= 0:
        return found
    class_map = map_of_set(store, byte_set)
    return add_node(store, found, NodeKind.BYTES, byte_set, 0, 0, 0, NodeFlag.FINITE, class_map, BYTE_DISTANCE)


@kernel
def make_literal(store, first, n):
    """Node for `literals`[first : first + n]."""
    if n == 0:
        return Node.EPSILON
    single = Node.FIRST_SINGLE + store.literals[first]
    if n == 1:
        return single
    class_map = store.nodes[single].map
    return intern_node(store, NodeKind.LITERAL, first, n, 0, 0, NodeFlag.FINITE, class_map, n * BYTE_DISTANCE)


@inline
def is_anything(store, node):
    """Whether a node is u*t, u any word of the prefix code."""
    head = store.nodes[node].a if store.nodes[node].kind == NodeKind.CONCAT else Node.EMPTY
    if store.nodes[head].kind != NodeKind.REPEAT or store.nodes[head].low != 0 or store.nodes[head].high != UNBOUNDED:
        return False
    return store.nodes[store.nodes[head].a].all_units


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
    if store.nodes[left].text and store.nodes[left].nullable and is_anything(store, right):
        return right  # (a|ab|)u*t = u*t
    found = find_node(store, NodeKind.CONCAT, left, right, 0, 0)
    if found >= 0:
        return found
    one = store.nodes[left].flags
    two = store.nodes[right].flags
    flags = (one & two & (NodeFlag.NULLABLE | NodeFlag.FINITE | NodeFlag.TEXT)) | ((one | two) & NodeFlag.HIDES)
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
    if store.nodes[operand].nullable:
        low = 0
    inner = store.nodes[operand]
    if inner.kind == NodeKind.REPEAT and high == UNBOUNDED and low <= 1 and inner.low <= 1:
        # (x*)* = x*, (x+)+ = x+, (x?)* = x*; x{2,}* has gaps and stays
        low *= inner.low
        operand = inner.a
    kept = NodeFlag.HIDES | NodeFlag.TEXT | (0 if high == UNBOUNDED else NodeFlag.FINITE)
    flags = store.nodes[operand].flags & kept
    if low == 0:
        flags |= NodeFlag.NULLABLE
    distance = low * store.nodes[operand].distance
    return intern_node(store, NodeKind.REPEAT, operand, 0, low, high, flags, store.nodes[operand].map, distance)


@kernel
def make_not(store, operand):
    """Complement over all byte strings."""
    if store.nodes[operand].kind == NodeKind.NOT:
        return store.nodes[operand].a
    flags = NodeFlag.HIDES
    distance = BYTE_DISTANCE
    if not store.nodes[operand].nullable:
        flags |= NodeFlag.NULLABLE
        distance = 0
    return intern_node(store, NodeKind.NOT, operand, 0, 0, 0, flags, store.nodes[operand].map, distance)


@kernel
def make_tokens(store, first):
    """The tokens in the scratch items from `first`, which are taken off: a whole terminal, never part of a node."""
    token_set = intern_list(store.token_sets, store.scratch.address, first, store.scratch_top - first)
    store.scratch_top = first
    return intern_node(store, NodeKind.TOKENS, token_set, 0, 0, 0, 0, store.nodes[Node.EMPTY].map, 0)


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
    """Node of `literals[first : first + n]`, of any length."""
    result = Node.EPSILON
    end = first + n
    while end > first:
        size = (end - first - 1) % LITERAL_BYTES + 1
        result = make_concat(store, make_literal(store, end - size, size), result)
        end -= size
    return result


@kernel
def put_numbers(store, position, n_all, data):
    """Copy the next numbers of an automaton to `position`; -1: they are the first of `n_all`. Returns where."""
    if position < 0:
        position = store.n_dfa_pool
        reserve(store.dfa_pool, position + n_all)
        store.n_dfa_pool = position + n_all
    copy_bytes(store.dfa_pool.address + position * 4, data.ctypes.data, data.shape[0] * 4)
    return position


@kernel
def add_automaton(store, width, n_states, position, class_of_byte):
    """The node of state 0 of an automaton whose numbers are at `position`."""
    class_map = map_of_classes(store, class_of_byte)
    dfa = store.n_dfas
    info = reserve(store.dfas, dfa + 1)[dfa]
    info.map, info.width, info.first, info.said = class_map, width, position, position + n_states * width
    store.n_dfas = dfa + 1
    return make_dfa(store, dfa, 0)


@kernel
def make_dfa(store, dfa, state):
    """Node for a state of a registered automaton; a state that accepts and goes nowhere is EPSILON."""
    said = store.dfas[dfa].said + SAID_INTS * state
    flag = store.dfa_pool[said + SAID_FLAG]
    if flag >> 1 != 0:
        return flag >> 1
    node = _node_of_state(store, dfa, state, flag, store.dfa_pool[said + SAID_DISTANCE] * BYTE_DISTANCE)
    store.dfa_pool[said + SAID_FLAG] = flag | (node << 1)
    return node


@kernel
def _node_of_state(store, dfa, state, accepting, distance):
    width = store.dfas[dfa].width
    row = store.dfas[dfa].first + state * width
    i = 0
    while i < width and store.dfa_pool[row + i] < 0:
        i += 1
    if i == width:  # it goes nowhere
        return Node.EPSILON if accepting != 0 else Node.EMPTY
    flags = NodeFlag.NULLABLE if accepting != 0 else 0
    return intern_node(store, NodeKind.DFA, dfa, state, 0, 0, flags, store.dfas[dfa].map, distance)


@inline
def dfa_target(store, node, byte):
    """The state of its automaton that a byte leads to from a node's, or -1."""
    dfa = store.nodes[node].a
    info = store.dfas
    row = info[dfa].first + store.nodes[node].b * info[dfa].width
    return store.dfa_pool[row + class_of(store, info[dfa].map, byte)]
