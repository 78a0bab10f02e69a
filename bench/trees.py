"""Masks of draft trees in one call, beside the same walk in Python: `python -m bench.trees`.

A tree has `--branches` guesses after each of its nodes down to `--depth` tokens: the next tokens of a document of the
loop's, and tokens that are allowed there. Everything is known before the clock starts. The walk in Python is what
speculative loops write: accept, fill, go on below, roll back.

In: command line. Out: medians of microseconds a tree, and their ratio. Cost: ten seconds.
"""

from __future__ import annotations

import argparse
import random
import statistics
from functools import partial
from typing import Any

import numpy as np

import llmask
from bench.loop import SCHEMAS, timed, token_rows
from bench.vocabularies import SOURCES


def draw_tree(rng: random.Random, matcher: Any, document: list[int], branches: int, depth: int) -> tuple[Any, ...]:
    """The tree as `Matcher.fill_tree` takes it: the document's next tokens, and beside each some that are allowed."""
    next_token, next_sibling, tokens = [-1], [-1], [-1]
    words = llmask.allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size)
    at, parent = matcher.fork(), 0
    for token in document[:depth]:
        at.fill_bitmask(words)
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        guesses = [token, *rng.choices(allowed.tolist(), k=branches - 1)]
        first = len(tokens)
        tokens += guesses
        next_token += [-1] * branches
        next_sibling += [*range(first + 1, first + branches), -1]
        next_token[parent], parent = first, first
        at.accept_token(token)
    return tuple(np.array(values, np.int64) for values in (next_token, next_sibling, tokens))


def walk(matcher: Any, words: Any, tree: tuple[list[int], ...], node: int) -> int:
    """The same in Python, below a node that was accepted; how many nodes are allowed."""
    next_token, next_sibling, tokens = tree
    matcher.fill_bitmask(words, node)
    n_allowed = 1
    child = next_token[node]
    while child >= 0:
        if matcher.accept(tokens[child]):
            n_allowed += walk(matcher, words, tree, child)
            matcher.rollback(1)
        child = next_sibling[child]
    return n_allowed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", default="llama3", help="llama3, qwen2 or default (no shared data needed)")
    parser.add_argument("--branches", type=int, default=4, help="guesses after a node")
    parser.add_argument("--depth", type=int, default=6, help="tokens from the root to the last")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tokenizer = llmask.Tokenizer.from_gguf(SOURCES[options.vocabulary].path)
    compiler, rng = llmask.Compiler(tokenizer), random.Random(options.seed)
    print(f"{tokenizer.vocab_size:,} tokens, {options.branches} guesses after each of {options.depth}\n")
    print("| text | trees | one call, us | walk in Python, us | ratio |\n|---|---:|---:|---:|---:|")
    for name, schema in SCHEMAS.items():
        document = token_rows(name, 1, options.vocabulary)[0].tolist()
        matcher = compiler.json_schema(schema).matcher()
        times: tuple[list[float], list[float]] = ([], [])
        for place, token in enumerate(document):
            tree = draw_tree(rng, matcher, document[place:], options.branches, options.depth)
            found = llmask.allocate_bitmask(len(tree[0]), tokenizer.vocab_size)
            expected = found.copy()
            lists = tuple(values.tolist() for values in tree)
            for is_counted in (False, True, True, True):
                both = (
                    timed(partial(matcher.fill_tree, found, *tree)),
                    timed(partial(walk, matcher, expected, lists, 0)),
                )
                if is_counted:
                    for column, elapsed in zip(times, both, strict=True):
                        column.append(elapsed)
            assert np.array_equal(found, expected)
            matcher.accept_token(token)
        once, python = map(statistics.median, times)
        print(f"| {name} | {len(document)} | {once:,.1f} | {python:,.1f} | {once / python:.2f} |", flush=True)


if __name__ == "__main__":
    main()
