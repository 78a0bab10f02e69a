"""Derivatives of lexer states by all that is left of a token at once: *leaps*, over states that are never made.

A token that was taken is mostly followed by another, not by one that shares its first bytes: of a document's keys, each
byte made a state that nothing came back to, which took half of the time of its tokens. Leaps are remembered in place of
the transitions.

In: a lexer state, a position in the bytes of a token. Out: a state, or DEAD. Cost: a known leap 10 ns; else that of one
state and the derivatives.
"""

from ..machine.jit import inline, kernel
from ..regex.text_derivatives import text_derivative
from ..tables.interning import MISSING, map_get, map_put
from ..tables.memory import spend
from .states import DEAD, is_lazy, live_lexeme, live_rest, make_state, n_live, push_alive


@inline
def known_leap(store, state, position):
    """State after a token's bytes from a position in `token_data` on, or MISSING. Reads only."""
    return map_get(store.leaps, state << 32 | position)


@kernel
def leap(store, state, position, n):
    """State after the last `n` bytes of a token, from a position in `token_data` on; DEAD if no lexeme has all."""
    target = known_leap(store, state, position)
    if target != MISSING:
        return target
    first = store.scratch_top
    spend(store, 4 + 2 * n_live(store, state))
    for i in range(n_live(store, state)):
        node = live_rest(store, state, i)
        if is_lazy(store, node):  # may end on the way, and all others with it
            store.scratch_top = first
            return DEAD
        rest = text_derivative(store, node, store.token_data.address + position, n)
        push_alive(store, live_lexeme(store, state, i), rest)
    target = make_state(store, first, False)
    if store.exceeded != 0:
        return DEAD
    if target != DEAD:
        map_put(store.leaps, state << 32 | position, target)
    return target
