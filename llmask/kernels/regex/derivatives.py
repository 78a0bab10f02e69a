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

from ..machine.jit import inline, kernel
from ..tables.interning import list_item, list_length
from ..tables.kinds import NodeKind
from ..tables.memory import reserve, spend
from .class_maps import class_of, n_classes, set_contains
from .constructors import make_concat, make_dfa, make_literal, make_not, make_repeat
from .nodes import UNBOUNDED, Node, pop, push
from .set_operations import make_and, make_union

NOT_TAKEN = -1


@inline
def dfa_target(store, node, byte):
    """The state of its automaton that a byte leads to from a node's, or -1."""
    dfa = store.nodes[node].a
    info = store.dfas
    row = info[dfa].first + store.nodes[node].b * info[dfa].width
    return store.dfa_pool[row + class_of(store, info[dfa].map, byte)]


@kernel
def known_derivative(store, node, byte):
    """Derivative where it costs nothing: leaves, and what is remembered; else NOT_TAKEN."""
    kind = store.nodes[node].kind
    if kind == NodeKind.BYTES:
        return Node.EPSILON if set_contains(store, store.nodes[node].a, byte) else Node.EMPTY
    if kind == NodeKind.LITERAL:
        first = store.nodes[node].a
        if store.literals[first] != byte:
            return Node.EMPTY
        known = store.nodes[node].row
        return known - 1 if known != 0 else _rest_of_literal(store, node, first)
    if node == Node.EMPTY or node == Node.EPSILON or node == Node.LAZY_END or kind == NodeKind.TOKENS:
        return Node.EMPTY
    if kind == NodeKind.DFA:
        target = dfa_target(store, node, byte)
        return Node.EMPTY if target < 0 else make_dfa(store, store.nodes[node].a, target)
    row = store.nodes[node].row
    if row == 0:
        return NOT_TAKEN
    return store.derivatives[row - 1 + class_of(store, store.nodes[node].map, byte)] - 1


@kernel
def _rest_of_literal(store, node, first):
    """Derivative of a literal by its first byte; the node keeps it in place of a row."""
    rest = make_literal(store, first + 1, store.nodes[node].b - 1)
    if store.exceeded == 0:
        store.nodes[node].row = rest + 1
    return rest


@kernel
def _remember(store, node, byte, result):
    class_map = store.nodes[node].map
    row = store.nodes[node].row - 1
    if row < 0:
        row = store.n_derivatives
        store.n_derivatives = row + n_classes(store, class_map)
        reserve(store.derivatives, store.n_derivatives)
        store.nodes[node].row = row + 1
    store.derivatives[row + class_of(store, class_map, byte)] = result + 1


@kernel
def derivative(store, root, byte):
    """D(root, byte). EMPTY and nothing remembered once a limit is reached."""
    result = known_derivative(store, root, byte)
    if result != NOT_TAKEN:
        return result
    bottom = store.scratch_top
    push(store, root)
    while store.scratch_top > bottom:
        if store.exceeded != 0:
            store.scratch_top = bottom
            return Node.EMPTY
        spend(store, 4)
        node = store.scratch[store.scratch_top - 1]
        if known_derivative(store, node, byte) != NOT_TAKEN:
            pop(store)
            continue
        kind = store.nodes[node].kind
        operand = store.nodes[node].a
        if kind == NodeKind.UNION or kind == NodeKind.AND:
            first = store.scratch_top
            result = _of_members(store, operand, byte, kind == NodeKind.AND)
            if result == NOT_TAKEN:
                continue
            if result != Node.EMPTY:
                result = make_union(store, first) if kind == NodeKind.UNION else make_and(store, first)
        else:
            inner = known_derivative(store, operand, byte)
            if inner == NOT_TAKEN:
                push(store, operand)
                continue
            if kind == NodeKind.CONCAT:
                right = store.nodes[node].b
                nullable = store.nodes[operand].nullable
                other = Node.EMPTY
                if nullable:
                    other = known_derivative(store, right, byte)
                    if other == NOT_TAKEN:
                        push(store, right)
                        continue
                result = make_concat(store, inner, right)
                if other != Node.EMPTY:
                    first = store.scratch_top
                    push(store, result)
                    push(store, other)
                    result = make_union(store, first)
            elif kind == NodeKind.NOT:
                result = make_not(store, inner)
            else:  # NodeKind.REPEAT
                low = store.nodes[node].low
                high = store.nodes[node].high
                rest = make_repeat(store, operand, max(low - 1, 0), UNBOUNDED if high == UNBOUNDED else high - 1)
                result = make_concat(store, inner, rest)
        if store.exceeded == 0:
            _remember(store, node, byte, result)
            pop(store)
    return known_derivative(store, root, byte)


@kernel
def _of_members(store, members, byte, is_and):
    """Push the derivatives of all members of a union or intersection, or those members whose are still missing.

    NOT_TAKEN when some are missing; EMPTY, and nothing is pushed, when one of an intersection is: most bytes are
    refused by some member, and then the others need not be asked.
    """
    first = store.scratch_top
    result = Node.ALL
    spend(store, list_length(store.node_lists, members))
    for i in range(list_length(store.node_lists, members)):
        member = list_item(store.node_lists, members, i)
        known = known_derivative(store, member, byte)
        if known == NOT_TAKEN:
            if result == Node.ALL:
                store.scratch_top = first
            result = NOT_TAKEN
            push(store, member)
        elif known == Node.EMPTY and is_and:
            store.scratch_top = first
            return Node.EMPTY
        elif result == Node.ALL:
            push(store, known)
    return result


@kernel
def matches(store, node, data):
    """Whether the bytes in `data` match `node`."""
    for i in range(data.shape[0]):
        node = derivative(store, node, data[i])
        if node == Node.EMPTY:
            return False
    return store.nodes[node].nullable
