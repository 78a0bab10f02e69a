"""Derivatives of regular expressions, remembered: a lazy DFA whose states are nodes.

    D(r s, c) = D(r, c) s  |  D(s, c) if r is nullable          D(r | s, c) = D(r, c) | D(s, c)
    D(r{a,b}, c) = D(r, c) r{a-1,b-1}                           D(r & s, c) = D(r, c) & D(s, c)
    D(not r, c) = not D(r, c)

(Brzozowski 1964, section 3.) The rule for bounded repetition is exact also for a nullable r, whose lower bound is 0.
A node has a row of derivatives, one for each byte class.

No kernel calls itself (a cached recursive kernel aborts the second process that loads it): one loop with a stack of
nodes that wait for the derivatives of their operands.

In: a store's table and node ids. Out: node ids.
Cost: a known derivative 3 ns; a new one 50-200 ns an operator on the way down.
"""

from ..machine.jit import inline, kernel
from ..tables.kinds import NodeKind
from ..tables.memory import reserve, spend
from .class_maps import class_of, n_classes, set_contains
from .constructors import dfa_target, make_concat, make_dfa, make_literal, make_not, make_repeat
from .nodes import UNBOUNDED, Node, n_operands, operand, pop, push, push_two
from .set_operations import make_and, make_union

NOT_TAKEN = -1


@kernel
def known_derivative(store, node, byte):
    """Derivative of a leaf, or one that is remembered; else NOT_TAKEN."""
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
        if store.nodes[node].kind == NodeKind.UNION or store.nodes[node].kind == NodeKind.AND:
            result = _of_operands(store, node, byte)
        else:
            result = _of_operand(store, node, byte)
        if result != NOT_TAKEN and store.exceeded == 0:
            _remember(store, node, byte, result)
            pop(store)
    return known_derivative(store, root, byte)


@inline
def _of_operand(store, node, byte):
    """Derivative of another node; NOT_TAKEN, and an operand is pushed, if the derivative of that is missing."""
    kind, inside = store.nodes[node].kind, store.nodes[node].a
    inner = known_derivative(store, inside, byte)
    if inner == NOT_TAKEN:
        push(store, inside)
        return NOT_TAKEN
    if kind == NodeKind.NOT:
        return make_not(store, inner)
    if kind == NodeKind.REPEAT:
        low, high = store.nodes[node].low, store.nodes[node].high
        rest = make_repeat(store, inside, max(low - 1, 0), UNBOUNDED if high == UNBOUNDED else high - 1)
        return make_concat(store, inner, rest)
    right = store.nodes[node].b
    other = Node.EMPTY
    if store.nodes[inside].nullable:
        other = known_derivative(store, right, byte)
        if other == NOT_TAKEN:
            push(store, right)
            return NOT_TAKEN
    result = make_concat(store, inner, right)
    return result if other == Node.EMPTY else make_union(store, push_two(store, result, other))


@kernel
def _of_operands(store, node, byte):
    """Derivative of a union or intersection; NOT_TAKEN, and the operands are pushed whose derivatives are missing.

    Some member of an intersection refuses most bytes, and then the others need not be asked.
    """
    is_and = store.nodes[node].kind == NodeKind.AND
    n = n_operands(store, node)
    first = store.scratch_top
    is_missing = False
    spend(store, n)
    for i in range(n):
        member = operand(store, node, i)
        known = known_derivative(store, member, byte)
        if known == NOT_TAKEN:
            if not is_missing:
                store.scratch_top = first  # the derivatives pushed so far make room for what is missing
            is_missing = True
            push(store, member)
        elif known == Node.EMPTY and is_and:
            store.scratch_top = first
            return Node.EMPTY
        elif not is_missing:
            push(store, known)
    if is_missing:
        return NOT_TAKEN
    return make_and(store, first) if is_and else make_union(store, first)


@kernel
def matches(store, node, data):
    """Whether the bytes in `data` match `node`."""
    for i in range(data.shape[0]):
        node = derivative(store, node, data[i])
        if node == Node.EMPTY:
            return False
    return store.nodes[node].nullable
