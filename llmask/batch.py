"""Masks of a whole batch, optionally over several threads (kernels release the GIL).

In: matchers and one bitmask. Out: the rows, and whether each restricts.
Cost: known masks scale with the threads; misses take the store's lock one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .errors import LlmaskError
from .matcher import Matcher, as_bitmask, as_integer


def fill_bitmasks(
    matchers: Sequence[Matcher], bitmask: Any, rows: Sequence[int] | None = None, threads: int | None = None
) -> list[bool]:
    """Fill one row of a bitmask for each matcher.

    Parameters
    ----------
    matchers : one a row; no matcher twice.
    bitmask : int32[batch, n_words], see `Matcher.fill_bitmask`.
    rows : the row of each matcher; None: 0, 1, 2, ...
    threads : how many threads fill; None or 1: the calling one.

    Returns
    -------
    What `fill_bitmask` returned for each matcher.

    Raises
    ------
    LlmaskError : the bitmask has another dtype or shape, a row is missing or named twice, a matcher stands twice or is
        none; nothing is written then.
    LimitExceeded, VocabularyError : see `Matcher.fill_bitmask`; other rows may be written.
    """
    matchers = _listed(matchers, "matchers")
    for matcher in matchers:
        if not isinstance(matcher, Matcher):
            raise LlmaskError(
                f"a matcher is a Matcher, not {type(matcher).__name__}", help="give what g.matcher() made"
            )
    chosen = list(range(len(matchers))) if rows is None else [as_integer(row, "a row") for row in _listed(rows, "rows")]
    if len(chosen) != len(matchers):
        raise LlmaskError(f"{len(matchers)} matchers, but {len(chosen)} rows", help="give one row for each matcher")
    if len(set(chosen)) != len(chosen):
        raise LlmaskError(f"a row is given twice: {chosen}", help="give each matcher a row of its own")
    if len(set(map(id, matchers))) != len(matchers):
        raise LlmaskError("a matcher is given twice", help="fork it, or fill its row once and copy it")
    array = as_bitmask(bitmask)
    for row in chosen:
        if not 0 <= row < len(array):
            raise LlmaskError(f"row {row} is not in a bitmask of {len(array)} rows", help="rows count from 0")
    n_threads = 1 if threads is None else min(as_integer(threads, "the number of threads"), len(matchers))
    if n_threads <= 1:
        return [matcher.fill_bitmask(array, row) for matcher, row in zip(matchers, chosen, strict=True)]
    results = [False] * len(matchers)

    def fill_part(part: int) -> None:
        for i in range(part, len(matchers), n_threads):
            results[i] = matchers[i].fill_bitmask(array, chosen[i])

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill_part, range(n_threads)))
    return results


def _listed(values: Any, what: str) -> list[Any]:
    """The members of a collection of any kind."""
    try:
        return list(values)
    except TypeError:
        raise LlmaskError(f"{what} are a sequence, not {type(values).__name__}", help="give a list") from None
