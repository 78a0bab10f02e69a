"""Hash-consed regular expressions over bytes: constructors that simplify.

A node is NODE_FIELDS int32. Equal expressions get equal ids, up to the laws applied here: union and intersection are
sets (associative, commutative, idempotent), concatenation is right-associative, repetition keeps its bounds as
numbers. That is enough for finitely many derivatives (J. Brzozowski, "Derivatives of regular expressions", JACM 11,
1964; S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19, 2009).

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
    K_TOKENS      token set                                   tokens by their ids: no byte leads on, yet not empty

Only intersections and complements can hide emptiness; every other constructor removes it, see emptiness.py. The
search there goes by DISTANCE: the bytes of the shortest string, except that a complement has 0 or 1, and an
intersection the greatest of its members' and a sixteenth of the others': each may ask for something of its own, but all
wait together for the last byte of a letter.

In: node ids; lists of operands on the scratch stack. Out: node ids. Cost: a hash look-up, about 30 ns.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.interning import intern_list, mix
from ..tables.linear_hash import HASH_BITS, NO_RECORD, add_record, first_place, next_record
from ..tables.memory import block, ensure, exceed, get_i32, get_u8, put_i32, put_u8, spend
from ..tables.store_layout import (
    BYTE_SETS,
    DFA_POOL,
    DFAS,
    LIMIT_NODES,
    LITERALS,
    MAX_NODES,
    N_LITERALS,
    N_NODES,
    NODE_HEADS,
    NODES,
    SCRATCH,
    SCRATCH_TOP,
)
from .class_maps import intern_map, map_of_set, meet
from .nodes import (
    ALL,
    BYTE_DISTANCE,
    DISTANCE,
    EMPTY,
    EPSILON,
    FINITE,
    FIRST_SINGLE,
    FLAGS,
    HIDES,
    HIGH,
    K_BYTES,
    K_CONCAT,
    K_DFA,
    K_EMPTY,
    K_EPSILON,
    K_LITERAL,
    K_NOT,
    K_REPEAT,
    K_TOKENS,
    KIND,
    KNOWN_FULL,
    LOW,
    MAP,
    MOST_DISTANCE,
    NEXT,
    NODE_FIELDS,
    NULLABLE,
    ROW,
    UNBOUNDED,
    A,
    B,
    field,
    has_flag,
    pop,
    push,
    scratch,
)


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
def find_node(store, kind, a, b, low, high):
    """Id of an equal node, or -1 - (its hash)."""
    never_inline()
    hashed = _node_hash(store, kind, a, b, low, high) & HASH_BITS
    nodes = block(store, NODES)
    place = first_place(store, NODE_HEADS, N_NODES, hashed)
    while place != 0:
        node, place = next_record(place, nodes + NEXT * 4, NODE_FIELDS * 4, hashed)
        at = node * NODE_FIELDS
        if node != NO_RECORD and get_i32(nodes, at) == kind and get_i32(nodes, at + B) == b:
            if kind == K_LITERAL:
                if _same_literal(store, get_i32(nodes, at + A), a, b):
                    return node
            elif get_i32(nodes, at + A) == a and get_i32(nodes, at + LOW) == low and get_i32(nodes, at + HIGH) == high:
                return node
    return -1 - hashed


@kernel
def add_node(store, missed, kind, a, b, low, high, flags, class_map, distance):
    """Append a node; `missed` is what `find_node` returned."""
    never_inline()
    if store[N_NODES] >= store[MAX_NODES]:
        exceed(store, LIMIT_NODES)
    spend(store, 10)
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
    put_i32(nodes, at + DISTANCE, min(distance, MOST_DISTANCE))
    add_record(store, NODE_HEADS, N_NODES, nodes + NEXT * 4, NODE_FIELDS * 4, -1 - missed)
    return node


@kernel
def init_nodes(store):
    """Make the reserved nodes: EMPTY, EPSILON, ALL, the 256 single bytes, and LAZY_END."""
    never_inline()
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    for i in range(64):
        put_i32(address, first + i, 0)
    intern_map(store, first)  # map 0: one class
    add_node(store, find_node(store, K_EMPTY, 0, 0, 0, 0), K_EMPTY, 0, 0, 0, 0, FINITE, 0, MOST_DISTANCE)
    add_node(store, find_node(store, K_EPSILON, 0, 0, 0, 0), K_EPSILON, 0, 0, 0, 0, NULLABLE | FINITE, 0, 0)
    add_node(store, find_node(store, K_NOT, 0, 0, 0, 0), K_NOT, 0, 0, 0, 0, NULLABLE | HIDES | KNOWN_FULL, 0, 0)
    for byte in range(256):
        for i in range(8):
            push(store, (1 << (byte & 31)) if i == byte >> 5 else 0)
        make_bytes(store, store[SCRATCH_TOP] - 8)
    lazy_end = find_node(store, K_EPSILON, 1, 0, 0, 0)
    add_node(store, lazy_end, K_EPSILON, 1, 0, 0, 0, NULLABLE | FINITE, 0, 0)


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
    found = find_node(store, K_BYTES, byte_set, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(store, found, K_BYTES, byte_set, 0, 0, 0, FINITE, map_of_set(store, byte_set), BYTE_DISTANCE)


@kernel
def make_literal(store, first, n):
    """Node for LITERALS[first : first + n]."""
    never_inline()
    if n == 0:
        return EPSILON
    byte = get_u8(block(store, LITERALS), first)
    if n == 1:
        return FIRST_SINGLE + byte
    found = find_node(store, K_LITERAL, first, n, 0, 0)
    if found >= 0:
        return found
    return add_node(
        store, found, K_LITERAL, first, n, 0, 0, FINITE, field(store, FIRST_SINGLE + byte, MAP), n * BYTE_DISTANCE
    )


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
    found = find_node(store, K_CONCAT, left, right, 0, 0)
    if found >= 0:
        return found
    one = field(store, left, FLAGS)
    two = field(store, right, FLAGS)
    flags = (one & two & (NULLABLE | FINITE)) | ((one | two) & HIDES)
    class_map = field(store, left, MAP)
    if one & NULLABLE:
        class_map = meet(store, class_map, field(store, right, MAP))
    distance = field(store, left, DISTANCE) + field(store, right, DISTANCE)
    return add_node(store, found, K_CONCAT, left, right, 0, 0, flags, class_map, distance)


@kernel
def make_concat(store, left, right):
    """Left right, right-associated."""
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
    found = find_node(store, K_REPEAT, operand, 0, low, high)
    if found >= 0:
        return found
    inner = field(store, operand, FLAGS)
    flags = inner & HIDES
    if low == 0:
        flags |= NULLABLE
    if high != UNBOUNDED:
        flags |= inner & FINITE
    distance = low * field(store, operand, DISTANCE)
    return add_node(store, found, K_REPEAT, operand, 0, low, high, flags, field(store, operand, MAP), distance)


@kernel
def make_not(store, operand):
    """Complement over all byte strings."""
    never_inline()
    if field(store, operand, KIND) == K_NOT:
        return field(store, operand, A)
    found = find_node(store, K_NOT, operand, 0, 0, 0)
    if found >= 0:
        return found
    flags = HIDES
    distance = BYTE_DISTANCE
    if not has_flag(store, operand, NULLABLE):
        flags |= NULLABLE
        distance = 0
    return add_node(store, found, K_NOT, operand, 0, 0, 0, flags, field(store, operand, MAP), distance)


@kernel
def make_dfa(store, dfa, state):
    """Node for a state of a registered automaton; a state that accepts and goes nowhere is EPSILON.

    The pool has a flag and a distance a state: 1 where it accepts, plus twice its node once that is known; and how many
    bytes it takes from there to a state that accepts.
    """
    never_inline()
    info = block(store, DFAS)
    pool = block(store, DFA_POOL)
    place = get_i32(info, dfa * 4 + 3) + 2 * state
    flag = get_i32(pool, place)
    if flag >> 1 != 0:
        return flag >> 1
    node = _node_of_state(store, dfa, state, flag, get_i32(pool, place + 1))
    put_i32(block(store, DFA_POOL), place, flag | (node << 1))
    return node


@kernel
def _node_of_state(store, dfa, state, accepting, distance):
    never_inline()
    info = block(store, DFAS)
    width = get_i32(info, dfa * 4 + 1)
    row = get_i32(info, dfa * 4 + 2) + state * width
    goes_on = False
    for i in range(width):
        if get_i32(block(store, DFA_POOL), row + i) >= 0:
            goes_on = True
            break
    if not goes_on:
        return EPSILON if accepting != 0 else EMPTY
    found = find_node(store, K_DFA, dfa, state, 0, 0)
    if found >= 0:
        return found
    flags = NULLABLE if accepting != 0 else 0
    return add_node(store, found, K_DFA, dfa, state, 0, 0, flags, get_i32(info, dfa * 4), distance * BYTE_DISTANCE)


@kernel
def make_tokens(store, token_set):
    """Tokens of a set; a terminal by itself, never part of an expression."""
    never_inline()
    found = find_node(store, K_TOKENS, token_set, 0, 0, 0)
    if found >= 0:
        return found
    return add_node(store, found, K_TOKENS, token_set, 0, 0, 0, 0, field(store, EMPTY, MAP), 0)


@kernel
def add_literal(store, data):
    """Append bytes (one an item of `data`) to LITERALS and return their node."""
    never_inline()
    n = data.shape[0]
    first = store[N_LITERALS]
    literals = ensure(store, LITERALS, first + n)
    for i in range(n):
        put_u8(literals, first + i, data[i])
    store[N_LITERALS] = first + n
    return literal_node(store, first, n)


@kernel
def literal_node(store, first, n):
    """Node of LITERALS[first : first + n]; long ones are cut, so that interning the rest after each byte is linear."""
    never_inline()
    result = EPSILON
    end = first + n
    while end > first:
        size = (end - first - 1) % 32 + 1
        result = make_concat(store, make_literal(store, end - size, size), result)
        end -= size
    return result
