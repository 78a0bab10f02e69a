"""The merging loop against the definition: look for the best pair anew after each merge."""

from __future__ import annotations

import random
import time
from itertools import pairwise

from llmask.encoders.merging import merge_symbols


def merge_by_definition(symbols: list[bytes], ranks: dict[tuple[bytes, bytes], int]) -> list[bytes]:
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not found:
            return symbols
        _, i = min(found)
        symbols = [*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]]


def test_random_merges_equal_the_definition():
    rng = random.Random(11)
    for _ in range(400):
        known = [b"a", b"b", b"c"]
        ranks: dict[tuple[bytes, bytes], int] = {}
        for rank in range(rng.randint(0, 12)):
            pair = (rng.choice(known), rng.choice(known))
            if pair not in ranks:
                ranks[pair] = rank // 2  # equal ranks: the leftmost pair goes first
                known.append(pair[0] + pair[1])
        symbols = [bytes([rng.choice(b"abc")]) for _ in range(rng.randint(0, 25))]
        merged = merge_symbols(list(symbols), lambda left, right, ranks=ranks: ranks.get((left, right)))
        assert merged == merge_by_definition(symbols, ranks)


def test_a_long_word_takes_no_quadratic_time():
    started = time.perf_counter()
    n_bytes = 60_000
    merged = merge_symbols([b"a"] * n_bytes, lambda left, right: len(left + right) if len(left + right) <= 4 else None)
    assert b"".join(merged) == b"a" * n_bytes
    assert time.perf_counter() - started < 10  # 0.3 s; a quadratic loop takes minutes
