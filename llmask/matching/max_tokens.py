r"""A matcher that closes terminals after so many tokens: `[max_tokens=...]` of a rule.

    start: thought "\n"    thought[max_tokens=3]: /.*/      after three tokens of it, "\n" has to follow

A token counts where bytes of the terminal were read by it, also the one that begins it. When as many were read as the
rule allows, the lexeme ends there: the sequence goes on in the configuration that the end of the lexeme leads to.
Inside of a character it cannot end, and does so with the token that completes the character. Where the text could as
well be a terminal without a limit, nothing is closed. Beside the configuration after every token the matcher keeps the
rules whose terminals are in hand and the number of their tokens; all else is the same.

In: token ids. Out: masks. Cost: 3 us a token more than those of `Matcher`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import as_integer
from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.mask.cell import CELL_CONFIGURATION
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.mask.open_rules import T_BEFORE, T_BYTE, T_WITH, TRACE_FIELDS
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar
from .expected import rules_at
from .history import BYTES_TOKEN
from .matcher import Matcher

if TYPE_CHECKING:
    from typing_extensions import Self


class Counted(NamedTuple):
    """The rules whose terminals are in hand, all of them limited, and tokens that were read of these; or none."""

    rules: frozenset[int]
    n_tokens: int


NOTHING = Counted(frozenset(), 0)


class ClosingMatcher(Matcher):
    """See `Compiler.lark`, on max_tokens. Bytes given to `accept_bytes` count as one token."""

    follows_grammar = False

    __slots__ = ("_counts", "_replayed")

    def __init__(self, grammar: LoadedGrammar) -> None:
        super().__init__(grammar)
        self._counts = [NOTHING]
        self._replayed = NOTHING  # as far as tokens were taken into other tables

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """As `Matcher.fill_bitmask`; budgets are refused."""
        if budget is not None:
            raise self._no_budgets()
        return super().fill_bitmask(bitmask, row)

    def _no_budgets(self) -> LlmaskError:
        return LlmaskError(
            "a grammar with max_tokens takes no budget: where its terminals are closed depends on the tokens before",
            help="take max_tokens out, or do without a budget",
        )

    def least_budget(self, exact: bool = False) -> int:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def finishing_tokens(self) -> list[int]:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def accept(self, token: int) -> bool:
        """As `Matcher.accept`."""
        if type(token) is not int:
            token = as_integer(token, "a token id")
        try:
            reached = engine.step_token(self.cell_address, token)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        except BaseException:
            self._give_turn_back()
            raise
        if reached < 0:
            reached = self._built_after(token, reached)
            if reached == REFUSED:
                return False
        self._take(token, self.store.tokenizer.token_bytes(token), reached)
        return True

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            self.pieces.append((len(self.history), data))
            self._take(BYTES_TOKEN, data, reached)
        except BaseException:
            self._settle()
            raise

    def _take(self, token: int, data: bytes, reached: int) -> None:
        before = self.configuration
        reached, counted = self._closed(self.generation, before, data, reached, self._counts[-1])
        try:
            self.history.push(token, reached)
            self.cell[CELL_CONFIGURATION] = reached
            self._counts.append(counted)
        except BaseException:
            self._settle()
            raise

    def _closed(
        self, generation: Generation, before: int, data: bytes, reached: int, counted: Counted
    ) -> tuple[int, Counted]:
        """Where a token leads that read some bytes: to `reached`, or where the lexeme in hand is closed."""
        limits = self.grammar.limited_rules
        rules = frozenset() if reached == ENDED else frozenset(rules_at(generation, reached))
        if not rules or not rules <= limits.keys():
            return reached, NOTHING
        n_tokens = 1
        if counted.rules and not _ends_lexeme(generation, before, data):
            n_tokens = counted.n_tokens + 1
        if n_tokens >= min(limits[rule] for rule in rules):
            closed = generation.run(Operation.CLOSE, reached)
            if closed != REFUSED:
                return closed, NOTHING
        return reached, Counted(rules, n_tokens)

    def _settle(self) -> None:
        self.history.settle()
        self.history.drop(max(0, len(self.history) + 1 - len(self._counts)))
        super()._settle()
        del self._counts[len(self.history) + 1 :]

    def fork(self) -> Self:
        """As `Matcher.fork`."""
        twin = super().fork()
        twin._counts = self._counts.copy()
        twin._replayed = NOTHING
        return twin

    def _move(self, generation: Generation) -> None:
        self._replayed = NOTHING
        super()._move(generation)

    def _repeat(self, generation: Generation, configuration: int, token: int, data: bytes | None) -> int:
        reached = super()._repeat(generation, configuration, token, data)
        data = self.store.tokenizer.token_bytes(token) if data is None else data
        reached, self._replayed = self._closed(generation, configuration, data, reached, self._replayed)
        return reached


def _ends_lexeme(generation: Generation, configuration: int, data: bytes) -> bool:
    """Whether a lexeme ends in the course of some bytes."""
    trace = np.zeros(len(data) * TRACE_FIELDS, np.int32)
    trace[T_BYTE::TRACE_FIELDS] = np.frombuffer(data, np.uint8)
    generation.run(Operation.TRACE, configuration, data=trace)
    return bool(trace[T_BEFORE::TRACE_FIELDS].any() or trace[T_WITH::TRACE_FIELDS].any())
