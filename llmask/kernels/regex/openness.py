"""Whether a regular expression is open: what is not yet one of its strings, if it can become one, can in infinitely
many ways (llmask/grammar/rules.py says what for).

Seen as an automaton of derivatives, where states without a string are left out: every state that leads on leads to one
that leads on, too. A closing quote leads to a state that does not lead on, but a letter before it does.

In: a node. Out: yes or no. Cost: a derivative and a test for emptiness for every state and byte class: 30 us for a JSON
string, a few ms at MOST_STATES states; no is said when there are more.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, put_i32, spend
from ..tables.store_layout import SCRATCH, SCRATCH_TOP
from .class_maps import class_of
from .derivatives import derivative
from .emptiness import is_empty
from .nodes import EMPTY, FINITE, MAP, field, has_flag, push, scratch

MOST_STATES = 512
INDEX_SIZE = 1024  # open addressing: place of a node in the list + 1
_MULTIPLIER = 2654435761


@kernel
def is_open(store, root):
    """See above; False when a limit is reached (the caller looks at EXCEEDED)."""
    never_inline()
    if has_flag(store, root, FINITE):
        return False
    index = store[SCRATCH_TOP]
    nodes = index + INDEX_SIZE
    leads_on = nodes + MOST_STATES
    edges = leads_on + MOST_STATES
    address = ensure(store, SCRATCH, edges * 4)
    fill_bytes(address + index * 4, (edges - index) * 4, 0)
    store[SCRATCH_TOP] = edges
    n = _enter(store, index, nodes, 0, root)
    position = 0
    while position < n and n <= MOST_STATES and store[EXCEEDED] == 0:
        node = scratch(store, nodes + position)
        class_map = field(store, node, MAP)
        done = 0
        spend(store, 16)
        for byte in range(256):
            if n > MOST_STATES or class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            target = derivative(store, node, byte)
            if target == EMPTY or is_empty(store, target):
                continue
            put_i32(block(store, SCRATCH), leads_on + position, 1)
            n = max(n, _enter(store, index, nodes, n, target))
            push(store, position)
            push(store, target)
        position += 1
    result = n <= MOST_STATES and scratch(store, leads_on) != 0 and store[EXCEEDED] == 0
    if result:
        for i in range(edges, store[SCRATCH_TOP], 2):
            target = _place(store, index, nodes, scratch(store, i + 1))
            if scratch(store, leads_on + target) != 0:
                put_i32(block(store, SCRATCH), leads_on + scratch(store, i), 2)
        for i in range(n):
            if scratch(store, leads_on + i) == 1:
                result = False
    store[SCRATCH_TOP] = index
    return result


@kernel
def _place(store, index, nodes, node):
    """Place of a node in the list, or -1 - (its place in the index)."""
    slot = (node * _MULTIPLIER >> 8) & (INDEX_SIZE - 1)
    while True:
        place = scratch(store, index + slot) - 1
        if place < 0:
            return -1 - slot
        if scratch(store, nodes + place) == node:
            return place
        slot = (slot + 1) & (INDEX_SIZE - 1)


@kernel
def _enter(store, index, nodes, n, node):
    """Enter a node into the list of `n`, if it is not there; returns how many there are, or MOST_STATES + 1."""
    place = _place(store, index, nodes, node)
    if place >= 0:
        return n
    if n == MOST_STATES:
        return MOST_STATES + 1
    address = block(store, SCRATCH)
    put_i32(address, index - 1 - place, n + 1)
    put_i32(address, nodes + n, node)
    return n + 1
