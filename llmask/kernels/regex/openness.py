"""Whether a regular expression is open: what is not yet one of its strings, if it can become one, can in infinitely
many ways (llmask/grammar/rules.py says what for).

Seen as an automaton of derivatives, where states without a string are left out: every state that leads on leads to one
that leads on, too. A closing quote leads to a state that does not lead on, but a letter before it does.

In: a node. Out: yes or no. Cost: a derivative and a test for emptiness for every state and byte class: 30 us for a JSON
string, a few ms at MOST_STATES states; no is said when there are more.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.memory import fill_bytes, reserve, spend
from .class_maps import class_of
from .derivatives import derivative
from .emptiness import is_empty
from .nodes import Node, push

MOST_STATES = 512
NODE_INDEX_SIZE = 1024  # open addressing: place of a node in the list + 1
_HASH_MULTIPLIER = 2654435761


@kernel
def is_open(store, root):
    """See above; False when a limit is reached (the caller looks at EXCEEDED)."""
    if store.nodes[root].finite:
        return False
    index = store.scratch_top
    nodes = index + NODE_INDEX_SIZE
    leads_on = nodes + MOST_STATES
    edges = leads_on + MOST_STATES
    address = reserve(store.scratch, edges)
    fill_bytes(address.address + index * 4, (edges - index) * 4, 0)
    store.scratch_top = edges
    n = _enter(store, index, nodes, 0, root)
    position = 0
    while position < n and n <= MOST_STATES and store.exceeded == 0:
        node = store.scratch[nodes + position]
        class_map = store.nodes[node].map
        done = 0
        spend(store, 16)
        for byte in range(256):
            if n > MOST_STATES or class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            target = derivative(store, node, byte)
            if target == Node.EMPTY or is_empty(store, target):
                continue
            store.scratch[leads_on + position] = 1
            n = max(n, _enter(store, index, nodes, n, target))
            push(store, position)
            push(store, target)
        position += 1
    result = n <= MOST_STATES and store.scratch[leads_on] != 0 and store.exceeded == 0
    if result:
        for i in range(edges, store.scratch_top, 2):
            target = _place(store, index, nodes, store.scratch[i + 1])
            if store.scratch[leads_on + target] != 0:
                store.scratch[leads_on + store.scratch[i]] = 2
        for i in range(n):
            if store.scratch[leads_on + i] == 1:
                result = False
    store.scratch_top = index
    return result


@inline
def _place(store, index, nodes, node):
    """Place of a node in the list, or -1 - (its place in the index)."""
    slot = (node * _HASH_MULTIPLIER >> 8) & (NODE_INDEX_SIZE - 1)
    while True:
        place = store.scratch[index + slot] - 1
        if place < 0:
            return -1 - slot
        if store.scratch[nodes + place] == node:
            return place
        slot = (slot + 1) & (NODE_INDEX_SIZE - 1)


@inline
def _enter(store, index, nodes, n, node):
    """Enter a node into the list of `n`, if it is not there; returns how many there are, or MOST_STATES + 1."""
    place = _place(store, index, nodes, node)
    if place >= 0:
        return n
    if n == MOST_STATES:
        return MOST_STATES + 1
    address = store.scratch
    address[index - 1 - place] = n + 1
    address[nodes + n] = node
    return n + 1
