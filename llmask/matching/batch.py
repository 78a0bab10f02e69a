"""Masks of a whole batch, optionally over several threads (kernels release the GIL).

Known masks are written by one call into compiled code a thread: the threads take matchers off a common counter. What
has to be built first is built afterwards, one after the other, because building takes the store's lock.

Rows whose budget is near are filled one after the other, too.

A batch may have rows without a grammar: None in the place of a matcher.

In: matchers and one bitmask. Out: the rows, and whether each restricts.
Cost: 15 us a batch of 256, and 0.2-0.4 us a known mask and thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import as_bitmask, as_integer, listed
from ..errors import LlmaskError
from ..kernels.tables.kinds import Fill
from .budget import checked_budget, restricts_nothing
from .matcher import Matcher
from .workers import fill_together

MATCHERS_PER_THREAD = 64  # 25 us of work; a helper that sleeps comes 40 us late, one that is awake at once


def fill_bitmasks(
    matchers: Sequence[Matcher | None],
    bitmask: Any,
    rows: Sequence[int] | None = None,
    threads: int | None = None,
    budgets: Sequence[int | None] | None = None,
) -> list[bool]:
    """Fill one row of a bitmask for each matcher.

    Parameters
    ----------
    matchers : one a row; None: a row without a grammar, which gets all ones.
    bitmask : int32[batch, n_words], see `Matcher.fill_bitmask`.
    rows : the row of each matcher; None: 0, 1, 2, ...
    threads : how many threads fill, the calling one included; None: one for every 64 matchers, at most one a CPU.
    budgets : the budget of each matcher, see `Matcher.fill_bitmask`; None: without one.

    Returns
    -------
    What `fill_bitmask` returned for each matcher; False for None.

    Raises
    ------
    LlmaskError : the bitmask has another dtype or shape, a row is missing or named twice, a matcher is none;
        nothing is written then.
    LimitExceeded, BudgetError, VocabularyError : see `Matcher.fill_bitmask`; other rows may be written.
    """
    matchers = listed(matchers, "matchers")
    n = len(matchers)
    try:
        cells = np.array([matcher.cell_address for matcher in matchers], np.int64)
    except AttributeError:
        _check_matchers(matchers)
        return _with_free_rows(matchers, bitmask, rows, threads, budgets)
    words = as_bitmask(bitmask)
    if rows is None:
        chosen = np.arange(n)
        if n > len(words):
            raise _no_such_row(len(words), words)
    else:
        chosen = _checked_rows(rows, n, words)
    if budgets is not None:
        return _within_budgets(matchers, words, chosen.tolist(), threads, listed(budgets, "budgets"))
    if not words.flags.c_contiguous:
        return [matcher.fill_bitmask(words, row) for matcher, row in zip(matchers, chosen.tolist(), strict=True)]
    if threads is None:
        threads = min(n // MATCHERS_PER_THREAD, os.cpu_count() or 1)
    threads = max(1, min(as_integer(threads, "the number of threads"), n))
    statuses = np.empty(n, np.int8)
    fill_together(cells, chosen, words, statuses, threads)
    if not statuses.tobytes().strip(b"\0"):
        return [True] * n
    assert not Fill.SOME
    return [
        status == Fill.SOME or matcher.fill_bitmask(words, row)
        for status, matcher, row in zip(statuses.tolist(), matchers, chosen.tolist(), strict=True)
    ]


def accept_batch(matchers: Sequence[Matcher | None], tokens: Any) -> list[bool]:
    """Take one token into each state.

    Parameters
    ----------
    matchers : those of a batch; None: a row without a grammar, which takes every token.
    tokens : int[n], one for each: a list, NumPy, or torch on the CPU.

    Returns
    -------
    Whether each was allowed; where it was not the state is unchanged.

    Raises
    ------
    LimitExceeded, LlmaskError : see `Matcher.accept_token`; no state is changed then.
    """
    matchers = listed(matchers, "matchers")
    values = _each_integer(tokens, len(matchers), "token")
    _check_matchers(matchers)
    taken: list[bool] = []
    try:
        for matcher, token in zip(matchers, values, strict=True):
            taken.append(matcher is None or matcher.accept(token))
    except BaseException:
        for matcher, is_taken in zip(matchers, taken, strict=False):
            if matcher is not None and is_taken:
                matcher.rollback(1)
        raise
    return taken


def rollback_batch(matchers: Sequence[Matcher | None], counts: Any) -> None:
    """Undo the last tokens of each state.

    Parameters
    ----------
    matchers : those of a batch; None: a row without a grammar, for which nothing is done.
    counts : int[n], how many tokens of each: a list, NumPy, or torch on the CPU.

    Raises
    ------
    LlmaskError : one of them has not accepted so many, or a matcher is given twice; no state is changed then.
    """
    matchers = listed(matchers, "matchers")
    values = _each_integer(counts, len(matchers), "count")
    _check_matchers(matchers)
    pairs = [(matcher, n) for matcher, n in zip(matchers, values, strict=True) if matcher is not None]
    if len({id(matcher) for matcher, _ in pairs}) < len(pairs):
        raise LlmaskError("a matcher is given twice", help="give each matcher once, with the sum of its tokens")
    for place, (matcher, n) in enumerate(pairs):
        if not 0 <= n <= len(matcher.history):
            raise LlmaskError(
                f"cannot roll back {n} tokens: {len(matcher.history)} were accepted",
                where=f"matcher {place}",
                help="give a number between 0 and that",
            )
    for matcher, n in pairs:
        matcher.rollback(n)


def _with_free_rows(matchers: list[Any], bitmask: Any, rows: Any, threads: Any, budgets: Any) -> list[bool]:
    """A batch in which some rows have no grammar: these are set to ones, the others filled as always."""
    words = as_bitmask(bitmask)
    chosen = range(len(matchers)) if rows is None else _checked_rows(rows, len(matchers), words).tolist()
    if rows is None and len(matchers) > len(words):
        raise _no_such_row(len(words), words)
    if budgets is not None:
        budgets = listed(budgets, "budgets")
        _check_budgets(matchers, budgets)
    bound = [place for place, matcher in enumerate(matchers) if matcher is not None]
    found = fill_bitmasks(
        [matchers[place] for place in bound],
        words,
        [chosen[place] for place in bound],
        threads,
        None if budgets is None else [budgets[place] for place in bound],
    )
    restricts = [False] * len(matchers)
    for place, is_restricted in zip(bound, found, strict=True):
        restricts[place] = is_restricted
    for place, matcher in enumerate(matchers):
        if matcher is None:
            words[chosen[place]] = -1
    return restricts


def _check_matchers(matchers: Sequence[Any]) -> None:
    for matcher in matchers:
        if matcher is not None and not isinstance(matcher, Matcher):
            raise LlmaskError(
                f"a matcher is a Matcher, not {type(matcher).__name__}", help="give what g.matcher() made"
            ) from None


def _each_integer(values: Any, n: int, what: str) -> list[int]:
    """One integer for each of `n` matchers."""
    numbers = listed(values.tolist() if hasattr(values, "tolist") else values, f"{what}s")
    if len(numbers) != n:
        raise LlmaskError(f"{n} matchers, but {len(numbers)} {what}s", help=f"give one {what} for each matcher")
    return [value if type(value) is int else as_integer(value, f"a {what}") for value in numbers]


def _within_budgets(
    matchers: Sequence[Matcher], words: Any, rows: list[int], threads: Any, budgets: list[Any]
) -> list[bool]:
    """Fill rows whose budget restricts nothing together, the others one by one: their masks are made in Python."""
    _check_budgets(matchers, budgets)
    budgets = [None if budget is None else checked_budget(budget) for budget in budgets]
    far = [
        place
        for place, (matcher, budget) in enumerate(zip(matchers, budgets, strict=True))
        if budget is None or (type(matcher) is Matcher and restricts_nothing(matcher, budget))
    ]
    restricts = fill_bitmasks([matchers[place] for place in far], words, [rows[place] for place in far], threads)
    found = dict(zip(far, restricts, strict=True))
    return [
        found[place] if place in found else matcher.fill_bitmask(words, rows[place], budgets[place])
        for place, matcher in enumerate(matchers)
    ]


def _check_budgets(matchers: Sequence[Any], budgets: Sequence[Any]) -> None:
    if len(budgets) != len(matchers):
        raise LlmaskError(
            f"{len(matchers)} matchers, but {len(budgets)} budgets", help="give one budget, or None, for each matcher"
        )


def _checked_rows(rows: Any, n: int, words: Any) -> Any:
    """The rows as int64[n]."""
    chosen = [as_integer(row, "a row") for row in listed(rows, "rows")]
    if len(chosen) != n:
        raise LlmaskError(f"{n} matchers, but {len(chosen)} rows", help="give one row for each matcher")
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
