"""Sorting tokens by compiled code, against Python's own order; see tests/unit/trie for the nodes beside their twin."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from llmask.trie.layout import build_trie


def test_nodes_are_the_prefixes_of_the_tokens_in_order(rng: random.Random, scaled: Callable[[int], int]) -> None:
    """Depth first, so the bytes of the nodes come in the order of Python's strings, each prefix once."""
    for _ in range(scaled(50)):
        tokens = [bytes(rng.choices(b"ab\x00\xff", k=rng.randrange(1, 6))) for _ in range(rng.randrange(1, 30))]
        offsets = np.cumsum([0, *map(len, tokens)]).astype(np.int32)
        trie = build_trie(offsets, np.frombuffer(b"".join(tokens), np.uint8))
        prefixes = sorted({token[:n] for token in tokens for n in range(len(token) + 1)})
        assert len(trie.node) == len(prefixes)
        at = {b"": 0}
        for prefix in prefixes[1:]:
            node = at[prefix[:-1]]
            children = range(int(trie.child_first[node]), int(trie.child_first[node + 1]))
            at[prefix] = next(int(trie.child_node[i]) for i in children if trie.child_byte[i] == prefix[-1])
        assert [at[prefix] for prefix in prefixes] == list(range(len(prefixes)))
