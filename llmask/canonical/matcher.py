"""A matcher whose masks are canonical: they allow only what the tokenizer itself would have written.

Beside the configuration after every token it keeps the split state and the chain (states.py). Masks are those of the
grammar less what a filter (review.py) takes out, which known filters do in compiled code.

In: token ids. Out: masks. Cost: 0.8 us a mask and token beside those of the grammar when the filter is known; a new one
takes milliseconds (review.py).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from ..errors import LlmaskError
from ..kernels.canonical_fill import ASK, CELL_FILTER, REFUSED_SPLIT
from ..kernels.shared_batch import CELL_CONFIGURATION
from ..matcher import Matcher
from .neighbours import NO_CHAIN, NO_TOKEN
from .review import Filter, Review

if TYPE_CHECKING:
    from ..compiled import CompiledGrammar, Generation


class CanonicalMatcher(Matcher):
    """See `Compiler(canonical=True)`.

    Text before the first token is taken to end with a special token. Bytes given to `accept_bytes` are taken as a text
    of their own: what follows is canonical behind them.
    """

    __slots__ = ("_filter", "_review", "_splits")

    def __init__(self, grammar: CompiledGrammar) -> None:
        super().__init__(grammar)
        assert grammar.store.split_states is not None
        self._review: Review = self._generation.review
        self._splits = [(grammar.store.split_states.start, NO_TOKEN, NO_CHAIN)]
        self._filter: Filter | None = None
        self._take_filter()

    def _take_filter(self) -> None:
        """Have the cell say what is known of the present position."""
        self._filter = found = self._review.known(self._cell[CELL_CONFIGURATION], *self._splits[-1])
        if found is None:
            self._cell[CELL_FILTER] = ASK
        else:
            self._cell[CELL_FILTER:] = found.fields

    def _present_filter(self) -> Filter:
        if self._filter is None:
            self._make_room()
            with self._store.lock:
                self._filter = self._review.filter(self._cell[CELL_CONFIGURATION], *self._splits[-1])
            self._cell[CELL_FILTER:] = self._filter.fields
        return self._filter

    def fill_bitmask(self, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        """As `Matcher.fill_bitmask`: grammatical tokens that the tokenizer itself would write here, and can go on from.
        Budgets are refused.

        Where the look ahead was given up a token is allowed that may have no canonical continuation; such positions
        are counted (`CompiledGrammar.n_cut`).
        """
        if budget is not None:
            raise self._no_budgets()
        found = self._present_filter()
        if found.is_cut:
            self.grammar.n_cut += 1
        return super().fill_bitmask(bitmask, row)

    def _no_budgets(self) -> LlmaskError:
        return LlmaskError(
            "a canonical grammar takes no budget: the shortest way to the end need not be canonical",
            help="compile without canonical=True, or do without a budget",
        )

    def least_budget(self) -> int:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def finishing_tokens(self) -> list[int]:
        """Refused, see `fill_bitmask`."""
        raise self._no_budgets()

    def _accept(self, token: int) -> bool:
        step = None if self._filter is None else self._filter.steps.get(token)
        if step is not None:
            reached, follower = step
            self._history.push(token, reached)
            self._cell[CELL_CONFIGURATION] = reached
            self._splits.append(follower)
            self._take_filter()
            return True
        if not 0 <= token < self._store.tokenizer.vocab_size or self.is_terminated():
            return False
        found = self._present_filter()
        next_split = self._follower(found, token)
        if next_split is None or not super()._accept(token):
            return False
        if self._filter is found:  # the tables are the same still
            found.steps[token] = self._cell[CELL_CONFIGURATION], next_split
        self._splits.append(next_split)
        self._take_filter()
        return True

    def _follower(self, found: Filter, token: int) -> tuple[int, int, int] | None:
        """Split state, last token and chain after a token; None: it is not canonical."""
        if not self._store.tokenizer.token_bytes(token):  # text on both sides of a special token is split by itself
            return (self._review.states.start, NO_TOKEN, NO_CHAIN) if found.may_end else None
        at = bisect_left(found.removed, token)
        if at < len(found.removed) and found.removed[at] == token:
            return None
        if not found.words.item(token >> 5) >> (token & 31) & 1:
            return None
        split, before, chain = self._splits[-1]
        states = self._review.states
        with states.lock:
            after = states.after(split, before, token)
            if after != REFUSED_SPLIT:
                return after, token, states.chain_after(chain, split, token)
        # without a canonical token the grammatical mask stood, and what follows begins anew
        return (states.start, NO_TOKEN, NO_CHAIN) if found.is_plain else None

    def accept_bytes(self, data: bytes) -> None:
        """As `Matcher.accept_bytes`; what follows is canonical behind these bytes, whatever they are."""
        super().accept_bytes(data)
        self._splits.append((self._review.states.start, NO_TOKEN, NO_CHAIN))
        self._take_filter()

    def rollback(self, n: int) -> None:
        """As `Matcher.rollback`."""
        super().rollback(n)
        del self._splits[len(self._history) + 1 :]
        self._take_filter()

    def fork(self) -> CanonicalMatcher:
        """As `Matcher.fork`."""
        twin = super().fork()
        assert isinstance(twin, CanonicalMatcher)
        twin._review, twin._splits, twin._filter = self._review, self._splits.copy(), self._filter
        return twin

    def _move(self, generation: Generation) -> None:
        super()._move(generation)
        self._review = generation.review
        self._take_filter()

    def is_accepting(self) -> bool:
        """As `Matcher.is_accepting`, and the text may be split here as its tokens are."""
        return super().is_accepting() and (self.is_terminated() or self._present_filter().may_end)
