"""Whether an expression stays alive whatever strings of a slice come, decided by following them all.

In: nodes. Out: the ways to be. Cost: 1 us a way; it ends at MOST_WAYS.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..regex.class_maps import class_of, meet
from ..regex.derivatives import derivative
from ..regex.emptiness import is_empty
from ..regex.nodes import EMPTY, MAP, NULLABLE, field, has_flag, push, scratch
from ..tables.memory import EXCEEDED, spend
from ..tables.store_layout import SCRATCH_TOP

MOST_WAYS = 32  # states of an expression while strings of a slice are followed, each with a rest of a string
ROAM_FIELDS = 2  # of a way: what is left of the expression, and of a string


@kernel
def follow_all(store, node, char, may_end):
    """Push all ways to be behind any strings of `char` on the scratch stack, and answer whether `node` is alive there.

    They are pairs of derivatives (of the node, of what is left of a string), breadth first, and few; otherwise, or if
    it is not alive, nothing is pushed. `may_end`: 0 when it must not end behind any of them, either.
    """
    never_inline()
    first = store[SCRATCH_TOP]
    push(store, node)
    push(store, char)
    at = first
    while at < store[SCRATCH_TOP]:
        left = scratch(store, at)
        right = scratch(store, at + 1)
        class_map = meet(store, field(store, left, MAP), field(store, right, MAP))
        done = 0
        spend(store, 16)
        for byte in range(256):
            if class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            rest = derivative(store, right, byte)
            if rest == EMPTY:
                continue
            after = derivative(store, left, byte)
            is_over = after == EMPTY or is_empty(store, after) or (may_end == 0 and has_flag(store, after, NULLABLE))
            if is_over or store[EXCEEDED] != 0:
                store[SCRATCH_TOP] = first
                return False
            if has_flag(store, rest, NULLABLE):
                rest = char
            seen = first
            while seen < store[SCRATCH_TOP] and (scratch(store, seen) != after or scratch(store, seen + 1) != rest):
                seen += ROAM_FIELDS
            if seen == store[SCRATCH_TOP]:
                if seen - first >= ROAM_FIELDS * MOST_WAYS:
                    store[SCRATCH_TOP] = first
                    return False
                push(store, after)
                push(store, rest)
        at += ROAM_FIELDS
    return True


@kernel
def roams(store, node, char, may_end):
    """Whether `node` is alive after any strings of `char`; `may_end` as above."""
    never_inline()
    first = store[SCRATCH_TOP]
    found = follow_all(store, node, char, may_end)
    store[SCRATCH_TOP] = first
    return found
