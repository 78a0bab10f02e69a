"""A long operation that stops in the middle and goes on later, when others have had their turn.

What it has on the scratch stack, and a few numbers, are kept in a table of its own, which belongs to whoever asks. They
stay true whatever others write in between: nodes and literals of a store never change. Where an operation is given no
such table, `kept` is the store itself, and it has to come to its end.

In: a store's table, the table that keeps. Out: the scratch stack as it was. Cost: 1 ns an item.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from .memory import FIRST_FREE_SLOT, address_of, block, copy_bytes, ensure
from .store_layout import SCRATCH, SCRATCH_TOP

KEPT = FIRST_FREE_SLOT  # int32[n_kept]: the scratch stack
N_KEPT = KEPT + 1  # 0: nothing is kept
PROGRESS = N_KEPT + 1  # how far it is; grows
KEPT_NUMBERS = PROGRESS + 1  # two more
N_KEPT_SLOTS = KEPT_NUMBERS + 2
KEPT_BLOCKS = (KEPT,)
NOT_DONE = -5  # what an operation returns that has stopped by itself


@kernel
def can_keep(store, kept):
    return address_of(kept) != address_of(store)


@kernel
def keep(store, kept, progress):
    """Keep the scratch stack."""
    never_inline()
    n = store[SCRATCH_TOP]
    copy_bytes(ensure(kept, KEPT, n * 4), block(store, SCRATCH), n * 4)
    kept[N_KEPT] = n
    kept[PROGRESS] = progress


@kernel
def bring_back(store, kept):
    """Put what was kept on the scratch stack, which is empty."""
    never_inline()
    n = kept[N_KEPT]
    copy_bytes(ensure(store, SCRATCH, n * 4), block(kept, KEPT), n * 4)
    store[SCRATCH_TOP] = n
