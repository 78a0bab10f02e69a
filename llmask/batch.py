"""Masks of a whole batch, optionally over several threads (kernels release the GIL).

In: matchers and one bitmask. Cost: known masks scale with the threads; misses take the store's lock one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .errors import LlmaskError
from .matcher import Matcher, as_bitmask


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
    """
    chosen = range(len(matchers)) if rows is None else rows
    if len(chosen) != len(matchers):
        raise LlmaskError(f"{len(matchers)} matchers, but {len(chosen)} rows", help="give one row for each matcher")
    array = as_bitmask(bitmask)
    if threads is None or threads <= 1 or len(matchers) < 2:
        return [matcher.fill_bitmask(array, row) for matcher, row in zip(matchers, chosen)]
    n_threads = min(threads, len(matchers))
    results = [False] * len(matchers)

    def fill_part(part: int) -> None:
        for i in range(part, len(matchers), n_threads):
            results[i] = matchers[i].fill_bitmask(array, chosen[i])

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill_part, range(n_threads)))
    return results
