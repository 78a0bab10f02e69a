"""Masks of a whole batch, optionally over several threads (kernels release the GIL).

Known masks are written by one call into compiled code a thread: the threads take matchers off a common counter. What
has to be built first is built afterwards, one after the other, because building takes the store's lock.

Rows with a budget are filled one after the other, too.

In: matchers and one bitmask. Out: the rows, and whether each restricts.
Cost: 15 us a batch of 256, and 0.2-0.4 us a known mask and thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import as_bitmask, as_integer
from ..errors import LlmaskError
from ..kernels.mask.assemble import FILL_SOME
from .budget import checked_budget
from .matcher import Matcher
from .workers import fill_together

MATCHERS_PER_THREAD = 64  # 25 us of work; a helper that sleeps comes 40 us late, one that is awake at once


def fill_bitmasks(
    matchers: Sequence[Matcher],
    bitmask: Any,
    rows: Sequence[int] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
) -> list[bool]:
    """Fill one row of a bitmask for each matcher.

    Parameters
    ----------
    matchers : one a row.
    bitmask : int32[batch, n_words], see `Matcher.fill_bitmask`.
    rows : the row of each matcher; None: 0, 1, 2, ...
    threads : how many threads fill, the calling one included; None: one for every 64 matchers, at most one a CPU.
    budgets : the budget of each matcher, see `Matcher.fill_bitmask`; None: without one.

    Returns
    -------
    What `fill_bitmask` returned for each matcher.

    Raises
    ------
    LlmaskError : the bitmask has another dtype or shape, a row is missing or named twice, a matcher is none;
        nothing is written then.
    LimitExceeded, BudgetError, VocabularyError : see `Matcher.fill_bitmask`; other rows may be written.
    """
    matchers = _listed(matchers, "matchers")
    n = len(matchers)
    try:
        cells = np.array([matcher.cell_address for matcher in matchers], np.int64)
    except AttributeError:
        wrong = next(matcher for matcher in matchers if not isinstance(matcher, Matcher))
        raise LlmaskError(
            f"a matcher is a Matcher, not {type(wrong).__name__}", help="give what g.matcher() made"
        ) from None
    words = as_bitmask(bitmask)
    if rows is None:
        chosen = np.arange(n)
        if n > len(words):
            raise _no_such_row(len(words), words)
    else:
        chosen = _checked_rows(rows, n, words)
    if budgets is not None:
        return _within_budgets(matchers, words, chosen.tolist(), _listed(budgets, "budgets"))
    if threads is None:
        threads = min(n // MATCHERS_PER_THREAD, os.cpu_count() or 1)
    threads = max(1, min(as_integer(threads, "the number of threads"), n))
    statuses = np.empty(n, np.int8)
    fill_together(cells, chosen, words, statuses, threads)
    if not statuses.tobytes().strip(b"\0"):
        return [True] * n
    assert FILL_SOME == 0
    return [
        status == FILL_SOME or matcher.fill_bitmask(words, row)
        for status, matcher, row in zip(statuses.tolist(), matchers, chosen.tolist(), strict=True)
    ]


def _within_budgets(matchers: Sequence[Matcher], words: Any, rows: list[int], budgets: list[Any]) -> list[bool]:
    """Fill one row after the other: masks near the end are put together in Python."""
    if len(budgets) != len(matchers):
        raise LlmaskError(
            f"{len(matchers)} matchers, but {len(budgets)} budgets", help="give one budget, or None, for each matcher"
        )
    budgets = [None if budget is None else checked_budget(budget) for budget in budgets]
    return [
        matcher.fill_bitmask(words, row, budget) for matcher, row, budget in zip(matchers, rows, budgets, strict=True)
    ]


def _checked_rows(rows: Any, n: int, words: Any) -> Any:
    """The rows as int64[n]."""
    chosen = [as_integer(row, "a row") for row in _listed(rows, "rows")]
    if len(chosen) != n:
        raise LlmaskError(f"{n} matchers, but {len(chosen)} rows", help="give one row for each matcher")
    if len(set(chosen)) != n:
        raise LlmaskError(f"a row is given twice: {chosen}", help="give each matcher a row of its own")
    for row in chosen:
        if not 0 <= row < len(words):
            raise _no_such_row(row, words)
    return np.array(chosen, np.int64)


def _no_such_row(row: int, words: Any) -> LlmaskError:
    return LlmaskError(f"row {row} is not in a bitmask of {len(words)} rows", help="rows count from 0")


def _listed(values: Any, what: str) -> list[Any]:
    """The members of a collection of any kind."""
    try:
        return list(values)
    except TypeError:
        raise LlmaskError(f"{what} are a sequence, not {type(values).__name__}", help="give a list") from None
