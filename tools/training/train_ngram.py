"""Counting n-grams into the arrays of `ngram.py`.

Each order is counted from the one before: an n-gram is (index of its first n - 1 tokens, last token) in one integer.
Rare n-grams are dropped, and longer ones with them, which is what keeps the file small.

In a context, tokens that are alike are one: after `"street": "871` comes ` Forest`, whatever the number is. The
caller gives each token its representative; contexts are spelled with representatives, what follows them with the
tokens themselves.

In: token ids of all documents with the end token between them. Out: arrays by name. Cost: 3 s for three million
tokens.
"""

from __future__ import annotations

import numpy as np

TOKEN_BITS = 16


def count_ngrams(ids: np.ndarray, representatives: np.ndarray, least_counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Arrays of the model file.

    Parameters
    ----------
    ids : int64[n], all documents, each ending with the end token.
    representatives : int64[vocab_size], for each token the token that stands for it in contexts; at most 65,536 tokens.
    least_counts : for orders 2, 3, ...: how often an n-gram must occur to be kept.
    """
    in_context = representatives[ids]
    vocab_size = len(representatives)
    arrays = {
        "representatives": representatives.astype(np.uint16),
        "counts1": _clip(np.bincount(ids, minlength=vocab_size), np.uint32),
        "totals1": _clip(np.bincount(in_context, minlength=vocab_size), np.uint32),
    }
    index_at = in_context  # index of the n-gram that ends at each position, -1 when it was dropped
    n_entries = vocab_size
    for order, least in enumerate(least_counts, start=2):
        before, here = index_at[:-1], slice(len(ids) - len(index_at) + 1, None)
        is_known = before >= 0
        seen_keys = np.where(is_known, before << TOKEN_BITS | ids[here], -1)
        context_keys = np.where(is_known, before << TOKEN_BITS | in_context[here], -1)
        unique, inverse = np.unique(np.concatenate([seen_keys, context_keys]), return_inverse=True)
        seen_at, context_at = np.split(inverse.reshape(-1), 2)
        counts = np.bincount(seen_at, minlength=len(unique))
        totals = np.bincount(context_at, minlength=len(unique))
        is_kept = (np.maximum(counts, totals) >= least) & (unique >= 0)
        kept = unique[is_kept]
        arrays[f"tokens{order}"] = (kept & (2**TOKEN_BITS - 1)).astype(np.uint16)
        arrays[f"counts{order}"] = _clip(counts[is_kept], np.uint16)
        arrays[f"totals{order}"] = _clip(totals[is_kept], np.uint16)
        arrays[f"following{order - 1}"] = np.bincount(kept >> TOKEN_BITS, minlength=n_entries).astype(np.uint16)
        index_at = np.where(is_kept, np.cumsum(is_kept) - 1, -1)[context_at]
        n_entries = len(kept)
    arrays["n_orders"] = np.array(len(least_counts) + 1)
    return arrays


def _clip(counts: np.ndarray, dtype: type) -> np.ndarray:
    clipped: np.ndarray = np.minimum(counts, np.iinfo(dtype).max).astype(dtype)
    return clipped
