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

from ..errors import LlmaskError
from ..kernels import engine
from ..kernels.mask.cell import CELL_CONFIGURATION, CELL_GRAMMAR
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.mask.open_rules import T_BEFORE, T_BYTE, T_WITH, TRACE_FIELDS
from .expected import rules_at
from .history import BYTES_TOKEN, History
from .matcher import Matcher

if TYPE_CHECKING:
    from ..compiling.compiled import CompiledGrammar, Generation


class Counted(NamedTuple):
    """The rules whose terminals are in hand, all of them limited, and tokens that were read of these; or none."""

    rules: frozenset[int]
    n_tokens: int


NOTHING = Counted(frozenset(), 0)


class ClosingMatcher(Matcher):
    """See `Compiler.lark`, on max_tokens. Bytes given to `accept_bytes` count as one token."""

    __slots__ = ("_counts",)

    def __init__(self, grammar: CompiledGrammar) -> None:
        super().__init__(grammar)
        self._counts = [NOTHING]

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

    def least_budget(self) -> int:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def finishing_tokens(self) -> list[int]:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def _accept(self, token: int) -> bool:
        try:
            reached = engine.accept(self._cell_address, token)
        except OverflowError:  # no token has a number of more than 63 bits
            return False
        if reached < 0:
            reached = self._built_after(token, reached)
            if reached == REFUSED:
                return False
        self._take(token, self._store.tokenizer.token_bytes(token), reached)
        return True

    def _take_bytes(self, data: bytes, reached: int) -> None:
        try:
            self._pieces.append((len(self._history), data))
            self._take(BYTES_TOKEN, data, reached)
        except BaseException:
            self._settle()
            raise

    def _take(self, token: int, data: bytes, reached: int) -> None:
        before = self._cell[CELL_CONFIGURATION]
        reached, counted = self._closed(self._generation, before, data, reached, self._counts[-1])
        try:
            self._history.push(token, reached)
            self._cell[CELL_CONFIGURATION] = reached
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
            closed = generation.run(engine.CLOSE, reached)
            if closed != REFUSED:
                return closed, NOTHING
        return reached, Counted(rules, n_tokens)

    def _settle(self) -> None:
        self._history.settle()
        self._history.drop(max(0, len(self._history) + 1 - len(self._counts)))
        super()._settle()
        del self._counts[len(self._history) + 1 :]

    def fork(self) -> ClosingMatcher:
        """As `Matcher.fork`."""
        twin = super().fork()
        assert isinstance(twin, ClosingMatcher)
        twin._counts = self._counts.copy()
        return twin

    def _move(self, generation: Generation) -> None:
        history = History()
        pieces = dict(self._pieces)
        here, counted = generation.start, NOTHING
        brought = 0
        for position, token in enumerate(self._history.tokens()):
            piece = pieces.get(position)
            with self._store.lock:  # for one token, as in `Matcher`
                before = generation.table.bytes_used
                reached = self._repeat(generation, here, token, piece)
                assert reached != REFUSED  # it was accepted before
                data = self._store.tokenizer.token_bytes(token) if piece is None else piece
                here, counted = self._closed(generation, here, data, reached, counted)
                brought += generation.table.bytes_used - before
            history.push(token, here)
        generation.bring(brought)
        self._history, self._generation = history, generation
        self._cell[CELL_GRAMMAR] = generation.table.address
        self._cell[CELL_CONFIGURATION] = here


def _ends_lexeme(generation: Generation, configuration: int, data: bytes) -> bool:
    """Whether a lexeme ends in the course of some bytes."""
    trace = np.zeros(len(data) * TRACE_FIELDS, np.int32)
    trace[T_BYTE::TRACE_FIELDS] = np.frombuffer(data, np.uint8)
    generation.run(engine.TRACE, configuration, data=trace)
    return bool(trace[T_BEFORE::TRACE_FIELDS].any() or trace[T_WITH::TRACE_FIELDS].any())
