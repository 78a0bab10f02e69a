"""The tokens of a vocabulary as a prefix trie in depth-first order: this is llmask/trie, and the walk of lexeme_masks.

A node knows where its subtree ends. So a walk that cannot go on at a node jumps over all tokens that begin like it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

State = TypeVar("State")


class Node(NamedTuple):
    """The byte that leads here, bytes from the root, the tokens that end here, and the node after the subtree."""

    byte: int
    depth: int
    tokens: tuple[int, ...]
    end: int


def make_trie(tokens: Sequence[bytes]) -> list[Node]:
    """The nodes; the root is the first. Tokens without bytes have none."""
    ending: dict[bytes, list[int]] = defaultdict(list)
    for token, data in enumerate(tokens):
        ending[data].append(token)
    prefixes = sorted({data[:n] for data in tokens for n in range(1, len(data) + 1)})  # which is depth first
    nodes = [Node(0, 0, (), len(prefixes) + 1)]
    for at, prefix in enumerate(prefixes):
        end = at + 1
        while end < len(prefixes) and prefixes[end].startswith(prefix):
            end += 1
        nodes.append(Node(prefix[-1], len(prefix), tuple(ending[prefix]), end + 1))
    return nodes


def walk(trie: list[Node], state: State, step: Callable[[State, int], State | None]) -> dict[int, State]:
    """For each token whose bytes all lead on from `state` where it leads."""
    found: dict[int, State] = {}
    states = [state]  # by depth
    at = 1
    while at < len(trie):
        node = trie[at]
        del states[node.depth :]
        after = step(states[-1], node.byte)
        if after is None:
            at = node.end
            continue
        states.append(after)
        found.update(dict.fromkeys(node.tokens, after))
        at += 1
    return found
