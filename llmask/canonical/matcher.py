"""Masks that are canonical: they allow only what the tokenizer itself would write.

A mark is the context (kernels/canonical/positions.py). What is known of a position lies in the sequence's cell, so that
known masks are written, and known tokens taken, by compiled code alone. Where tables of split states are missing
(states.py, made in Python: some dozens a store) compiled code asks for them.

In: a sequence, token ids. Out: masks. Cost: 0.6 us a mask and token besides what the grammar costs when the position is
known; a new one some microseconds (kernels/canonical/review.py).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.canonical.review import FOLLOWING_MISSING, RANKS_MISSING, STATE_MISSING
from ..kernels.canonical.slots import CANON
from ..kernels.canonical.steps import show_place, take_known
from ..kernels.lexer.states import MISS
from ..kernels.mask.cell import ASK, CELL_CONTEXT, CELL_FILTER, CELL_MAY_END
from ..kernels.tables.operations import Operation
from ..matching.features import Feature
from ..matching.history import BYTES_TOKEN
from .states import split_states_of

if TYPE_CHECKING:
    from ..matching.sequence import Sequence
    from ..store.generation import Generation
    from ..store.loaded_grammar import LoadedGrammar
    from ..store.store import Store

_NO_DATA = np.zeros(0, np.int32)


class Canonical(Feature):
    """See `Compiler(canonical=True)`: masks allow the tokens that the tokenizer itself would write, and can go on from.

    Where the look ahead was given up a token is allowed that may have no canonical continuation; such positions are
    counted (`CompiledGrammar.n_cut`). Budgets are refused.

    Text before the first token is taken to end with a special token. Bytes given to `accept_bytes` are taken as a text
    of their own: what follows is canonical after them.
    """

    __slots__ = ("_grammar",)

    def __init__(self, grammar: LoadedGrammar) -> None:
        super().__init__()
        self._grammar = grammar
        table = grammar.store.canonical_table
        assert table is not None
        self.marks = array("q", (table.slots[CANON.start_split],))  # the context after a special token

    def __reduce__(self) -> tuple[Any, ...]:
        return Canonical, (self._grammar,)  # contexts are numbers of this process

    def show(self, sequence: Sequence) -> None:
        """As `Feature.show`."""
        show_place(sequence.cell_address, self.marks[-1])

    def take(self, sequence: Sequence, token: int, position: int) -> int | None:
        """As `Feature.take`, and the cell shows the place after it; replaying is for the grammar alone."""
        if position < len(self.marks) - 1:
            return None
        reached: int = take_known(sequence.cell_address, token)
        if reached == MISS:
            sequence.make_room()
            reached = _run(sequence.generation, sequence.store, Operation.STEP_CANONICAL, sequence.cell_address, token)
        return reached

    def note(self, sequence: Sequence, token: int, reached: int, position: int) -> tuple[int, Any]:
        """As `Feature.note`."""
        return reached, self.marks[0] if token == BYTES_TOKEN else sequence.cell[CELL_CONTEXT]

    def fill(self, sequence: Sequence, bitmask: Any, row: int, budget: int | None) -> bool | None:
        """As `Feature.fill`: what is not known of the place is found out."""
        self._review(sequence)
        return sequence.fill_known(bitmask, row)

    def _review(self, sequence: Sequence) -> None:
        """Have the cell say what is known of the place, which is found out where it is not."""
        sequence.make_room()
        if sequence.cell[CELL_FILTER] == ASK:
            _run(sequence.generation, sequence.store, Operation.REVIEW, sequence.cell_address)

    def may_end(self, sequence: Sequence) -> bool:
        """As `Feature.may_end`: the text may be split here as its tokens are."""
        if sequence.has_ended():
            return True
        if sequence.cell[CELL_FILTER] == ASK:
            self._review(sequence)
        return bool(sequence.cell[CELL_MAY_END])

    def check_ways(self, sequence: Sequence) -> None:
        """As `Feature.check_ways`."""
        raise LlmaskError(
            "a canonical grammar takes no budget: the shortest way to the end need not be canonical",
            help="compile without canonical=True, or do without a budget",
        )


def _run(generation: Generation, store: Store, operation: int, cell: int, token: int = 0) -> int:
    """Run an operation on the canonical position that a cell shows.

    Raises
    ------
    LimitExceeded : it needs more work than the limits allow; what had been built before stays valid.
    """
    result = store.run(operation, cell, token, 0, _NO_DATA, generation.table)
    if result > engine.LIMIT_REACHED:
        return result
    states, table = split_states_of(store.tokenizer), store.canonical_table
    assert table is not None
    with store.lock:  # what is missing is noted in a table of the store
        while (result := generation.run(operation, cell, token)) <= engine.LIMIT_REACHED:
            if result == STATE_MISSING:
                for state in table.read(CANON.missing, 0, table.view.n_missing).tolist():
                    states.tables(state)
            elif result == FOLLOWING_MISSING:
                states.make_masks(table.view.without_masks)
            else:
                assert result == RANKS_MISSING
                states.make_ranks(table.view.without_masks)
    return result
