"""Derivatives of regular expressions and the exact test for emptiness, both remembered.

    D(r s, c) = D(r, c) s  |  D(s, c) if r is nullable          D(r | s, c) = D(r, c) | D(s, c)
    D(r{a,b}, c) = D(r, c) r{a-1,b-1}                           D(r & s, c) = D(r, c) & D(s, c)
    D(not r, c) = not D(r, c)

(Brzozowski 1964, section 3.) The rule for bounded repetition is exact also for a nullable r, whose lower bound is 0.
A node's derivatives are stored by byte class, so nodes with their rows are a DFA made on demand.

No kernel calls itself (a cached recursive kernel aborts the second process that loads it): one loop with a stack of
nodes whose operands' derivatives are still missing.

In: a store's table and node ids. Out: node ids.
Cost: a known derivative 3 ns; a new one 50-200 ns an operator on the way down.
"""

from __future__ import annotations

from .class_maps import class_of, n_classes, set_contains
from .interning import list_item, list_length
from .jit import kernel, never_inline
from .memory import EXCEEDED, block, ensure, exceed, get_i32, get_u8, publish_i32, put_i32
from .node_table import (
    ALL,
    EMPTY,
    EPSILON,
    FLAGS,
    HIDES,
    HIGH,
    K_AND,
    K_BYTES,
    K_CONCAT,
    K_DFA,
    K_LITERAL,
    K_NOT,
    K_UNION,
    KIND,
    KNOWN_EMPTY,
    KNOWN_FULL,
    LOW,
    MAP,
    NODE_FIELDS,
    NULLABLE,
    ROW,
    UNBOUNDED,
    A,
    B,
    add_flag,
    field,
    has_flag,
    pop,
    push,
    scratch,
)
from .regex_nodes import make_concat, make_dfa, make_literal, make_not, make_repeat
from .set_operations import make_and, make_union
from .store_slots import (
    DERIVATIVES,
    DFA_POOL,
    DFAS,
    LIMIT_EMPTINESS,
    LITERALS,
    MAX_EMPTINESS,
    N_DERIVATIVES,
    N_NODES,
    NODE_LISTS,
    NODES,
    SCRATCH,
    SCRATCH_TOP,
    SEARCH,
    SEARCH_SEEN,
)

NOT_TAKEN = -1
ENTRY = 5  # fields of an entry of the search
LOW_BYTES = 0  # ways of the search
HIGH_BYTES = 1
BREADTH = 2


@kernel
def _dfa_target(store, node, byte):
    """The state of its automaton that a byte leads to from a node's, or -1."""
    dfa = field(store, node, A)
    info = block(store, DFAS)
    row = get_i32(info, dfa * 4 + 2) + field(store, node, B) * get_i32(info, dfa * 4 + 1)
    return get_i32(block(store, DFA_POOL), row + class_of(store, get_i32(info, dfa * 4), byte))


@kernel
def known_derivative(store, node, byte):
    """Derivative where it costs nothing: leaves, and what is remembered; else NOT_TAKEN."""
    never_inline()
    kind = field(store, node, KIND)
    if kind == K_BYTES:
        return EPSILON if set_contains(store, field(store, node, A), byte) else EMPTY
    if kind == K_LITERAL:
        first = field(store, node, A)
        if get_u8(block(store, LITERALS), first) != byte:
            return EMPTY
        return make_literal(store, first + 1, field(store, node, B) - 1)
    if node == EMPTY or node == EPSILON:
        return EMPTY
    if kind == K_DFA:
        target = _dfa_target(store, node, byte)
        return EMPTY if target < 0 else make_dfa(store, field(store, node, A), target)
    row = field(store, node, ROW)
    if row == 0:
        return NOT_TAKEN
    return get_i32(block(store, DERIVATIVES), row - 1 + class_of(store, field(store, node, MAP), byte)) - 1


@kernel
def _remember(store, node, byte, result):
    never_inline()
    class_map = field(store, node, MAP)
    row = field(store, node, ROW) - 1
    if row < 0:
        row = store[N_DERIVATIVES]
        store[N_DERIVATIVES] = row + n_classes(store, class_map)
        ensure(store, DERIVATIVES, store[N_DERIVATIVES] * 4)
        publish_i32(block(store, NODES) + (node * NODE_FIELDS + ROW) * 4, row + 1)
    publish_i32(block(store, DERIVATIVES) + (row + class_of(store, class_map, byte)) * 4, result + 1)


