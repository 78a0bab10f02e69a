"""Lists of integers: sorted, searched, and grown in a slot of a table.

In: a table, the slot of the list and of its length. Out: a longer list. Cost: 5 ns a token; of sorting 10 ns an item.
"""

from ..machine.jit import inline, kernel
from .memory import ensure, load_i32, put_i32


@kernel
def append(table, slot, count, token):
    """Append to int32[...] in a slot."""
    n = table[count]
    put_i32(ensure(table, slot, (n + 1) * 4), n, token)
    table[count] = n + 1


@inline
def put(items, at, item):
    """Write an item of a block; returns the place of the next one."""
    items[at] = item
    return at + 1


@inline
def is_in(tokens, n, token):
    """Whether a token is among int32[n] at an address; all are looked at, so that nothing waits for a branch."""
    found = 0
    for i in range(n):
        found |= 1 if load_i32(tokens + i * 4) == token else 0
    return found != 0


@kernel
def sort_ints(items, first, end):
    """Sort items[first:end] (Shell's method, gaps of Knuth: lists here are short, or nearly sorted)."""
    gap = 1
    while gap < (end - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, end):
            item = items[i]
            j = i
            while j - gap >= first and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3
