"""Leaps: the lexer state behind all that is left of a token, where the states on the way are not made.

A token that was taken is mostly followed by another, not by one that shares its first bytes: of a document's keys, each
byte made a state that nothing came back to, which took half of the time of its tokens. What the leap is over is
remembered in place of the transitions.

In: a lexer state, a position in the bytes of a token. Out: a state, or DEAD. Cost: a known leap 10 ns; else that of one
state and the derivatives.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..regex.emptiness import is_empty
from ..regex.nodes import EMPTY, push
from ..regex.text_derivatives import text_derivative
from ..tables.interning import MISSING, list_item, list_length, map_get, map_put
from ..tables.memory import EXCEEDED, block, spend
from ..tables.store_layout import LEAPS, SCRATCH_TOP, STATE_KEYS, TOKEN_DATA
from .states import DEAD, is_lazy, make_state


@kernel
def known_leap(store, state, position):
    """State behind a token's bytes from a position in TOKEN_DATA on, or MISSING. Reads only."""
    return map_get(store, LEAPS, state << 32 | position)


@kernel
def leap(store, state, position, n):
    """State behind the last `n` bytes of a token, from a position in TOKEN_DATA on; DEAD if no lexeme has them all."""
    never_inline()
    target = known_leap(store, state, position)
    if target != MISSING:
        return target
    first = store[SCRATCH_TOP]
    n_items = list_length(store, STATE_KEYS, state) & -2
    spend(store, 4 + n_items)
    for i in range(0, n_items, 2):
        node = list_item(store, STATE_KEYS, state, i + 1)
        if is_lazy(store, node):  # may end on the way, and all others with it
            store[SCRATCH_TOP] = first
            return DEAD
        rest = text_derivative(store, node, block(store, TOKEN_DATA) + position, n)
        if rest != EMPTY and not is_empty(store, rest):
            push(store, list_item(store, STATE_KEYS, state, i))
            push(store, rest)
    target = make_state(store, first, False)
    if store[EXCEEDED] != 0:
        return DEAD
    if target != DEAD:
        map_put(store, LEAPS, state << 32 | position, target)
    return target
