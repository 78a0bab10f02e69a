"""The pairs of expressions that a breadth-first search has reached, each once: states of a product automaton.

    store.pairs        left, right, mark, in the order in which they were found: the queue of the search
    store.pair_index   open addressing: number of a pair + 1, by hash of its two nodes

In: nodes. Out: numbers of pairs. Cost: 5 ns a look-up; 8 ns for each of the `most` pairs that there is room for.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import mix
from ..tables.memory import fill_bytes, reserve

NO_PAIR = -1
ROOM = 4  # places of the index for each pair


@kernel
def clear_pairs(store, most):
    """Forget all pairs; of the next ones there are `most`, a power of two, or one more."""
    size = ROOM * most
    fill_bytes(reserve(store.pair_index, size).address, size * 4, 0)
    store.pair_index_size = size
    store.n_pairs = 0


@inline
def _slot_of(store, left, right):
    """Where a pair is in the index, or the free slot where it would be."""
    mask = store.pair_index_size - 1
    slot = mix(mix(3, left), right) & mask
    while True:
        number = store.pair_index[slot] - 1
        if number < 0 or (store.pairs[number].left == left and store.pairs[number].right == right):
            return slot
        slot = (slot + 1) & mask


@inline
def find_pair(store, left, right):
    """Number of a pair, or NO_PAIR."""
    return store.pair_index[_slot_of(store, left, right)] - 1


@inline
def append_pair(store, left, right):
    """Add a pair that `find_pair` does not find; returns its number."""
    number = store.n_pairs
    pair = reserve(store.pairs, number + 1)[number]
    pair.left = left
    pair.right = right
    pair.mark = 0
    store.n_pairs = number + 1
    return number


@kernel
def add_pair(store, left, right):
    """Number of a pair, which is added if it is new."""
    slot = _slot_of(store, left, right)
    if store.pair_index[slot] == 0:
        store.pair_index[slot] = append_pair(store, left, right) + 1
    return store.pair_index[slot] - 1
