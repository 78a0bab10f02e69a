"""Counting n-grams into the arrays of `ngram.py`.

Each order is counted from the one before: an n-gram is (index of its first n - 1 tokens, last token) in one integer.
Rare n-grams are dropped, and longer ones with them, which is what keeps the file small.

In: token ids of all documents with the end token between them. Out: arrays by name. Cost: 3 s for three million tokens.
"""

from __future__ import annotations

import numpy as np

TOKEN_BITS = 16
MAX_COUNT = 65_535


def count_ngrams(ids: np.ndarray, vocab_size: int, least_counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Arrays of the model file.

    Parameters
    ----------
    ids : int64[n], all documents, each ending with the end token.
    vocab_size : at most 65,536.
    least_counts : for orders 2, 3, ...: how often an n-gram must occur to be kept.
    """
    unigrams = np.bincount(ids, minlength=vocab_size)
    arrays = {"counts1": np.minimum(unigrams, 2**32 - 1).astype(np.uint32)}
    index_at = ids.copy()  # index of the n-gram that ends at each position, -1 when it was dropped
    n_entries = vocab_size
    for order, least in enumerate(least_counts, start=2):
        before = index_at[:-1]
        keys = np.where(before >= 0, before << TOKEN_BITS | ids[1 - len(index_at) :], -1)
        unique, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        is_kept = (counts >= least) & (unique >= 0)
        number = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
        kept = unique[is_kept]
        arrays[f"tokens{order}"] = (kept & (2**TOKEN_BITS - 1)).astype(np.uint16)
        arrays[f"counts{order}"] = np.minimum(counts[is_kept], MAX_COUNT).astype(np.uint16)
        arrays[f"following{order - 1}"] = np.bincount(kept >> TOKEN_BITS, minlength=n_entries).astype(np.uint16)
        index_at = number[inverse.reshape(-1)]
        n_entries = len(kept)
    arrays["n_orders"] = np.array(len(least_counts) + 1)
    return arrays
