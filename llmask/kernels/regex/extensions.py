"""Where one lexeme may end while another may go on: what decides whether longest match changes what a grammar derives.

    A = /[a-z]+/, B = /"return"/:   after `retur` A may end and B may go on with `n`;   after `return` both may end

Breadth-first search of the product automaton: pairs of derivatives (of A, of B) by equal strings. Expressions that
match nothing without being EMPTY are taken to match something: too many bytes may be told, never too few.

In: two nodes. Out: bytes, and whether it is decided. Cost: two derivatives for every pair of states and byte class,
some microseconds for short lexemes; MOST_PAIRS and MOST_NODES bound it at some milliseconds.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.memory import spend
from .class_maps import first_of_class, meet, n_classes, next_of_class
from .derivatives import derivative
from .nodes import Node
from .pairs import add_pair, append_pair, clear_pairs

MOST_PAIRS = 2048
MOST_NODES = 50_000  # that the derivatives may add: those of counts inside counts are large
MAY_BOTH_END = 256  # place after the flags of the bytes


@kernel
def extensions(store, one, other, flags):
    """Set flags[b] where a string of `one` and then byte b begin a string of `other`, and flags[MAY_BOTH_END] where
    some string is in both; the empty string does not count. Returns 1, or 0 where it takes too much to decide it.
    """
    clear_pairs(store, MOST_PAIRS)
    append_pair(store, one, other)  # not to be found again: nothing was read before it
    most_nodes = store.n_nodes + MOST_NODES
    position = 0
    while position < store.n_pairs <= MOST_PAIRS and store.n_nodes <= most_nodes and store.exceeded == 0:
        _extend(store, position, flags)
        position += 1
    return 1 if position == store.n_pairs <= MOST_PAIRS and store.exceeded == 0 else 0


@inline
def _extend(store, position, flags):
    """Follow a pair by a byte of each class, and set the flags of the bytes by which only the right one goes on."""
    left, right = store.pairs[position].left, store.pairs[position].right
    may_end = position > 0 and store.nodes[left].nullable
    if may_end and store.nodes[right].nullable:
        flags[MAY_BOTH_END] = 1
    class_map = meet(store, store.nodes[left].map, store.nodes[right].map)
    spend(store, 64)
    byte = 0
    for number in range(n_classes(store, class_map)):
        byte = first_of_class(store, class_map, number, byte)
        after = derivative(store, right, byte)
        if after == Node.EMPTY:
            continue
        if may_end:
            _flag_class(store, class_map, byte, flags)
        before = derivative(store, left, byte)
        if before != Node.EMPTY:
            add_pair(store, before, after)
            if store.n_pairs > MOST_PAIRS:
                break


@inline
def _flag_class(store, class_map, byte, flags):
    """Set the flags of all bytes of a class."""
    flags[byte] = 1
    other = next_of_class(store, class_map, byte)
    while other != byte:
        flags[other] = 1
        other = next_of_class(store, class_map, other)
