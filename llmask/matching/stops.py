"""Stop tokens: ids that end one sequence, besides the vocabulary's ends of sequence.

They are allowed where the sequence may end and nowhere else, also where they have a text that the grammar allows: a
sequence that took one has ended. So the masks are those of the grammar with some bits set or cleared. A compiled batch
leaves these rows to the matcher (CELL_STOPS).

In: a matcher's masks and tokens. Out: the same with stop tokens. Cost: 3 us a mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_bitmask, as_integer, each_of
from ..errors import LimitExceeded, LlmaskError, VocabularyError
from ..kernels.mask.cell import CELL_CONFIGURATION, CELL_STOPS
from ..kernels.mask.configurations import ENDED
from ..kernels.tables.grammar_layout import GRAMMAR
from ..store.generation import Generation
from .healing import PrefixedMatcher
from .matcher import Matcher

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer


def checked_stop_tokens(stop_tokens: Any, tokenizer: Tokenizer) -> frozenset[int]:
    """The ids that a caller gives.

    Raises
    ------
    LlmaskError : they are no ids of the vocabulary.
    """
    stops = frozenset(as_integer(token, "a stop token") for token in each_of(stop_tokens))
    for token in stops:
        if not 0 <= token < tokenizer.vocab_size:
            raise LlmaskError(
                f"the stop token {token} is not in the vocabulary of {tokenizer.vocab_size} tokens",
                help="stop tokens are token ids; for texts use the framework's stop strings",
            )
    return stops


class StoppingMatcher(Matcher):
    """See `CompiledGrammar.matcher`, on stop_tokens."""

    follows_grammar = False

    __slots__ = ()

    def stop_at(self, stop_tokens: Iterable[int]) -> None:
        """Take these as stop tokens, once, before the first token."""
        self.stop_tokens = frozenset(stop_tokens)
        self.cell[CELL_STOPS] = 1

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """As `Matcher.fill_bitmask`; a budget is refused where `_check_ways` says so."""
        if budget is not None:
            self._check_ways()
        super().fill_bitmask(bitmask, row, budget)
        words = as_bitmask(bitmask)[row]
        self._stop(words)
        return not self._allows_all(words)

    def finish(self, bitmask: Any, row: int = 0) -> bool:
        """As `Matcher.finish`; refused where a stop token has a text."""
        self._check_ways()
        super().finish(bitmask, row)
        self._stop(as_bitmask(bitmask)[row])
        return True

    def _stop(self, words: Any) -> None:
        """Set the bits of the stop tokens in a mask, or clear them where the sequence may not end."""
        bits, may_end = words.view(np.uint32), self.is_accepting()
        is_cleared = False
        for token in self.stop_tokens:
            bit = np.uint32(1 << (token & 31))
            if may_end:
                bits[token >> 5] |= bit
            elif bits[token >> 5] & bit:
                bits[token >> 5] &= ~bit
                is_cleared = True
        if is_cleared and not words.any():
            raise VocabularyError(
                "only stop tokens spell what may come next, and the sequence may not end here",
                where=self.place(),
                help="use stop tokens without a text, or a vocabulary with a token for every byte",
            )

    def _allows_all(self, words: Any) -> bool:
        """Whether a mask has every token."""
        n_full, n_rest = divmod(self.store.tokenizer.vocab_size, 32)
        return bool((words[:n_full] == -1).all()) and int(words[n_full : n_full + 1].sum()) == (1 << n_rest) - 1

    def accept(self, token: int) -> bool:
        """As `Matcher.accept`; a stop token ends the sequence."""
        if type(token) is not int:
            token = as_integer(token, "a token id")
        if token not in self.stop_tokens:
            return super().accept(token)
        if self.has_ended() or not self.is_accepting():
            return False
        try:
            self.history.push(token, ENDED)
            self.cell[CELL_CONFIGURATION] = ENDED
        except BaseException:
            self._settle()
            raise
        return True

    def text(self) -> bytes:
        """As `Matcher.text`; a stop token that ended the sequence adds none."""
        text, tokens = super().text(), self.history.tokens()
        is_stopped = bool(tokens) and tokens[-1] in self.stop_tokens
        return text.removesuffix(self.store.tokenizer.token_bytes(tokens[-1])) if is_stopped else text

    def forced_tokens(self) -> list[int]:
        """As `Matcher.forced_tokens`, up to the first stop token: it cannot stand for its text."""
        forced = super().forced_tokens()
        return forced[: next((place for place, token in enumerate(forced) if token in self.stop_tokens), len(forced))]

    def least_budget(self, exact: bool = False) -> int:
        """As `Matcher.least_budget`; refused where a stop token has a text."""
        self._check_ways()
        return super().least_budget(exact)

    def finishing_tokens(self) -> list[int]:
        """As `Matcher.finishing_tokens`; refused where a stop token has a text."""
        self._check_ways()
        return super().finishing_tokens()

    def _check_ways(self) -> None:
        """Refuse what follows ways to the end, where they may take a stop token for what the grammar has it for."""
        if self.generation.table.slots[GRAMMAR.names_tokens]:
            raise LlmaskError(
                "the grammar names tokens, and ways to the end might write a stop token as one of these",
                help="do without stop tokens, or without budgets and finish",
            )
        for token in sorted(self.stop_tokens):
            if self.store.tokenizer.token_bytes(token):
                raise LlmaskError(
                    f"the stop token {token} has a text, and ways to the end would write it",
                    help="use stop tokens without a text, or do without budgets and finish",
                )

    def _finish_after(self, error: LimitExceeded, bitmask: Any, row: int, is_wanted: bool = False) -> bool:
        try:
            self._check_ways()
        except LlmaskError:
            raise error from None
        return super()._finish_after(error, bitmask, row, is_wanted)

    def _repeat(self, generation: Generation, configuration: int, token: int, data: bytes | None) -> int:
        return ENDED if token in self.stop_tokens else super()._repeat(generation, configuration, token, data)


class StoppingPrefixedMatcher(StoppingMatcher, PrefixedMatcher):
    """A `PrefixedMatcher` with stop tokens."""

    __slots__ = ()
