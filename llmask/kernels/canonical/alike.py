"""Lexer states that are alike: they differ only in which lexemes they are states of, not in what is left of these.

Where the names of an object must differ, every name read leaves another lexeme for the next one, and with it other
lexer states; but behind most first characters the same is left of it as before. What can follow a token inside of a
lexeme depends on nothing else, so it is remembered for the *shape*: what is left of each lexeme, in their order.
A state with one lexeme has a twin for that (lexer/states.py).

In: lexer states. Out: numbers of shapes, lexemes. Cost: 50 ns.
"""

from __future__ import annotations

from ..lexer.states import S_SINGLE, S_TWIN, START_MARK, single_set, state_field
from ..machine.jit import kernel, never_inline
from ..tables.interning import intern_list, list_item, list_length
from ..tables.memory import BYTES_USED, ensure, put_i32
from ..tables.store_layout import STATE_KEYS
from .slots import SHAPE, SHAPES, SHARED_BYTES

OF_SEVERAL = 1 << 33  # added to the number of a shape of several lexemes


@kernel
def shape_of(store, canon, state):
    """A number that lexer states have in common if the same is left of their lexemes."""
    never_inline()
    if state_field(store, state, S_SINGLE) != 0 or canon[BYTES_USED] > canon[SHARED_BYTES]:
        return state_field(store, state, S_TWIN)
    n = list_length(store, STATE_KEYS, state)
    address = ensure(canon, SHAPE, (n + 1) * 4)
    for i in range(1, n, 2):
        put_i32(address, i >> 1, list_item(store, STATE_KEYS, state, i))
    if n & 1 != 0:
        put_i32(address, n >> 1, START_MARK)
    return OF_SEVERAL | intern_list(canon, SHAPES, address, 0, (n + 1) >> 1)


@kernel
def number_of_lexeme(store, state, reached):
    """Number in a state, from 1 on, of the only lexeme of a state that was reached from it; 0: that has several."""
    single = state_field(store, reached, S_SINGLE)
    if single == 0:
        return 0
    lexeme, n = list_item(store, STATE_KEYS, reached, 0), list_length(store, STATE_KEYS, state) >> 1
    for number in range(n):
        if list_item(store, STATE_KEYS, state, 2 * number) == lexeme:
            return number + 1
    return 0


@kernel
def lexemes_by_number(store, state, number):
    """The set of one lexeme of a state, by its number."""
    return single_set(store, list_item(store, STATE_KEYS, state, 2 * number - 2))
