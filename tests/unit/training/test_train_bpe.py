"""Learning merges, compared with counting everything anew for each merge."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

from tools.training.train_bpe import train_merges


def train_by_definition(word_counts: dict[bytes, int], n_merges: int) -> list[tuple[bytes, bytes]]:
    words = [([bytes([byte]) for byte in word], count) for word, count in word_counts.items()]
    merges: list[tuple[bytes, bytes]] = []
    known = {bytes([byte]) for byte in range(256)}
    while len(merges) < n_merges:
        counts: Counter[tuple[bytes, bytes]] = Counter()
        for symbols, count in words:
            for pair in pairwise(symbols):
                counts[pair] += count
        candidates = [(-count, pair) for pair, count in counts.items() if count > 1 and b"".join(pair) not in known]
        if not candidates:
            return merges
        pair = min(candidates)[1]
        merges.append(pair)
        known.add(b"".join(pair))
        for symbols, _ in words:
            i = 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == pair:
                    symbols[i : i + 2] = [b"".join(pair)]
                i += 1
    return merges


def test_random_words_give_the_merges_of_the_definition():
    rng = random.Random(2)
    for _ in range(60):
        words = {bytes(rng.choices(b"abc", k=rng.randint(1, 8))): rng.randint(1, 9) for _ in range(rng.randint(0, 25))}
        assert train_merges(words, 20) == train_by_definition(words, 20)


def test_pairs_that_occur_once_are_not_merged():
    assert train_merges({b"ab": 1}, 5) == []
    assert train_merges({}, 5) == []
