"""The matchers of a batch together: masks over several threads (kernels release the GIL), tokens, steps back.

Known masks are written by one call into compiled code a thread: the threads take matchers off a common counter. What
has to be built first is built afterwards, one after the other, because building takes the store's lock.

Rows whose budget is near are filled one after the other, too.

A batch may have rows without a grammar: None in the place of a matcher.

In: matchers and one bitmask. Out: the rows, and whether each restricts.
Cost: 10 us a batch of 256, and 0.2-0.4 us a known mask and thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..arguments import as_bitmask, as_integer, check_type, listed
from ..errors import LlmaskError
from ..kernels.tables.kinds import Fill
from .ahead import read_ahead
from .budget import checked_budget, restricts_nothing
from .matcher import Matcher
from .workers import fill_together

MATCHERS_PER_THREAD = 64  # 25 us of work; a helper that sleeps comes 40 us late, one that is awake at once


class Batch:
    """Matchers that go on together, one a row of a bitmask.

    Parameters
    ----------
    matchers : one a row; None: a row without a grammar, which allows every token and takes any.

    Raises
    ------
    LlmaskError : one of them is no matcher, or they are no list.

    Examples
    --------
    >>> import llmask
    >>> tokenizer = llmask.Tokenizer.default()
    >>> grammar = llmask.Compiler(tokenizer).choice(["yes", "no"])
    >>> batch = llmask.Batch([grammar.matcher(), None])
    >>> bitmask = llmask.allocate_bitmask(2, tokenizer.vocab_size)
    >>> batch.fill(bitmask)
    [True, False]
    >>> batch.accept([tokenizer.encode("yes")[0], 17])
    [True, True]
    """

    def __init__(self, matchers: Iterable[Matcher | None]) -> None:
        self._matchers: list[Matcher | None] = listed(matchers, "matchers")
        for matcher in self._matchers:
            check_type(matcher, (Matcher, type(None)), "a matcher is a Matcher", "give what g.matcher() made")
        self._sequences = [None if matcher is None else matcher._sequence for matcher in self._matchers]
        addresses = [0 if sequence is None else sequence.cell_address for sequence in self._sequences]
        self._cells = np.array(addresses, np.int64)

    def fill(
        self,
        bitmask: Any,
        rows: Sequence[int] | None = None,
        threads: int | None = None,
        budgets: Sequence[int | None] | None = None,
    ) -> list[bool]:
        """Fill one row of a bitmask for each matcher.

        Parameters
        ----------
        bitmask : int32[batch, n_words], see `Matcher.fill_bitmask`.
        rows : the row of each matcher; None: 0, 1, 2, ...
        threads : how many threads fill, the calling one included; None: one for every 64 matchers, at most one a CPU.
        budgets : the budget of each matcher, see `Matcher.fill_bitmask`; None: without one.

        Returns
        -------
        What `fill_bitmask` returned for each matcher; False for None.

        Raises
        ------
        LlmaskError : the bitmask has another dtype or shape, a row is missing or named twice; nothing is written then.
        LimitExceeded, BudgetError, VocabularyError : see `Matcher.fill_bitmask`; other rows may be written.
        """
        words, n = as_bitmask(bitmask), len(self._matchers)
        if rows is None:
            chosen = np.arange(n)
            if n > len(words):
                raise _no_such_row(len(words), words)
        else:
            chosen = _checked_rows(rows, n, words)
        threads = None if threads is None else as_integer(threads, "the number of threads")
        if budgets is None and None not in self._sequences:
            return self._fill_plain(self._cells, list(range(n)), chosen, words, threads)
        given = [None] * n if budgets is None else _one_each(budgets, n, "budget", ", or None,")
        found = [None if budget is None else checked_budget(budget) for budget in given]
        far = [
            place
            for place, (sequence, budget) in enumerate(zip(self._sequences, found, strict=True))
            if sequence is not None
            and (budget is None or (not sequence.features and restricts_nothing(sequence, budget)))
        ]
        restricts = [False] * n
        told = self._fill_plain(self._cells[far], far, chosen[far], words, threads)
        for place, is_restricted in zip(far, told, strict=True):
            restricts[place] = is_restricted
        for place in sorted({*range(n)}.difference(far)):
            sequence, row = self._sequences[place], int(chosen[place])
            if sequence is None:
                words[row] = -1
            else:
                restricts[place] = sequence.fill_bitmask(words, row, found[place])
        return restricts

    def _fill_plain(self, cells: Any, places: list[int], rows: Any, words: Any, threads: int | None) -> list[bool]:
        """Fill rows without a budget, those that are known together."""
        sequences = [sequence for place in places if (sequence := self._sequences[place]) is not None]
        n = len(sequences)
        statuses = np.full(n, Fill.MISS, np.int8)
        if words.flags.c_contiguous:
            if threads is None:
                threads = min(n // MATCHERS_PER_THREAD, os.cpu_count() or 1)
            fill_together(cells, rows, words, statuses, max(1, min(threads, n)))
            if not statuses.tobytes().strip(b"\0"):
                return [True] * n
            assert not Fill.SOME
        return [
            status == Fill.SOME or sequence.fill_bitmask(words, row)
            for status, sequence, row in zip(statuses.tolist(), sequences, rows.tolist(), strict=True)
        ]

    def accept(self, tokens: Any) -> list[bool]:
        """Take one token into each state.

        Parameters
        ----------
        tokens : int[n], one for each: a list, NumPy, or torch on the CPU.

        Returns
        -------
        Whether each was allowed; where it was not the state is unchanged.

        Raises
        ------
        LimitExceeded, LlmaskError : see `Matcher.accept_token`; no state is changed then.
        """
        values = _each_integer(tokens, len(self._matchers), "token")
        taken: list[bool] = []
        try:
            for matcher, token in zip(self._matchers, values, strict=True):
                taken.append(matcher is None or matcher.accept(token))
        except BaseException:
            for matcher, is_taken in zip(self._matchers, taken, strict=False):
                if matcher is not None and is_taken:
                    matcher.rollback(1)
            raise
        return taken

    def rollback(self, counts: Any) -> None:
        """Undo the last tokens of each state; of a row without a grammar nothing.

        Parameters
        ----------
        counts : int[n], how many tokens of each: a list, NumPy, or torch on the CPU.

        Raises
        ------
        LlmaskError : one of them has accepted fewer tokens, or a matcher is given twice; no state is changed then.
        """
        values = _each_integer(counts, len(self._matchers), "count")
        pairs = [(matcher, n) for matcher, n in zip(self._matchers, values, strict=True) if matcher is not None]
        if len({id(matcher) for matcher, _ in pairs}) < len(pairs):
            raise LlmaskError("a matcher is given twice", help="give each matcher once, with the sum of its tokens")
        for place, (matcher, n) in enumerate(pairs):
            if not 0 <= n <= len(matcher):
                raise LlmaskError(
                    f"cannot roll back {n} tokens: {len(matcher)} were accepted",
                    where=f"matcher {place}",
                    help="give a number between 0 and that",
                )
        for matcher, n in pairs:
            matcher.rollback(n)

    def read_ahead(self) -> int:
        """Have the masks that are needed next built by a helping thread, while the caller does something else.

        The next `fill` finds what has been built until then, and builds the rest as ever. Nothing else changes, and
        nothing has to be waited for. Canonical masks, and the masks of a sequence that finishes, are not read ahead.

        Returns
        -------
        How many masks were asked for: 0 where all are there.
        """
        return sum(sequence is not None and read_ahead(sequence) for sequence in self._sequences)


def _one_each(values: Any, n: int, what: str, or_none: str = "") -> list[Any]:
    """What is given for each of `n` matchers."""
    found = listed(values.tolist() if hasattr(values, "tolist") else values, f"{what}s")
    if len(found) != n:
        raise LlmaskError(f"{n} matchers, but {len(found)} {what}s", help=f"give one {what}{or_none} for each matcher")
    return found


def _each_integer(values: Any, n: int, what: str) -> list[int]:
    """One integer for each of `n` matchers."""
    return [value if type(value) is int else as_integer(value, f"a {what}") for value in _one_each(values, n, what)]


def _checked_rows(rows: Any, n: int, words: Any) -> Any:
    """The rows as int64[n]."""
    chosen = _each_integer(rows, n, "row")
    if len(set(chosen)) != n:
        raise LlmaskError(f"a row is given twice: {chosen}", help="give each matcher a row of its own")
    for row in chosen:
        if not 0 <= row < len(words):
            raise _no_such_row(row, words)
    return np.array(chosen, np.int64)


def _no_such_row(row: int, words: Any) -> LlmaskError:
    return LlmaskError(
        f"row {row} is not in a bitmask of {len(words)} rows", help="rows count from 0; give one for each matcher"
    )
