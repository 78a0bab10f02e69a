"""Whether an expression stays alive whatever strings of a slice come, decided by following them all.

In: nodes. Out: the ways to be. Cost: 1 us a way; it ends at MOST_WAYS.
"""

from __future__ import annotations

from ..machine.jit import kernel
from ..regex.class_maps import class_of, meet
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.nodes import Node, push
from ..tables.memory import spend

MOST_WAYS = 32  # states of an expression while strings of a slice are followed, each with a rest of a string
ROAM_FIELDS = 2  # of a way: what is left of the expression, and of a string


@kernel
def follow_all(store, node, char, may_end):
    """Push all ways to be behind any strings of `char` on the scratch stack, and answer whether `node` is alive there.

    They are pairs of derivatives (of the node, of what is left of a string), breadth first, and few; otherwise, or if
    it is not alive, nothing is pushed. `may_end`: 0 when it must not end behind any of them, either.
    """
    first = store.scratch_top
    push(store, node)
    push(store, char)
    at = first
    while at < store.scratch_top:
        left = store.scratch[at]
        right = store.scratch[at + 1]
        class_map = meet(store, store.nodes[left].map, store.nodes[right].map)
        done = 0
        spend(store, 16)
        for byte in range(256):
            if class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            rest = derivative(store, right, byte)
            if rest == Node.EMPTY:
                continue
            after = derivative(store, left, byte)
            is_over = after == Node.EMPTY or is_empty(store, after) or (may_end == 0 and store.nodes[after].nullable)
            if is_over or store.exceeded != 0:
                store.scratch_top = first
                return False
            if store.nodes[rest].nullable:
                rest = char
            seen = first
            while seen < store.scratch_top and (store.scratch[seen] != after or store.scratch[seen + 1] != rest):
                seen += ROAM_FIELDS
            if seen == store.scratch_top:
                if seen - first >= ROAM_FIELDS * MOST_WAYS:
                    store.scratch_top = first
                    return False
                push(store, after)
                push(store, rest)
        at += ROAM_FIELDS
    return True


@kernel
def roams(store, node, char, may_end):
    """Whether `node` is alive after any strings of `char`; `may_end` as above."""
    first = store.scratch_top
    found = follow_all(store, node, char, may_end)
    store.scratch_top = first
    return found
