"""Checkpoints of a long operation, which stops in the middle and goes on when others have had their turn.

Its scratch stack, and a few numbers, are kept in a table of its own, which belongs to the caller. They stay true
whatever others write in between: nodes and literals of a store never change. Where an operation has no such table,
`kept` is the store itself, and it has to come to its end.

In: a store's table, the table that keeps. Out: the scratch stack as it was. Cost: 1 ns an item.
"""

from ..machine.jit import kernel
from ..machine.records import Array, Slots
from .memory import FIRST_FREE_SLOT, address_of, copy_bytes, reserve

KEPT = Slots(
    *("kept", FIRST_FREE_SLOT),
    kept_items=Array(32, "the scratch stack"),
    n_kept="0: nothing is kept",
    progress="how far it is; grows",
    search_low="of a search, see regex/emptiness.py",
    search_oldest="",
    word_at="of a list of words, see regex/word_trees.py",
    word_branch="",
)
NOT_DONE = -5  # what an operation returns that has stopped by itself


@kernel
def can_keep(store, kept):
    return address_of(kept) != address_of(store)


@kernel
def keep(store, kept, progress):
    """Keep the scratch stack."""
    n = store.scratch_top
    copy_bytes(reserve(kept.kept_items, n).address, store.scratch.address, n * 4)
    kept.n_kept = n
    kept.progress = progress


@kernel
def bring_back(store, kept):
    """Put what was kept on the scratch stack, which is empty."""
    n = kept.n_kept
    copy_bytes(reserve(store.scratch, n).address, kept.kept_items.address, n * 4)
    store.scratch_top = n