@kernel
def derivative(store, root, byte):
    """D(root, byte). EMPTY and nothing remembered once a limit is reached."""
    never_inline()
    result = known_derivative(store, root, byte)
    if result != NOT_TAKEN:
        return result
    bottom = store[SCRATCH_TOP]
    push(store, root)
    while store[SCRATCH_TOP] > bottom:
        if store[EXCEEDED] != 0:
            store[SCRATCH_TOP] = bottom
            return EMPTY
        node = scratch(store, store[SCRATCH_TOP] - 1)
        if known_derivative(store, node, byte) != NOT_TAKEN:
            pop(store)
            continue
        kind = field(store, node, KIND)
        operand = field(store, node, A)
        if kind == K_UNION or kind == K_AND:
            first = store[SCRATCH_TOP]
            result = _of_members(store, operand, byte, kind == K_AND)
            if result == NOT_TAKEN:
                continue
            if result != EMPTY:
                result = make_union(store, first) if kind == K_UNION else make_and(store, first)
        else:
            inner = known_derivative(store, operand, byte)
            if inner == NOT_TAKEN:
                push(store, operand)
                continue
            if kind == K_CONCAT:
                right = field(store, node, B)
                nullable = has_flag(store, operand, NULLABLE)
                other = EMPTY
                if nullable:
                    other = known_derivative(store, right, byte)
                    if other == NOT_TAKEN:
                        push(store, right)
                        continue
                result = make_concat(store, inner, right)
                if other != EMPTY:
                    first = store[SCRATCH_TOP]
                    push(store, result)
                    push(store, other)
                    result = make_union(store, first)
            elif kind == K_NOT:
                result = make_not(store, inner)
            else:  # K_REPEAT
                low = field(store, node, LOW)
                high = field(store, node, HIGH)
                rest = make_repeat(store, operand, max(low - 1, 0), UNBOUNDED if high == UNBOUNDED else high - 1)
                result = make_concat(store, inner, rest)
        if store[EXCEEDED] == 0:
            _remember(store, node, byte, result)
            pop(store)
    return known_derivative(store, root, byte)


@kernel
def _of_members(store, members, byte, is_and):
    """Push the derivatives of all members of a union or intersection, or those members whose are still missing.

    NOT_TAKEN when some are missing; EMPTY, and nothing is pushed, when one of an intersection is: most bytes are
    refused by some member, and then the others need not be asked.
    """
    never_inline()
    first = store[SCRATCH_TOP]
    result = ALL
    for i in range(list_length(store, NODE_LISTS, members)):
        member = list_item(store, NODE_LISTS, members, i)
        known = known_derivative(store, member, byte)
        if known == NOT_TAKEN:
            if result == ALL:
                store[SCRATCH_TOP] = first
            result = NOT_TAKEN
            push(store, member)
        elif known == EMPTY and is_and:
            store[SCRATCH_TOP] = first
            return EMPTY
        elif result == ALL:
            push(store, known)
    return result


@kernel
def is_empty(store, root):
    """Whether no string matches `root`, decided exactly.

    Without intersection and complement only EMPTY is empty. Otherwise a search through the derivatives looks for a
    nullable one; there are finitely many. A string found marks the path to it, a search that ends without one marks
    everything that it saw. False once a limit is reached (the caller looks at EXCEEDED).
    """
    never_inline()
    if _is_known_full(store, root):
        return False
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return True
    if field(store, root, KIND) == K_CONCAT:
        # decided by its parts one after the other: the search below then never crosses a long plain tail
        left = field(store, root, A)
        right = field(store, root, B)
        if not has_flag(store, right, HIDES):
            found = _search(store, left) if not _is_known_full(store, left) else True
            if store[EXCEEDED] == 0:
                add_flag(store, root, KNOWN_FULL if found else KNOWN_EMPTY)
            return not found
    return not _search(store, root)


@kernel
def _is_known_full(store, node):
    flags = field(store, node, FLAGS)
    if node == EMPTY:
        return False
    return (flags & (NULLABLE | KNOWN_FULL)) != 0 or (flags & HIDES) == 0


