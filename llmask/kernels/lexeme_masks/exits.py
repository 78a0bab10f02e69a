"""Exits: the places of the trie where a lexeme ends, see trie_walk.py, and what is asked of them again and again.

In: a node of the trie and the lexer state there. Out: its fields. Cost: a load each, side by side.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.memory import reserve
from ..vocabulary.trie_words import depth_of, token_of


@kernel
def add_exit(store, node, state):
    n = store.n_exits
    exit = reserve(store.exits, n + 1)[n]
    word = store.trie[node]
    first = store.child_first[node]
    exit.node = node
    exit.state = state
    exit.token = token_of(word)
    exit.depth = depth_of(word)
    exit.child = first
    exit.end = store.child_first[node + 1]
    store.n_exits = n + 1


@inline
def child_towards(store, node, target):
    """The child of a node that `target`, another one below it, is or is below: where the lists of children have it."""
    child_node = store.child_node
    low = store.child_first[node]
    high = store.child_first[node + 1]
    while high - low > 1:  # nodes are in depth-first order: the last child that is not behind it
        middle = (low + high) >> 1
        if child_node[middle] <= target:
            low = middle
        else:
            high = middle
    return low
