"""Exits: the nodes of the trie at which a lexeme ends, see trie_walk.py; and searches among the children of a node.

In: a node of the trie and the lexer state there. Out: the exit's fields. Cost: a load each, next to each other.
"""

from ..machine.jit import inline, kernel
from ..tables.memory import reserve
from ..vocabulary.trie_words import depth_of, token_of

NO_CHILD = -1


@kernel
def add_exit(store, node, state):
    n = store.n_exits
    exit = reserve(store.exits, n + 1)[n]
    word = store.trie[node]
    exit.node, exit.state = node, state
    exit.token, exit.depth = token_of(word), depth_of(word)
    exit.child, exit.end = store.child_first[node], store.child_first[node + 1]
    store.n_exits = n + 1


@inline
def bisect_left(items, first, end, value):
    """Position of the first of the ascending items[first:end] that is not below a value, or `end`."""
    while first < end:
        middle = (first + end) >> 1
        if items[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@inline
def child_with(store, node, byte):
    """The child of a node by a byte: where the lists of children have it, or NO_CHILD."""
    first, end = store.child_first[node], store.child_first[node + 1]
    child = bisect_left(store.child_byte, first, end, byte)
    return child if child < end and store.child_byte[child] == byte else NO_CHILD


@inline
def child_towards(store, node, target):
    """The child of a node that leads to `target`, a node below it: where the lists of children have it."""
    first, end = store.child_first[node], store.child_first[node + 1]
    return bisect_left(store.child_node, first, end, target + 1) - 1  # depth-first order: the last one not after it
