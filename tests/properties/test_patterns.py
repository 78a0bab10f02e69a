"""Random patterns of every construct mean what Python's `re` says; at length: `python -m tests.long patterns`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import llmask
from llmask.frontends.regex import compile_pattern
from tests.generators.patterns import compare


def test_random_patterns_mean_what_re_says(rng: random.Random, costly: Callable[[int], int]) -> None:
    nodes = llmask.Compiler(llmask.Tokenizer.default(), cache_bytes=0)._newest_store().nodes

    def matcher_of(pattern: str, is_search: bool) -> Callable[[bytes], bool]:
        node = compile_pattern(nodes, pattern, is_search=is_search)
        return lambda text: nodes.matches(node, text)

    outcomes: Counter[str] = Counter()
    n_matches = n_pairs = 0
    for _ in range(costly(150)):
        found = compare(rng, matcher_of, 12)
        outcomes[found.outcome.split(":")[0]] += 1
        n_pairs += found.n_pairs
        n_matches += found.n_matches
    assert outcomes["compared"] > 0.7 * sum(outcomes.values())
    assert outcomes["limit"] < 0.1 * sum(outcomes.values())
    assert n_pairs // 5 < n_matches < n_pairs * 4 // 5
