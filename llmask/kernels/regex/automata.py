"""Automata that Python made: their transition tables are copied to the end of the pool of all automata.

Tables may be large, eleven megabytes for host names beyond ASCII. So their numbers come in pieces, an operation each:
the first one takes room for all, and others get their turn in between.

In: next states, then accepting and distance of each state (see `RegexNodes.dfa`); and number of classes, number of
states, class of each byte. Out: a node. Cost: 1 ns a number, ten times as much where the system has to find memory.
"""

from __future__ import annotations

from ..machine.jit import kernel
from ..tables.memory import copy_bytes, reserve, store_u8
from .class_maps import intern_map, map_in_progress
from .constructors import make_dfa


@kernel
def put_numbers(store, place, n_all, data):
    """Copy the next numbers of an automaton to `place`; -1: they are the first of `n_all`. Returns where they are."""
    if place < 0:
        place = store.n_dfa_pool
        reserve(store.dfa_pool, place + n_all)
        store.n_dfa_pool = place + n_all
    copy_bytes(store.dfa_pool.address + place * 4, data.ctypes.data, data.shape[0] * 4)
    return place


@kernel
def add_automaton(store, width, n_states, place, class_of_byte):
    """The node of state 0 of an automaton whose numbers are at `place`."""
    classes = map_in_progress(store)
    for byte in range(256):
        store_u8(classes + byte, class_of_byte[byte])
    class_map = intern_map(store)
    dfa = store.n_dfas
    info = reserve(store.dfas, dfa + 1)
    info[dfa].map = class_map
    info[dfa].width = width
    info[dfa].first = place
    info[dfa].said = place + n_states * width
    store.n_dfas = dfa + 1
    return make_dfa(store, dfa, 0)
