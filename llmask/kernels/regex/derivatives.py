"""Derivatives of regular expressions, remembered.

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

from ..machine.atomics import publish_i32
from ..machine.jit import kernel, never_inline
from ..tables.interning import list_item, list_length
from ..tables.memory import EXCEEDED, block, ensure, get_i32, get_u8, spend
from ..tables.store_layout import DERIVATIVES, DFA_POOL, DFAS, LITERALS, N_DERIVATIVES, NODE_LISTS, NODES, SCRATCH_TOP
from .class_maps import class_of, n_classes, set_contains
from .constructors import make_concat, make_dfa, make_literal, make_not, make_repeat
from .nodes import (
    ALL,
    EMPTY,
    EPSILON,
    HIGH,
    K_AND,
    K_BYTES,
    K_CONCAT,
    K_DFA,
    K_LITERAL,
    K_NOT,
    K_TOKENS,
    K_UNION,
    KIND,
    LAZY_END,
    LOW,
    MAP,
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
from .set_operations import make_and, make_union

NOT_TAKEN = -1


@kernel
def dfa_target(store, node, byte):
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
        known = field(store, node, ROW)
        return known - 1 if known != 0 else _rest_of_literal(store, node, first)
    if node == EMPTY or node == EPSILON or node == LAZY_END or kind == K_TOKENS:
        return EMPTY
    if kind == K_DFA:
        target = dfa_target(store, node, byte)
        return EMPTY if target < 0 else make_dfa(store, field(store, node, A), target)
    row = field(store, node, ROW)
    if row == 0:
        return NOT_TAKEN
    return get_i32(block(store, DERIVATIVES), row - 1 + class_of(store, field(store, node, MAP), byte)) - 1


@kernel
def _rest_of_literal(store, node, first):
    """Derivative of a literal by its first byte; the node keeps it in place of a row."""
    never_inline()
    rest = make_literal(store, first + 1, field(store, node, B) - 1)
    if store[EXCEEDED] == 0:
        publish_i32(block(store, NODES) + (node * NODE_FIELDS + ROW) * 4, rest + 1)
    return rest


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
        spend(store, 4)
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
    spend(store, list_length(store, NODE_LISTS, members))
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
def matches(store, node, data):
    """Whether the bytes in `data` match `node`."""
    never_inline()
    for i in range(data.shape[0]):
        node = derivative(store, node, data[i])
        if node == EMPTY:
            return False
    return has_flag(store, node, NULLABLE)
