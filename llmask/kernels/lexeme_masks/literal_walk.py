"""Tokens inside of literals, found along the bytes of each; see trie_walk.py for what is found.

Where nothing but declared keys may go on, or the words of an enumeration, a token stays inside if it is the beginning
of one. No lexer state is made for each byte on the way: the mask behind `{"` took 12 us.

In: a node of the trie and the lexer state there. Out: tokens and exits below it. Cost: 20 ns a byte.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..regex.text_derivatives import byte_at, literal_length
from ..tables.interning import list_item, list_length
from ..tables.kinds import NodeKind
from ..tables.memory import load_i32, spend, store_i32
from ..tables.store_layout import WORDS_MARGIN
from ..vocabulary.trie_words import token_of
from .excluded_texts import state_after_path
from .exits import add_exit

NOT_LITERAL = -1
MANY_LITERALS = 1024  # are walked together: each exit is looked for among those before it
NO_CHILD = -1


@kernel
def literal_walk(store, root, state):
    """Walk along the literals of a state; returns how many tokens, or NOT_LITERAL: something else may go on, too."""
    n = list_length(store.state_keys, state) & -2
    n_literals = 0
    for i in range(1, n, 2):
        n_literals += _n_literals(store, list_item(store.state_keys, state, i))
        if n_literals >= MANY_LITERALS:  # some may be none
            return NOT_LITERAL
    spend(store, n_literals >> 4)
    first_exit = store.n_exits
    n_tokens = 0
    for i in range(1, n, 2):
        node = list_item(store.state_keys, state, i)
        if literal_length(store, node) > 0:
            n_tokens += _walk_along(store, root, state, node, first_exit)
        else:
            members = store.nodes[node].a
            for j in range(list_length(store.node_lists, members)):
                n_tokens += _walk_along(store, root, state, list_item(store.node_lists, members, j), first_exit)
    return n_tokens


@inline
def _n_literals(store, node):
    """How many literals a node is a union of; MANY_LITERALS where it is something else."""
    if literal_length(store, node) > 0:
        return 1
    if store.nodes[node].kind != NodeKind.UNION:
        return MANY_LITERALS
    members = store.nodes[node].a
    n = list_length(store.node_lists, members)
    for i in range(min(n, MANY_LITERALS)):
        if literal_length(store, list_item(store.node_lists, members, i)) == 0:
            return MANY_LITERALS
    return n


@kernel
def _walk_along(store, root, state, literal, first_exit):
    """The same for one of them; returns how many tokens no other one had."""
    words = store.words.address + WORDS_MARGIN
    n = literal_length(store, literal)
    node = root
    n_tokens = 0
    n_read = 0
    while n_read < n:
        child = _child_with(store, node, byte_at(store, literal, n_read))
        if child == NO_CHILD:
            break
        node = store.child_node[child]
        n_read += 1
        if n_read == n:
            there = state_after_path(store, state, root, node)
            if not _has_exit(store, first_exit, node):
                add_exit(store, node, there)
            if store.states[there].finished != 0:
                break  # no other literal goes on
        token = token_of(store.trie[node])
        if token >= 0:
            at = words + (token >> 5) * 4
            before = load_i32(at)
            store_i32(at, before | (1 << (token & 31)))
            n_tokens += 1 - ((before >> (token & 31)) & 1)
    spend(store, 2 + (n_read >> 1))
    store.walked += n_read
    return n_tokens


@inline
def _child_with(store, node, byte):
    """The child of a node behind a byte: where the lists of children have it, or NO_CHILD."""
    low = store.child_first[node]
    end = store.child_first[node + 1]
    child_byte = store.child_byte
    high = end
    while low < high:
        middle = (low + high) >> 1
        if child_byte[middle] < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < end and child_byte[low] == byte else NO_CHILD


@inline
def _has_exit(store, first, node):
    """Whether one of the exits from number `first` on is at a node."""
    spend(store, (store.n_exits - first) >> 3)
    for i in range(first, store.n_exits):
        if store.exits[i].node == node:
            return True
    return False
