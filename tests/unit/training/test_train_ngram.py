"""N-gram arrays hold exactly the n-grams that occur often enough."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tools.training.train_ngram import count_ngrams


def unpack(arrays: dict[str, np.ndarray]) -> dict[tuple[int, ...], int]:
    """N-grams of order 2 and more with their counts."""
    grams = [(token,) for token in range(len(arrays["counts1"]))]
    found = {}
    for order in range(2, int(arrays["n_orders"]) + 1):
        parents = np.repeat(np.arange(len(grams)), arrays[f"following{order - 1}"])
        grams = [(*grams[p], int(t)) for p, t in zip(parents, arrays[f"tokens{order}"], strict=True)]
        found.update(zip(grams, arrays[f"counts{order}"].tolist(), strict=True))
    return found


def test_ngrams_are_those_of_the_definition(rng):
    for _ in range(40):
        ids = [rng.randrange(4) for _ in range(rng.randrange(2, 120))]
        least = (1, 2, 3)
        arrays = count_ngrams(np.array(ids, np.int64), np.arange(6), least)
        expected: dict[tuple[int, ...], int] = {}
        for order, smallest in enumerate(least, start=2):
            counts = Counter(tuple(ids[i : i + order]) for i in range(len(ids) - order + 1))
            for gram, count in counts.items():
                if count >= smallest and (order == 2 or gram[:-1] in expected):
                    expected[gram] = count
        assert unpack(arrays) == expected
        assert list(unpack(arrays)) == sorted(expected, key=lambda gram: (len(gram), gram))
        assert arrays["counts1"].tolist() == [ids.count(token) for token in range(6)]
        for order in range(1, 5):  # every token represents itself
            assert (arrays[f"totals{order}"] == arrays[f"counts{order}"]).all()


def test_contexts_are_spelled_with_representatives(rng):
    representatives = np.array([0, 0, 2, 3, 3])
    for _ in range(40):
        ids = [rng.randrange(5) for _ in range(rng.randrange(2, 120))]
        least = (1, 2, 2)
        arrays = count_ngrams(np.array(ids, np.int64), representatives, least)
        alike = representatives[ids].tolist()
        expected: dict[tuple[int, ...], tuple[int, int]] = {}
        for order, smallest in enumerate(least, start=2):
            starts = range(len(ids) - order + 1)
            counts = Counter((*alike[i : i + order - 1], ids[i + order - 1]) for i in starts)
            totals = Counter(tuple(alike[i : i + order]) for i in starts)
            for gram in {*counts, *totals}:
                if max(counts[gram], totals[gram]) >= smallest and (order == 2 or gram[:-1] in expected):
                    expected[gram] = (counts[gram], totals[gram])
        found = unpack(arrays)
        assert found == {gram: count for gram, (count, _) in expected.items()}
        totals_in_order = np.concatenate([arrays[f"totals{order}"] for order in (2, 3, 4)])
        assert totals_in_order.tolist() == [expected[gram][1] for gram in found]


def test_counts_are_clipped_and_types_are_small():
    arrays = count_ngrams(np.zeros(70_000, np.int64), np.arange(2), (1,))
    assert arrays["counts2"].tolist() == [65_535]
    assert arrays["counts1"].tolist() == [70_000, 0]
    assert {arrays[name].dtype.name for name in ("tokens2", "counts2", "totals2", "following1", "representatives")} == {
        "uint16"
    }
