"""A matcher whose masks are canonical: they allow only what the tokenizer itself would write.

Beside the configuration after every token it keeps the context (kernels/canonical/positions.py). What is known of a
position lies in the matcher's cell, so that known masks are written, and known tokens taken, by compiled code alone.

In: token ids. Out: masks. Cost: 0.5 us a mask and token beside those of the grammar when the position is known; a new
one some microseconds (kernels/canonical/review.py).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from ..arguments import as_integer
from ..errors import LlmaskError
from ..kernels.canonical import slots as canonical_slots
from ..kernels.canonical.steps import show_place, take_known
from ..kernels.lexer.states import MISS
from ..kernels.mask.cell import ASK, CELL_CONTEXT, CELL_FILTER, CELL_MAY_END
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..matching.matcher import Matcher
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from .review import run

if TYPE_CHECKING:
    from typing_extensions import Self


class CanonicalMatcher(Matcher):
    """See `Compiler(canonical=True)`: masks allow the tokens that the tokenizer itself would write, and can go on from.

    Where the look ahead was given up a token is allowed that may have no canonical continuation; such positions are
    counted (`CompiledGrammar.n_cut`). Budgets are refused.

    Text before the first token is taken to end with a special token. Bytes given to `accept_bytes` are taken as a text
    of their own: what follows is canonical behind them.
    """

    follows_grammar = False

    __slots__ = ("_contexts",)

    def __init__(self, grammar: LoadedGrammar) -> None:
        super().__init__(grammar)
        self._contexts = array("q", (_beginning(grammar),))
        self._show()

    def _show(self) -> None:
        """Have the cell show the present position."""
        show_place(self.cell_address, self._contexts[-1])

    def _build_mask(self) -> None:
        """Have the cell say what is known of the present position, which is found out where it is not."""
        if self.cell[CELL_FILTER] == ASK:
            run(self.generation, self.store, Operation.REVIEW, self.cell_address)

    def _fill_within(self, bitmask: Any, row: int, budget: Any) -> bool:
        raise self._no_budgets()

    def _no_budgets(self) -> LlmaskError:
        return LlmaskError(
            "a canonical grammar takes no budget: the shortest way to the end need not be canonical",
            help="compile without canonical=True, or do without a budget",
        )

    def least_budget(self, exact: bool = False) -> int:
        """Refused: the shortest way to the end need not be canonical."""
        raise self._no_budgets()

    def finishing_tokens(self) -> list[int]:
        """Refused: the shortest way to the end need not be canonical."""
        raise self._no_budgets()

    def accept(self, token: int) -> bool:
        """As `Matcher.accept`."""
        if type(token) is not int:
            token = as_integer(token, "a token id")
        try:
            return self._take(token)
        except BaseException:  # compiled code has moved the cell, perhaps
            self._settle()
            raise

    def _take(self, token: int) -> bool:
        try:
            reached = take_known(self.cell_address, token)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        if reached == MISS:
            generation = self.generation
            if generation.table.bytes_used > generation.room:
                self.make_room()
                generation = self.generation
            reached = run(generation, self.store, Operation.STEP_CANONICAL, self.cell_address, token)
        if reached == REFUSED:
            return False
        self.history.push(token, reached)
        self._contexts.append(self.cell[CELL_CONTEXT])
        return True

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            super()._take_bytes(data, reached)
            self._contexts.append(_beginning(self.grammar))
            self._show()
        except BaseException:
            self._settle()
            raise

    def _settle(self) -> None:
        self.history.settle()
        self.history.drop(max(0, len(self.history) + 1 - len(self._contexts)))
        super()._settle()
        del self._contexts[len(self.history) + 1 :]
        self._show()

    def fork(self) -> Self:
        """As `Matcher.fork`."""
        twin = super().fork()
        twin._contexts = self._contexts[:]
        return twin

    def _move(self, generation: Generation) -> None:
        try:
            super()._move(generation)
        finally:
            self._show()

    def is_accepting(self) -> bool:
        """As `Matcher.is_accepting`, and the text may be split here as its tokens are."""
        if not super().is_accepting() or self.has_ended():
            return super().is_accepting()
        if self.cell[CELL_FILTER] == ASK:
            self.make_room()
            self._build_mask()
        return bool(self.cell[CELL_MAY_END])


def _beginning(grammar: LoadedGrammar) -> int:
    """The context behind a special token (kernels/canonical/positions.py)."""
    table = grammar.store.canonical_table
    assert table is not None
    return int(table.array[canonical_slots.START])
