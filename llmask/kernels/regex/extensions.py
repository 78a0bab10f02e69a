"""Where one lexeme may end while another may go on: what decides whether longest match changes what a grammar derives.

    A = /[a-z]+/, B = /"return"/:   after `retur` A may end and B may go on with `n`;   after `return` both may end

Reads the pairs of derivatives (of A, of B) by equal strings, the product automaton of the two, breadth first.
Expressions that match nothing without being EMPTY are taken to match something: too many bytes may be told, never too
few.

In: two nodes. Out: bytes, and whether it is decided. Cost: two derivatives for every pair of states and byte class,
some microseconds for short lexemes; MOST_PAIRS and MOST_NODES bound it at some milliseconds.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.memory import fill_bytes, reserve, spend
from .class_maps import class_of, meet
from .derivatives import derivative
from .nodes import Node

MOST_PAIRS = 2048
MOST_NODES = 50_000  # that the derivatives may add: those of counts inside counts are large
PAIR_INDEX_SIZE = 8192  # open addressing: place of a pair in the list + 1
MAY_BOTH_END = 256  # place behind the flags of the bytes
_HASH_MULTIPLIER = 2654435761


@kernel
def extensions(store, one, other, flags):
    """Set flags[b] where a string of `one` and then byte b begin a string of `other`, and flags[MAY_BOTH_END] where
    some string is in both; the empty string is none. Returns 1, or 0 where it takes too much to decide it.
    """
    index = store.scratch_top
    pairs = index + PAIR_INDEX_SIZE
    end = pairs + 2 * (MOST_PAIRS + 1)
    address = reserve(store.scratch, end)
    fill_bytes(address.address + index * 4, PAIR_INDEX_SIZE * 4, 0)
    store.scratch_top = end
    address[pairs] = one
    address[pairs + 1] = other
    most_nodes = store.n_nodes + MOST_NODES
    n = 1  # the first pair is not in the index: nothing was read before it
    position = 0
    while position < n and n <= MOST_PAIRS and store.n_nodes <= most_nodes and store.exceeded == 0:
        left = store.scratch[pairs + 2 * position]
        right = store.scratch[pairs + 2 * position + 1]
        may_end = position > 0 and store.nodes[left].nullable
        if may_end and store.nodes[right].nullable:
            flags[MAY_BOTH_END] = 1
        class_map = meet(store, store.nodes[left].map, store.nodes[right].map)
        done = 0
        spend(store, 64)
        for byte in range(256):
            if may_end and flags[byte] == 0 and derivative(store, right, byte) != Node.EMPTY:
                flags[byte] = 1
            if n > MOST_PAIRS or class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            after = derivative(store, right, byte)
            if after == Node.EMPTY:
                continue
            before = derivative(store, left, byte)
            if before != Node.EMPTY:
                n = _enter(store, index, pairs, n, before, after)
        position += 1
    store.scratch_top = index
    return 1 if position == n and n <= MOST_PAIRS and store.exceeded == 0 else 0


@inline
def _enter(store, index, pairs, n, left, right):
    """Enter a pair into the list of `n`, if it is not there; returns how many there are, or MOST_PAIRS + 1."""
    slot = ((left * 31 + right) * _HASH_MULTIPLIER >> 8) & (PAIR_INDEX_SIZE - 1)
    while True:
        place = store.scratch[index + slot] - 1
        if place < 0:
            break
        if store.scratch[pairs + 2 * place] == left and store.scratch[pairs + 2 * place + 1] == right:
            return n
        slot = (slot + 1) & (PAIR_INDEX_SIZE - 1)
    if n == MOST_PAIRS:
        return MOST_PAIRS + 1
    address = store.scratch
    address[index + slot] = n + 1
    address[pairs + 2 * n] = left
    address[pairs + 2 * n + 1] = right
    return n + 1
