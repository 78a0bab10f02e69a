"""A small n-gram language model: scores of the next token given the last ones.

It takes the place of a neural network so that `llmask generate` writes plausible documents without a download. Absolute
discounting (Ney, Essen, Kneser 1994): in a context seen C times, a token seen c times gets (c - D) / C, and what is
left goes to the context that is one token shorter:

    p(w | context) = max(c(context w) - D, 0) / C(context) + rest(context) * p(w | shorter context)

In a context, all numbers of as many digits are one token, their representative: what follows a house number does not
depend on the number. The n-grams of order k are an array sorted by (n-gram of order k - 1, token), so finding a
context is one binary search for each token of it. Below the unigrams lies a uniform share, so every token has a
finite score.

    order 1   count and total of every token                      the index is the token id
    order k   token, count, total, n_following (entries of order k + 1 that go on from here), each uint16[n]

The count is that of the n-gram itself, the total that of all n-grams that it represents as a context.

In: ngrams.npz made by `tools/training`. Out: float32 scores. Cost: 20 to 60 us a call, 25 ms to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).parent / "ngrams.npz"
DISCOUNT = 0.6
UNIFORM_SHARE = 1e-4


class Order(NamedTuple):
    """N-grams of one length, sorted by (index of the n-gram without its last token, last token).

    tokens       uint16[n]     last token
    counts       float32[n]    how often the n-gram itself was seen
    totals       float32[n]    how often it was seen as a context, for all n-grams that it represents
    first_child  int64[n + 1]  n-grams that go on from n-gram i: in the next order, from first_child[i] on
    """

    tokens: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    first_child: np.ndarray


def unpack_orders(arrays: dict[str, np.ndarray]) -> list[Order]:
    """N-grams by length from the arrays of the model file."""
    orders = []
    for k in range(1, int(arrays["n_orders"]) + 1):
        counts, totals = arrays[f"counts{k}"].astype(np.float32), arrays[f"totals{k}"].astype(np.float32)
        tokens = arrays[f"tokens{k}"] if k > 1 else np.arange(len(counts), dtype=np.uint16)
        first_child = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(arrays.get(f"following{k}", np.zeros(len(counts), np.uint16)), out=first_child[1:])
        orders.append(Order(tokens, counts, totals, first_child))
    return orders


class NgramModel:
    """Next-token scores for the default tokenizer.

    Parameters
    ----------
    orders : by length, the unigrams first; those have an entry for every token id.
    representatives : int[vocab_size], the token that takes the place of each token in contexts.
    end_id : the token between documents; an empty context means that a document begins.
    """

    def __init__(self, orders: Sequence[Order], representatives: np.ndarray, end_id: int) -> None:
        self._orders = list(orders)
        self._representatives = representatives
        self._end_id = end_id
        unigrams = self._orders[0].counts
        self.vocab_size = len(unigrams)
        share = np.float32(UNIFORM_SHARE)
        self._unigram = ((1 - share) * unigrams / unigrams.sum() + share / self.vocab_size).astype(np.float32)

    @classmethod
    def load_default(cls) -> NgramModel:
        """The model that comes with the package."""
        with np.load(FILE) as file:
            return cls(unpack_orders(dict(file)), file["representatives"], int(file["end_id"]))

    def logits(self, ids: Sequence[int]) -> np.ndarray:
        """Natural logarithms of the next token's probabilities after `ids`.

        Parameters
        ----------
        ids : tokens so far; only the last few count. Empty: a document begins.

        Returns
        -------
        float32[vocab_size], owned by the caller.

        Examples
        --------
        >>> from llmask import Tokenizer
        >>> tok, model = Tokenizer.default(), NgramModel.load_default()
        >>> tok.decode([int(model.logits(tok.encode('{"name": "Anna", "age')).argmax())])
        '":'
        """
        n_context = len(self._orders) - 1
        last = [int(self._representatives[token]) for token in [self._end_id, *ids[-n_context:]]][-n_context:]
        probabilities: np.ndarray = self._unigram.copy()
        for length in range(1, len(last) + 1):
            found = self._find(last[-length:])
            if found is None:
                break  # a longer context contains this one
            order, index = found
            next_order = self._orders[order + 1]
            first, end = self._orders[order].first_child[index : index + 2]
            if first == end:
                continue
            counts = next_order.counts[first:end]
            # clipped totals may be smaller than their parts
            total = max(float(self._orders[order].totals[index]), float(counts.sum()))
            seen = np.maximum(counts - DISCOUNT, 0) / np.float32(total)
            probabilities *= np.float32(1.0 - seen.sum())
            probabilities[next_order.tokens[first:end]] += seen
        np.log(probabilities, out=probabilities)
        return probabilities

    def _find(self, context: Sequence[int]) -> tuple[int, int] | None:
        """(position in the list of orders, index) of an n-gram, None when it was not seen."""
        index = int(context[0])
        for order, token in enumerate(context[1:], start=1):
            first, end = self._orders[order - 1].first_child[index : index + 2]
            tokens = self._orders[order].tokens[first:end]
            place = int(np.searchsorted(tokens, token))
            if place == len(tokens) or tokens[place] != token:
                return None
            index = int(first) + place
        return len(context) - 1, index
