"""Where a text is cut so that a chunk has at most a given number of tokens.

In: how a tokenizer encodes and counts, a text. Out: the end of a chunk. Cost: twice encoding it; where tokens do not
spell the text, a count for each of some ten places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import as_integer
from .parts import TokenizerParts

MOST_TOKENS = 2**31 - 1  # of a text; kernels compare with it


def as_limit(n: Any) -> int:
    """A number of tokens that a caller gives, not larger than any text has.

    Raises
    ------
    LlmaskError : it is no integer.
    """
    return min(as_integer(n, "a number of tokens"), MOST_TOKENS)


Count = Callable[[str], int]


def find_chunk(
    parts: TokenizerParts, encode: Callable[[str], list[int]], count: Count, text: str, start: int, n: int
) -> int:
    """End of the chunk that begins at `start`; `start` where no chunk is small enough."""
    n_characters = 8 * max(n, 1) + 32
    while True:
        window = text[start : start + n_characters]
        ids = encode(window)
        if len(ids) > n:
            break
        if start + n_characters >= len(text):
            return len(text)
        n_characters *= 2
    spelled = b"".join(map(parts.tokens.get, ids[: max(n, 0)]))
    if parts.decode_drops_blank:
        spelled = spelled.removeprefix(b" ")
    if window.encode("utf-8").startswith(spelled):
        end = len(spelled.decode("utf-8", "ignore"))
        while end > 0 and count(window[:end]) > n:
            end -= 1
        if end > 0:
            return start + end
    # normalization, blanks that are added or removed, unknown characters: what tokens spell is not the text
    return start + _search_chunk(count, window, n, len(ids))


def _search_chunk(count: Count, window: str, n: int, n_tokens: int) -> int:
    """Length of a beginning of `window`, which has `n_tokens`, more than `n`, that has at most `n`; 0: none found.

    Counts grow nearly evenly with the text, so the place is looked for where it should be, and every other time in
    the middle.
    """
    low, high, n_low, n_high = 0, len(window), 0, n_tokens
    is_even = False
    while high - low > 1 and n_low < n:
        middle = (low + high) // 2 if is_even else low + (high - low) * (n - n_low) // max(n_high - n_low, 1)
        middle = min(max(middle, low + 1), high - 1)
        found = count(window[:middle])
        if found <= n:
            low, n_low = middle, found
        else:
            high, n_high = middle, found
        is_even = not is_even
    if low > 0:
        return low
    # a character may have more tokens than it has together with the next ones
    return next((end for end in range(min(len(window), 2 * n + 8), 0, -1) if count(window[:end]) <= n), 0)
