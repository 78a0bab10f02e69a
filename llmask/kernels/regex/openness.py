"""Whether a regular expression is open: every string that is not yet in it, but can be continued into it, can be so in
infinitely many ways (llmask/grammar/rules.py says what for).

In the automaton of derivatives, without the states that have no string: every state that leads on leads to one that
leads on, too. A closing quote leads to a state that does not lead on, but a letter before it does.

In: a node. Out: yes or no. Cost: a derivative and a test for emptiness for every state and byte class: 30 us for a JSON
string, a few ms at MOST_STATES states; the answer is no when there are more.
"""

from __future__ import annotations

from ..machine.jit import kernel
from ..tables.memory import spend
from .class_maps import first_of_class, n_classes
from .derivatives import derivative
from .emptiness import is_empty
from .nodes import Node, pop, push
from .pairs import add_pair, clear_pairs

MOST_STATES = 512
LEADS_ON = 1  # marks of states
LEADS_FAR = 2  # to one that leads on, too


@kernel
def is_open(store, root):
    """See above; False when a limit is reached (the caller looks at EXCEEDED)."""
    if store.nodes[root].finite:
        return False
    clear_pairs(store, MOST_STATES)
    add_pair(store, root, Node.EMPTY)  # a state is a pair whose other half says nothing
    edges = store.scratch_top
    state = 0
    while state < store.n_pairs <= MOST_STATES and store.exceeded == 0:
        _push_edges(store, state)
        state += 1
    result = store.n_pairs <= MOST_STATES and store.pairs[0].mark != 0 and store.exceeded == 0
    if result:
        while store.scratch_top > edges:
            target = pop(store)
            source = pop(store)
            if store.pairs[target].mark != 0:
                store.pairs[source].mark = LEADS_FAR
        for i in range(store.n_pairs):
            if store.pairs[i].mark == LEADS_ON:
                result = False
    store.scratch_top = edges
    return result


@kernel
def _push_edges(store, state):
    """Push a state and the one that it leads to, for a byte of each class; new ones are entered."""
    node = store.pairs[state].left
    class_map = store.nodes[node].map
    spend(store, 16)
    byte = 0
    for number in range(n_classes(store, class_map)):
        byte = first_of_class(store, class_map, number, byte)
        rest = derivative(store, node, byte)
        if rest == Node.EMPTY or is_empty(store, rest):
            continue
        store.pairs[state].mark = LEADS_ON
        push(store, state)
        push(store, add_pair(store, rest, Node.EMPTY))
        if store.n_pairs > MOST_STATES:
            return
