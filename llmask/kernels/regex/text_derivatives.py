"""Derivatives by several bytes at once, without the expressions in between where those are easy to leave out.

    D("name", nam) = "e"            D(string & not texts, w) = D(string, w) & not D(texts, w)

After a token in a key each of these is one expression; taken byte by byte, each byte made them all.

In: a node, bytes at an address. Out: a node. Cost: 2 ns a byte of a literal, else that of derivatives.
"""

from ..machine.jit import inline, kernel
from ..tables.kinds import NodeKind
from ..tables.memory import load_u8, spend
from .class_maps import add_to_set, map_of_each, meet, push_set
from .constructors import make_literal, make_not
from .derivatives import derivative
from .nodes import UNBOUNDED, Node, as_difference
from .set_operations import intersection_of

TOLD_AT_ONCE = 3  # whose literals are told apart at once


@inline
def free_part(store, node):
    """`string` and `texts` of `string & not texts`, if strings end with one certain byte and texts are finitely many;
    two times EMPTY where a node is no such thing.
    """
    free, texts = as_difference(store, node)
    if store.nodes[free].kind == NodeKind.CONCAT:
        repeat, end = store.nodes[free].a, store.nodes[free].b
        is_free = store.nodes[repeat].kind == NodeKind.REPEAT and store.nodes[repeat].high == UNBOUNDED
        if is_free and Node.FIRST_SINGLE <= end < Node.LAZY_END and store.nodes[texts].finite:
            if not store.nodes[texts].hides:  # else their distance is a guess
                return free, texts
    return Node.EMPTY, Node.EMPTY


@inline
def literal_length(store, node):
    """Bytes of a literal, or of a single byte; 0: the node is something else."""
    if Node.FIRST_SINGLE <= node < Node.LAZY_END:
        return 1
    return store.nodes[node].b if store.nodes[node].kind == NodeKind.LITERAL else 0


@inline
def byte_at(store, literal, position):
    if literal < Node.LAZY_END:
        return literal - Node.FIRST_SINGLE
    return store.literals[store.nodes[literal].a + position]


@kernel
def map_of_all(store, first, n, size):
    """The class map of n nodes, one in every `size` numbers of the scratch stack from `first`: the meet of theirs.

    Of literals, as the keys of an object are, the first bytes are classes; it is made of all of them at once.
    """
    found = 0
    begins = push_set(store, 0)
    for i in range(n):
        node = store.scratch[first + i * size]
        if n >= TOLD_AT_ONCE and literal_length(store, node) > 0:
            add_to_set(store, begins, byte_at(store, node, 0))
        else:
            found = meet(store, found, store.nodes[node].map)
    if n >= TOLD_AT_ONCE:
        found = meet(store, found, map_of_each(store, begins))
    store.scratch_top = begins
    return found


@inline
def _along(store, node, text, n):
    """Derivative by the `n` bytes at an address; a literal takes all of its bytes at once."""
    i = 0
    while i < n and node != Node.EMPTY:
        if store.nodes[node].kind != NodeKind.LITERAL:
            node = derivative(store, node, load_u8(text + i))
            i += 1
            continue
        length = store.nodes[node].b
        n_read = min(length, n - i)
        spend(store, n_read >> 1)
        for j in range(n_read):
            if byte_at(store, node, j) != load_u8(text + i + j):
                return Node.EMPTY
        node = make_literal(store, store.nodes[node].a + n_read, length - n_read)
        i += n_read
    return node


@kernel
def text_derivative(store, node, text, n):
    """Derivative by the `n` bytes at an address."""
    free, texts = free_part(store, node)
    if free == Node.EMPTY:
        return _along(store, node, text, n)
    free = _along(store, free, text, n)
    if free == Node.EMPTY:
        return Node.EMPTY
    return intersection_of(store, free, make_not(store, _along(store, texts, text, n)))
