"""A binary heap: the entry of the lowest key first, in O(log n) (J. Williams, "Algorithm 232: Heapsort", 1964).

Entries are records of any layout with a field `key`, at an address.

In: a heap. Out: a heap. Cost: 10 ns, while it is in the nearest memory.
"""

from ..machine.jit import inline


@inline
def push(heap, size, key):
    """Make room for an entry in a heap of `size`, and write its key; returns its number."""
    hole = size
    while hole > 0:
        parent = hole - 1 >> 1
        if heap[parent].key <= key:
            break
        heap[hole] = heap[parent]
        hole = parent
    heap[hole].key = key
    return hole


@inline
def pop(heap, size):
    """Take entry 0, the lowest, which the caller has read, out of a heap of `size`; returns how many are left."""
    size -= 1
    key = heap[size].key  # the last entry moves to where all below it are higher
    hole, child = 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1].key < heap[child].key:
            child += 1
        if heap[child].key >= key:
            break
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 1
    heap[hole] = heap[size]
    return size
