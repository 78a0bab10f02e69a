"""Lexer states that are alike: they differ only in which lexemes they are states of, not in what is left of these.

Where the names of an object must differ, every name read leaves another lexeme for the next one, and with it other
lexer states; but behind most first characters the same is left of it as before. What can follow a token inside of a
lexeme depends on nothing else, so it is remembered for the *shape*: what is left of each lexeme, in their order.
A state with one lexeme has a twin for that (lexer/states.py).

In: lexer states. Out: numbers of shapes, lexemes. Cost: 50 ns.
"""

from ..lexer.states import START_MARK, single_set
from ..machine.jit import inline, kernel
from ..machine.numba_names import lists_at
from ..tables.interning import intern_list, list_item, list_length
from ..tables.memory import ensure, put_i32
from .slots import SHAPE, SHAPES, SHARED_BYTES

OF_SEVERAL = 1 << 33  # added to the number of a shape of several lexemes


@kernel
def shape_of(store, canon, state):
    """A number that lexer states have in common if the same is left of their lexemes."""
    if store.states[state].single != 0 or canon.bytes_used > canon[SHARED_BYTES]:
        return store.states[state].anonymous
    n = list_length(store.state_keys, state)
    address = ensure(canon, SHAPE, (n + 1) * 4)
    for i in range(1, n, 2):
        put_i32(address, i >> 1, list_item(store.state_keys, state, i))
    if n & 1 != 0:
        put_i32(address, n >> 1, START_MARK)
    return OF_SEVERAL | intern_list(lists_at(canon, SHAPES), address, 0, (n + 1) >> 1)


@inline
def number_of_lexeme(store, state, reached):
    """Number in a state, from 1 on, of the only lexeme of a state that was reached from it; 0: that has several."""
    single = store.states[reached].single
    if single == 0:
        return 0
    lexeme, n = list_item(store.state_keys, reached, 0), list_length(store.state_keys, state) >> 1
    for number in range(n):
        if list_item(store.state_keys, state, 2 * number) == lexeme:
            return number + 1
    return 0


@inline
def lexemes_by_number(store, state, number):
    """The set of one lexeme of a state, by its number."""
    return single_set(store, list_item(store.state_keys, state, 2 * number - 2))
