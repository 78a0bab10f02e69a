"""Runs the operations that find masks of positions, and makes what they ask for.

    kernels/canonical/review.py   which tokens of a mask are canonical and can go on
    states.py                     tables and masks of split states, made in Python: some dozens a store

In: a generation's tables, a matcher's cell. Out: what the operation returned. Cost: that of the operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels import engine
from ..kernels.canonical import slots as canonical_slots
from ..kernels.canonical.review import FOLLOWING_MISSING, RANKS_MISSING, STATE_MISSING
from .states import split_states_of

if TYPE_CHECKING:
    from ..store.generation import Generation
    from ..store.store import Store


_NO_DATA = np.zeros(0, np.int32)


def run(generation: Generation, store: Store, operation: int, cell: int, token: int = 0) -> int:
    """Run an operation on the canonical position that a cell shows.

    Raises
    ------
    LimitExceeded : it needs more work than the limits allow; what had been built before stays valid.
    """
    result = store.run(operation, cell, token, 0, _NO_DATA, generation.table)
    if result > engine.LIMIT_REACHED:
        return result
    with store.lock:  # what is missing is noted in a table of the store
        return _run_to_end(generation, store, operation, cell, token)


def _run_to_end(generation: Generation, store: Store, operation: int, cell: int, token: int) -> int:
    states, table = split_states_of(store.tokenizer), store.canonical_table
    assert table is not None
    while True:
        result = generation.run(operation, cell, token)
        if result > engine.LIMIT_REACHED:
            return result
        if result == STATE_MISSING:
            first = canonical_slots.MISSING
            for state in table.array[first : first + table.array[canonical_slots.N_MISSING]].tolist():
                states.tables(state)
        elif result == FOLLOWING_MISSING:
            states.make_masks(int(table.array[canonical_slots.REPORT]))
        else:
            assert result == RANKS_MISSING
            states.make_ranks(int(table.array[canonical_slots.REPORT]))
