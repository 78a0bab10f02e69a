"""Automata that Python made: their tables are copied behind those of all others.

Tables may be large, eleven megabytes for host names beyond ASCII. So their numbers come in pieces, an operation each:
the first one takes room for all, and others get their turn in between.

In: next states, then accepting and distance of each state (see `RegexNodes.dfa`); and number of classes, number of
states, class of each byte. Out: a node. Cost: 1 ns a number, ten times as much where the system has to find memory.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.memory import block, copy_bytes, ensure, put_i32
from ..tables.store_layout import DFA_POOL, DFAS, N_DFA_POOL, N_DFAS, SCRATCH, SCRATCH_TOP
from .class_maps import intern_map
from .constructors import make_dfa


@kernel
def put_numbers(store, place, n_all, data):
    """Copy the next numbers of an automaton to `place`; -1: they are the first of `n_all`. Returns where they lie."""
    never_inline()
    if place < 0:
        place = store[N_DFA_POOL]
        ensure(store, DFA_POOL, (place + n_all) * 4)
        store[N_DFA_POOL] = place + n_all
    copy_bytes(block(store, DFA_POOL) + place * 4, data.ctypes.data, data.shape[0] * 4)
    return place


@kernel
def add_automaton(store, width, n_states, place, class_of_byte):
    """The node of state 0 of an automaton whose numbers lie at `place`."""
    never_inline()
    first = store[SCRATCH_TOP]
    address = ensure(store, SCRATCH, (first + 64) * 4)
    for i in range(64):
        word = 0
        for j in range(4):
            word |= class_of_byte[4 * i + j] << (8 * j)
        put_i32(address, first + i, word)
    store[SCRATCH_TOP] = first + 64
    class_map = intern_map(store, first)
    store[SCRATCH_TOP] = first
    dfa = store[N_DFAS]
    info = ensure(store, DFAS, (dfa + 1) * 16)
    put_i32(info, 4 * dfa, class_map)
    put_i32(info, 4 * dfa + 1, width)
    put_i32(info, 4 * dfa + 2, place)
    put_i32(info, 4 * dfa + 3, place + n_states * width)
    store[N_DFAS] = dfa + 1
    return make_dfa(store, dfa, 0)