@kernel
def _search(store, root):
    """Whether some derivative of `root` is nullable.

    The scratch stack holds entries (node, entry of its parent, entry below it, first and last class not tried yet).
    Three ways are tried in turn, a byte each: depth first by the lowest bytes, depth first by the highest, and breadth
    first. Each loses itself somewhere: breadth first in `.{1000}&[a-z]*`, low bytes in a label that needs a
    Chinese letter, high ones in a minimal length for which characters are too long. A way remembers its path in
    the entries below; what another way finds is not put on it. (When it was, every other step led back to the start,
    and host names of 40 characters took 30,000 steps instead of 200.) Entries stay, they are the parents.
    """
    never_inline()
    if _is_known_full(store, root):
        return True
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return False
    store[SEARCH] += 1
    bottom = store[SCRATCH_TOP]
    _see(store, root)
    low = _enter(store, root, -1, -1)
    high = low
    oldest = low
    steps = 0
    while True:
        while oldest < store[SCRATCH_TOP] and _is_done(store, oldest):
            oldest += ENTRY
        if oldest == store[SCRATCH_TOP]:
            break
        way = steps % 3
        if way == BREADTH:
            entry = oldest
        else:
            entry = low if way == LOW_BYTES else high
            while entry >= 0 and _is_done(store, entry):
                entry = scratch(store, entry + 2)
            entry = oldest if entry < 0 else entry
        node = scratch(store, entry)
        byte = _next_byte(store, entry, node, way == HIGH_BYTES)
        target = EMPTY if _refuses(store, node, byte) else derivative(store, node, byte)
        steps += 1
        if steps > store[MAX_EMPTINESS]:
            exceed(store, LIMIT_EMPTINESS)
        if store[EXCEEDED] != 0:
            store[SCRATCH_TOP] = bottom
            return True
        found = entry
        if target != EMPTY and not has_flag(store, target, KNOWN_EMPTY):
            if _is_known_full(store, target):
                while entry >= 0:
                    add_flag(store, scratch(store, entry), KNOWN_FULL)
                    entry = scratch(store, entry + 1)
                store[SCRATCH_TOP] = bottom
                return True
            if _see(store, target):
                found = _enter(store, target, entry, -1 if way == BREADTH else entry)
        if way == LOW_BYTES:
            low = found
        elif way == HIGH_BYTES:
            high = found
    for entry in range(bottom, store[SCRATCH_TOP], ENTRY):
        add_flag(store, scratch(store, entry), KNOWN_EMPTY)
    store[SCRATCH_TOP] = bottom
    return False


@kernel
def _enter(store, node, parent, below):
    """Append an entry of the search, of which no class was tried yet; returns its position."""
    never_inline()
    entry = store[SCRATCH_TOP]
    push(store, node)
    push(store, parent)
    push(store, below)
    push(store, 0)
    push(store, n_classes(store, field(store, node, MAP)) - 1)
    return entry


@kernel
def _is_done(store, entry):
    return scratch(store, entry + 3) > scratch(store, entry + 4)


@kernel
def _next_byte(store, entry, node, is_high):
    """The first byte of the class that an entry tries next; classes are numbered in the order of their first bytes.

    Classes that an automaton refuses are passed over: before the second byte of a character that is most of them.
    """
    never_inline()
    low = scratch(store, entry + 3)
    high = scratch(store, entry + 4)
    byte = 0
    while low <= high:
        tried = high if is_high else low
        byte = tried
        while class_of(store, field(store, node, MAP), byte) != tried:
            byte += 1
        if is_high:
            high -= 1
        else:
            low += 1
        if not _refuses(store, node, byte):
            break
    put_i32(block(store, SCRATCH), entry + 3, low)
    put_i32(block(store, SCRATCH), entry + 4, high)
    return byte


@kernel
def _refuses(store, node, byte):
    """Whether one of the automata does that an expression is an intersection of, or an intersection in it."""
    never_inline()
    node = _front(store, node)
    if field(store, node, KIND) != K_AND:
        return False
    members = field(store, node, A)
    for i in range(list_length(store, NODE_LISTS, members)):
        member = _front(store, list_item(store, NODE_LISTS, members, i))
        if field(store, member, KIND) == K_DFA and _dfa_target(store, member, byte) < 0:
            return True
        if field(store, member, KIND) == K_AND:
            inner = field(store, member, A)
            for j in range(list_length(store, NODE_LISTS, inner)):
                part = list_item(store, NODE_LISTS, inner, j)
                if field(store, part, KIND) == K_DFA and _dfa_target(store, part, byte) < 0:
                    return True
    return False


@kernel
def _front(store, node):
    """What must match first: the left part of a concatenation, unless it may be nothing."""
    if field(store, node, KIND) == K_CONCAT and not has_flag(store, field(store, node, A), NULLABLE):
        return field(store, node, A)
    return node


@kernel
def _see(store, node):
    """Mark a node as seen by the current search; whether it is the first time."""
    seen = ensure(store, SEARCH_SEEN, store[N_NODES] * 4)
    if get_i32(seen, node) == store[SEARCH]:
        return False
    put_i32(seen, node, store[SEARCH])
    return True


@kernel
def matches(store, node, data):
    """Whether the bytes in `data` match `node`."""
    never_inline()
    for i in range(data.shape[0]):
        node = derivative(store, node, data[i])
        if node == EMPTY:
            return False
    return has_flag(store, node, NULLABLE)
