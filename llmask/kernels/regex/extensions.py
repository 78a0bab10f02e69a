"""Where one lexeme may end while another may go on: what decides whether longest match changes what a grammar derives.

    A = /[a-z]+/, B = /"return"/:   after `retur` A may end and B may go on with `n`;   after `return` both may end

Reads the pairs of derivatives (of A, of B) by equal strings, the product automaton of the two, breadth first.
Expressions that match nothing without being EMPTY are taken to match something: too many bytes may be told, never too
few.

In: two nodes. Out: bytes, and whether it is decided. Cost: two derivatives for every pair of states and byte class,
some microseconds for short lexemes; MOST_PAIRS and MOST_NODES bound it at some milliseconds.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.memory import EXCEEDED, block, ensure, fill_bytes, put_i32, spend
from ..tables.store_layout import N_NODES, SCRATCH, SCRATCH_TOP
from .class_maps import class_of, meet
from .derivatives import derivative
from .nodes import EMPTY, MAP, NULLABLE, field, has_flag, scratch

MOST_PAIRS = 2048
MOST_NODES = 50_000  # that the derivatives may add: those of counts inside counts are large
INDEX_SIZE = 8192  # open addressing: place of a pair in the list + 1
MAY_BOTH_END = 256  # place behind the flags of the bytes
_MULTIPLIER = 2654435761


@kernel
def extensions(store, one, other, flags):
    """Set flags[b] where a string of `one` and then byte b begin a string of `other`, and flags[MAY_BOTH_END] where
    some string is in both; the empty string is none. Returns 1, or 0 where it takes too much to decide it.
    """
    never_inline()
    index = store[SCRATCH_TOP]
    pairs = index + INDEX_SIZE
    end = pairs + 2 * (MOST_PAIRS + 1)
    address = ensure(store, SCRATCH, end * 4)
    fill_bytes(address + index * 4, INDEX_SIZE * 4, 0)
    store[SCRATCH_TOP] = end
    put_i32(address, pairs, one)
    put_i32(address, pairs + 1, other)
    most_nodes = store[N_NODES] + MOST_NODES
    n = 1  # the first pair is not in the index: nothing was read before it
    position = 0
    while position < n and n <= MOST_PAIRS and store[N_NODES] <= most_nodes and store[EXCEEDED] == 0:
        left = scratch(store, pairs + 2 * position)
        right = scratch(store, pairs + 2 * position + 1)
        may_end = position > 0 and has_flag(store, left, NULLABLE)
        if may_end and has_flag(store, right, NULLABLE):
            flags[MAY_BOTH_END] = 1
        class_map = meet(store, field(store, left, MAP), field(store, right, MAP))
        done = 0
        spend(store, 64)
        for byte in range(256):
            if may_end and flags[byte] == 0 and derivative(store, right, byte) != EMPTY:
                flags[byte] = 1
            if n > MOST_PAIRS or class_of(store, class_map, byte) != done:
                continue  # one byte of each class
            done += 1
            after = derivative(store, right, byte)
            if after == EMPTY:
                continue
            before = derivative(store, left, byte)
            if before != EMPTY:
                n = _enter(store, index, pairs, n, before, after)
        position += 1
    store[SCRATCH_TOP] = index
    return 1 if position == n and n <= MOST_PAIRS and store[EXCEEDED] == 0 else 0


@kernel
def _enter(store, index, pairs, n, left, right):
    """Enter a pair into the list of `n`, if it is not there; returns how many there are, or MOST_PAIRS + 1."""
    slot = ((left * 31 + right) * _MULTIPLIER >> 8) & (INDEX_SIZE - 1)
    while True:
        place = scratch(store, index + slot) - 1
        if place < 0:
            break
        if scratch(store, pairs + 2 * place) == left and scratch(store, pairs + 2 * place + 1) == right:
            return n
        slot = (slot + 1) & (INDEX_SIZE - 1)
    if n == MOST_PAIRS:
        return MOST_PAIRS + 1
    address = block(store, SCRATCH)
    put_i32(address, index + slot, n + 1)
    put_i32(address, pairs + 2 * n, left)
    put_i32(address, pairs + 2 * n + 1, right)
    return n + 1
