"""Automata that Python made: their tables are copied behind those of all others.

In: number of classes, number of states, and one list: class of each byte, next states, then accepting and distance of
each state (see `RegexNodes.automaton`). Out: a node. Cost: 1 ns a number.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.memory import ensure, put_i32
from ..tables.store_layout import DFA_POOL, DFAS, N_DFA_POOL, N_DFAS, SCRATCH, SCRATCH_TOP
from .class_maps import intern_map
from .constructors import make_dfa


@kernel
def add_automaton(store, width, n_states, data):
    """The node of an automaton's state 0."""
    never_inline()
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    for i in range(64):
        word = 0
        for j in range(4):
            word |= data[4 * i + j] << (8 * j)
        put_i32(address, first + i, word)
    store[SCRATCH_TOP] = first + 64
    class_map = intern_map(store, first)
    store[SCRATCH_TOP] = first
    offset = store[N_DFA_POOL]
    n = n_states * width
    end = n + 2 * n_states
    pool = ensure(store, DFA_POOL, (offset + end) * 4)
    for i in range(end):
        put_i32(pool, offset + i, data[256 + i])
    dfa = store[N_DFAS]
    info = ensure(store, DFAS, (dfa + 1) * 16)
    put_i32(info, 4 * dfa, class_map)
    put_i32(info, 4 * dfa + 1, width)
    put_i32(info, 4 * dfa + 2, offset)
    put_i32(info, 4 * dfa + 3, offset + n)
    store[N_DFA_POOL] = offset + end
    store[N_DFAS] = dfa + 1
    return make_dfa(store, dfa, 0)
