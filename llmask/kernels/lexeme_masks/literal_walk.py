"""Tokens inside of literals, found along the bytes of each; see trie_walk.py for what is found.

Where nothing but declared keys may go on, or the words of an enumeration, a token stays inside if it is the beginning
of one. No lexer state is made for each byte on the way: the mask behind `{"` took 12 us.

In: a node of the trie and the lexer state there. Out: tokens and exits below it. Cost: 20 ns a byte.
"""

from __future__ import annotations

from ..lexer.states import S_FINISHED, state_field
from ..machine.constants import TRIE_TOKEN_SHIFT
from ..machine.jit import kernel, never_inline
from ..regex.nodes import K_UNION, KIND, A, field
from ..regex.text_derivatives import byte_at, literal_length
from ..tables.interning import list_item, list_length
from ..tables.memory import block, get_i32, get_i64, get_u8, load_i32, spend, store_i32
from ..tables.store_layout import (
    CHILD_BYTE,
    CHILD_FIRST,
    CHILD_NODE,
    N_EXITS,
    NODE_LISTS,
    STATE_KEYS,
    TRIE,
    WALKED,
    WORDS,
    WORDS_MARGIN,
)
from .excluded_texts import state_behind
from .exits import X_NODE, add_exit, exit_field

NOT_LITERAL = -1
MANY_LITERALS = 1024  # are walked together: each exit is looked for among those before it
NO_CHILD = -1


@kernel
def literal_walk(store, root, state):
    """Walk along the literals of a state; returns how many tokens, or NOT_LITERAL: something else may go on, too."""
    never_inline()
    n = list_length(store, STATE_KEYS, state) & -2
    n_literals = 0
    for i in range(1, n, 2):
        n_literals += _n_literals(store, list_item(store, STATE_KEYS, state, i))
        if n_literals >= MANY_LITERALS:  # some may be none
            return NOT_LITERAL
    spend(store, n_literals >> 4)
    first_exit = store[N_EXITS]
    n_tokens = 0
    for i in range(1, n, 2):
        node = list_item(store, STATE_KEYS, state, i)
        if literal_length(store, node) > 0:
            n_tokens += _walk_along(store, root, state, node, first_exit)
        else:
            members = field(store, node, A)
            for j in range(list_length(store, NODE_LISTS, members)):
                n_tokens += _walk_along(store, root, state, list_item(store, NODE_LISTS, members, j), first_exit)
    return n_tokens


@kernel
def _n_literals(store, node):
    """How many literals a node is a union of; MANY_LITERALS where it is something else."""
    if literal_length(store, node) > 0:
        return 1
    if field(store, node, KIND) != K_UNION:
        return MANY_LITERALS
    members = field(store, node, A)
    n = list_length(store, NODE_LISTS, members)
    for i in range(min(n, MANY_LITERALS)):
        if literal_length(store, list_item(store, NODE_LISTS, members, i)) == 0:
            return MANY_LITERALS
    return n


@kernel
def _walk_along(store, root, state, literal, first_exit):
    """The same for one of them; returns how many tokens no other one had."""
    never_inline()
    words = block(store, WORDS) + WORDS_MARGIN
    n = literal_length(store, literal)
    node = root
    n_tokens = 0
    n_read = 0
    while n_read < n:
        child = _child_with(store, node, byte_at(store, literal, n_read))
        if child == NO_CHILD:
            break
        node = get_i32(block(store, CHILD_NODE), child)
        n_read += 1
        if n_read == n:
            there = state_behind(store, state, root, node)
            if not _has_exit(store, first_exit, node):
                add_exit(store, node, there)
            if state_field(store, there, S_FINISHED) != 0:
                break  # no other literal goes on
        token = (get_i64(block(store, TRIE), node) >> TRIE_TOKEN_SHIFT) - 1
        if token >= 0:
            at = words + (token >> 5) * 4
            before = load_i32(at)
            store_i32(at, before | (1 << (token & 31)))
            n_tokens += 1 - ((before >> (token & 31)) & 1)
    spend(store, 2 + (n_read >> 1))
    store[WALKED] += n_read
    return n_tokens


@kernel
def _child_with(store, node, byte):
    """The child of a node behind a byte: where the lists of children have it, or NO_CHILD."""
    low = get_i32(block(store, CHILD_FIRST), node)
    end = get_i32(block(store, CHILD_FIRST), node + 1)
    child_byte = block(store, CHILD_BYTE)
    high = end
    while low < high:
        middle = (low + high) >> 1
        if get_u8(child_byte, middle) < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < end and get_u8(child_byte, low) == byte else NO_CHILD


@kernel
def _has_exit(store, first, node):
    """Whether one of the exits from number `first` on is at a node."""
    spend(store, (store[N_EXITS] - first) >> 3)
    for i in range(first, store[N_EXITS]):
        if exit_field(store, i, X_NODE) == node:
            return True
    return False
