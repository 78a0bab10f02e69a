"""Leaps: the lexer state behind all that is left of a token, where the states on the way are not made.

A token that was taken is mostly followed by another, not by one that shares its first bytes: of a document's keys, each
byte made a state that nothing came back to, which took half of the time of its tokens. What the leap is over is
remembered in place of the transitions.

In: a lexer state, a position in the bytes of a token. Out: a state, or DEAD. Cost: a known leap 10 ns; else that of one
state and the derivatives.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..regex.emptiness import is_empty
from ..regex.nodes import Node, push
from ..regex.text_derivatives import text_derivative
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.memory import spend
from .states import DEAD, is_lazy, make_state


@inline
def known_leap(store, state, position):
    """State behind a token's bytes from a position in `token_data` on, or MISSING. Reads only."""
    return map_get(store.leaps, state << 32 | position)


@kernel
def leap(store, state, position, n):
    """State behind the last `n` bytes of a token, from a position in `token_data` on; DEAD if no lexeme has all."""
    target = known_leap(store, state, position)
    if target != MISSING:
        return target
    first = store.scratch_top
    n_items = list_length(store.state_keys, state) & -2
    spend(store, 4 + n_items)
    for i in range(0, n_items, 2):
        node = list_item(store.state_keys, state, i + 1)
        if is_lazy(store, node):  # may end on the way, and all others with it
            store.scratch_top = first
            return DEAD
        rest = text_derivative(store, node, store.token_data.address + position, n)
        if rest != Node.EMPTY and not is_empty(store, rest):
            push(store, list_item(store.state_keys, state, i))
            push(store, rest)
    target = make_state(store, first, False)
    if store.exceeded != 0:
        return DEAD
    if target != DEAD:
        map_put(store.leaps, state << 32 | position, target)
    return target
