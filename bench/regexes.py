"""Random patterns against Python's `re`: every text is judged by both, as a whole and as a search.

    python -m bench.regexes --count 10000

Patterns of every construct (tests/generators/patterns.py) are compiled and asked about texts that they may match,
damaged and whole. Any difference stops the run with the case.

In: how many patterns. Out: a table. Cost: about 30 ms a pattern.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable

import llmask
from llmask.frontends.regex import compile_pattern
from tests.generators.patterns import compare

N_TEXTS = 12  # of each pattern
ROUND = 500  # patterns of one store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="patterns")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    llmask.warm()
    outcomes: Counter[str] = Counter()
    n_pairs = n_matches = 0
    longest = (0.0, "")
    for number in range(options.count):
        if number % ROUND == 0:
            nodes = llmask.Compiler(llmask.Tokenizer.default(), cache_bytes=0)._newest_store().nodes

        def matcher_of(pattern: str, is_search: bool) -> Callable[[bytes], bool]:
            nonlocal longest
            started = time.process_time()
            try:
                node = compile_pattern(nodes, pattern, is_search=is_search)  # noqa: B023 (called in this round)
            finally:
                longest = max(longest, (time.process_time() - started, pattern))
            return lambda text: nodes.matches(node, text)  # noqa: B023

        found = compare(random.Random(f"{options.seed} {number}"), matcher_of, N_TEXTS)
        outcomes[found.outcome] += 1
        n_pairs += found.n_pairs
        n_matches += found.n_matches
    print(f"{n_pairs} pairs of a pattern and a text agree with re, {n_matches} of them match; patterns:")
    for outcome, count in outcomes.most_common():
        print(f"  {count:7}  {outcome}")
    print(f"  compiling: at most {longest[0] * 1000:.0f} ms of processor time: {longest[1]!a}")


if __name__ == "__main__":
    main()
