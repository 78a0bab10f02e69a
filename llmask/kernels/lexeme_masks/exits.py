"""Exits: the places of the trie where a lexeme ends, see trie_walk.py, and what is asked of them again and again.

In: a node of the trie and the lexer state there. Out: its fields. Cost: a load each, side by side.
"""

from __future__ import annotations

from ..machine.constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT, TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..tables.memory import block, ensure, get_i32, get_i64, put_i32
from ..tables.store_layout import CHILD_FIRST, CHILD_NODE, EXITS, N_EXITS, TRIE

X_NODE = 0
X_STATE = 1
X_TOKEN = 2  # of the node, -1: none
X_DEPTH = 3
X_FIRST = 4  # its first child
X_END = 5  # behind the last one
EXIT_FIELDS = 6


@kernel
def add_exit(store, node, state):
    never_inline()
    n = store[N_EXITS]
    exits = ensure(store, EXITS, (n + 1) * EXIT_FIELDS * 4)
    at = n * EXIT_FIELDS
    word = get_i64(block(store, TRIE), node)
    first = get_i32(block(store, CHILD_FIRST), node)
    put_i32(exits, at + X_NODE, node)
    put_i32(exits, at + X_STATE, state)
    put_i32(exits, at + X_TOKEN, (word >> TRIE_TOKEN_SHIFT) - 1)
    put_i32(exits, at + X_DEPTH, (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK)
    put_i32(exits, at + X_FIRST, first)
    put_i32(exits, at + X_END, get_i32(block(store, CHILD_FIRST), node + 1))
    store[N_EXITS] = n + 1


@kernel
def exit_field(store, exit, name):
    return get_i32(block(store, EXITS), exit * EXIT_FIELDS + name)


@kernel
def child_towards(store, node, target):
    """The child of a node that `target`, another one below it, is or is below: where the lists of children have it."""
    child_node = block(store, CHILD_NODE)
    low = get_i32(block(store, CHILD_FIRST), node)
    high = get_i32(block(store, CHILD_FIRST), node + 1)
    while high - low > 1:  # nodes are in depth-first order: the last child that is not behind it
        middle = (low + high) >> 1
        if get_i32(child_node, middle) <= target:
            low = middle
        else:
            high = middle
    return low
