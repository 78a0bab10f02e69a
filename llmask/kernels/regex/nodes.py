"""Nodes of regular expressions: the reserved ones, their operands, and the scratch stack that new ones are built on.

`tables/store_layout.py` says what fields a node has, `constructors.py` what they mean for each kind; it makes them.

In: a store's table. Out: numbers. Cost: two loads.
"""

from ..machine.jit import inline, kernel
from ..machine.records import Kind
from ..tables.interning import list_item, list_length
from ..tables.kinds import NodeKind
from ..tables.memory import reserve


class NodeFlag(Kind):
    """Bits of the flags of nodes (tables/store_layout.py), where several are asked for or set at once."""

    NULLABLE = 1
    HIDES = 2
    FINITE = 4
    KNOWN_FULL = 8
    KNOWN_EMPTY = 16
    UNIT = 32
    ALL_UNITS = 64
    CHARACTER = 128
    TEXT = 256


class Node(Kind):
    """Nodes that every store has."""

    EMPTY = 0
    EPSILON = 1
    ALL = 2
    FIRST_SINGLE = 3  # nodes 3 .. 258 match one given byte
    LAZY_END = 259  # the empty string, at the end of lexemes that end as soon as they can, see lexer/states.py


UNBOUNDED = 2**31 - 1
BYTE_DISTANCE = 16
MOST_DISTANCE = 2**24


@kernel
def push(store, value):
    """Put a number on the scratch stack."""
    top = store.scratch_top
    reserve(store.scratch, top + 1)[top] = value
    store.scratch_top = top + 1


@inline
def push_two(store, one, other):
    """Put two numbers on the scratch stack; returns where."""
    push(store, one)
    push(store, other)
    return store.scratch_top - 2


@inline
def pop(store):
    store.scratch_top -= 1
    return store.scratch[store.scratch_top]


@inline
def has_flag(store, node, flag):
    return (store.nodes[node].flags & flag) != 0


@inline
def n_operands(store, node):
    """How many operands a union or intersection has."""
    return list_length(store.node_lists, store.nodes[node].a)


@inline
def operand(store, node, i):
    """An operand of a union or intersection."""
    return list_item(store.node_lists, store.nodes[node].a, i)


@inline
def as_difference(store, node):
    """`one` and `other` of the intersection `one & not other`; two times EMPTY where a node is no such thing."""
    if store.nodes[node].kind == NodeKind.AND and n_operands(store, node) == 2:
        for i in range(2):
            excluded = operand(store, node, i)
            if store.nodes[excluded].kind == NodeKind.NOT:
                return operand(store, node, 1 - i), store.nodes[excluded].a
    return Node.EMPTY, Node.EMPTY
