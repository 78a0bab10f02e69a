"""A mask as a short text, so that the expected ones can be kept as data: `"7 5f0c63b2e1a49d88"`.

The number is how many tokens are allowed, for people; the rest is BLAKE2b of the words, eight bytes of it.

In: int32 words. Out: text. Cost: 20 us.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np


def digest(words: np.ndarray, n_vocab: int, eos_ids: Sequence[int] = ()) -> str:
    """Number of allowed tokens and digest of one row of words.

    Parameters
    ----------
    words : int32[ceil(n_vocab / 32)]; bits at or beyond `n_vocab` do not count.
    eos_ids : when one of these is allowed all are: for an engine that was told only one of them.
    """
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    bits[n_vocab:] = 0
    ends = list(eos_ids)
    if ends and bits[ends].any():
        bits[ends] = 1
    packed = np.packbits(bits, bitorder="little").tobytes()
    return f"{int(bits.sum())} {hashlib.blake2b(packed, digest_size=8).hexdigest()}"


def chosen_positions(n_tokens: int, n_wanted: int) -> list[int]:
    """At most `n_wanted` of the positions 0 to `n_tokens`, evenly spread, the first and the last always among them."""
    if n_tokens < n_wanted:
        return list(range(n_tokens + 1))
    return sorted({round(place * n_tokens / (n_wanted - 1)) for place in range(n_wanted)})
