"""Automata that Python made: a state is a node, its derivatives are read from a transition table.

The tables of all automata are in one pool. They may be large, eleven megabytes for host names beyond ASCII. So their
numbers come in pieces, an operation each: the first one takes room for all, and others get their turn in between.

In: next states, then accepting and distance of each state (see `RegexNodes.dfa`); and number of classes, number of
states, class of each byte. Out: a node. Cost: 1 ns a number, ten times as much where the system has to find memory.
"""

from ..machine.jit import inline, kernel
from ..tables.kinds import NodeKind
from ..tables.memory import copy_bytes, reserve
from .class_maps import class_of, map_of_classes
from .constructors import intern_node
from .nodes import BYTE_DISTANCE, Node, NodeFlag

SAID_INTS = 2  # what is said of a state in `dfa_pool`:
SAID_FLAG = 0  # 1 where it accepts, plus twice its node once that is known
SAID_DISTANCE = 1  # bytes from there to a state that accepts


@kernel
def put_numbers(store, position, n_all, data):
    """Copy the next numbers of an automaton to `position`; -1: they are the first of `n_all`. Returns where."""
    if position < 0:
        position = store.n_dfa_pool
        reserve(store.dfa_pool, position + n_all)
        store.n_dfa_pool = position + n_all
    copy_bytes(store.dfa_pool.address + position * 4, data.ctypes.data, data.shape[0] * 4)
    return position


@kernel
def add_automaton(store, width, n_states, position, class_of_byte):
    """The node of state 0 of an automaton whose numbers are at `position`."""
    class_map = map_of_classes(store, class_of_byte)
    dfa = store.n_dfas
    info = reserve(store.dfas, dfa + 1)
    info[dfa].map = class_map
    info[dfa].width = width
    info[dfa].first = position
    info[dfa].said = position + n_states * width
    store.n_dfas = dfa + 1
    return make_dfa(store, dfa, 0)


@kernel
def make_dfa(store, dfa, state):
    """Node for a state of a registered automaton; a state that accepts and goes nowhere is EPSILON."""
    said = store.dfas[dfa].said + SAID_INTS * state
    flag = store.dfa_pool[said + SAID_FLAG]
    if flag >> 1 != 0:
        return flag >> 1
    node = _node_of_state(store, dfa, state, flag, store.dfa_pool[said + SAID_DISTANCE] * BYTE_DISTANCE)
    store.dfa_pool[said + SAID_FLAG] = flag | (node << 1)
    return node


@kernel
def _node_of_state(store, dfa, state, accepting, distance):
    width = store.dfas[dfa].width
    row = store.dfas[dfa].first + state * width
    goes_on = False
    for i in range(width):
        if store.dfa_pool[row + i] >= 0:
            goes_on = True
            break
    if not goes_on:
        return Node.EPSILON if accepting != 0 else Node.EMPTY
    flags = NodeFlag.NULLABLE if accepting != 0 else 0
    return intern_node(store, NodeKind.DFA, dfa, state, 0, 0, flags, store.dfas[dfa].map, distance)


@inline
def dfa_target(store, node, byte):
    """The state of its automaton that a byte leads to from a node's, or -1."""
    dfa = store.nodes[node].a
    info = store.dfas
    row = info[dfa].first + store.nodes[node].b * info[dfa].width
    return store.dfa_pool[row + class_of(store, info[dfa].map, byte)]
