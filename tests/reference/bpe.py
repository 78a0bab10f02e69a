"""Byte-pair encoding from its definition, and what the operations of a tokenizer mean."""

from __future__ import annotations

from itertools import pairwise


def merge_bytes(word: bytes, ranks: dict[tuple[bytes, bytes], int]) -> list[bytes]:
    """Merge the pair of lowest rank, leftmost among equals, until no pair has a rank."""
    symbols = [word[i : i + 1] for i in range(len(word))]
    while True:
        found = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not found:
            return symbols
        _, i = min(found)
        symbols = [*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2 :]]


def ranks_of_tokens(tokens: list[bytes]) -> dict[tuple[bytes, bytes], int]:
    """Rank of every pair where a pair's rank is the id of the token it makes (tiktoken)."""
    first = {}
    for token, data in enumerate(tokens):
        first.setdefault(data, token)
    return {
        (data[:cut], data[cut:]): token
        for data, token in first.items()
        for cut in range(1, len(data))
        if data[:cut] in first and data[cut:] in first
    }
