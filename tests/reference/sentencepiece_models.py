"""Twins of the SentencePiece encoders, written from the definition: every way to cut a text is looked at.

In: tokens with scores, a text. Out: tokens. Cost: exponential (unigram), quadratic (merging).
"""

from __future__ import annotations

from itertools import pairwise

UNKNOWN = ""


def cuts(text: str, tokens: dict[str, float]) -> list[list[str]]:
    """All ways to write a text as tokens and single characters."""
    if not text:
        return [[]]
    heads = [text[:end] for end in range(1, len(text) + 1) if end == 1 or text[:end] in tokens]
    return [[head, *rest] for head in heads for rest in cuts(text[len(head) :], tokens)]


def score(cut: list[str], tokens: dict[str, float]) -> float:
    """Sum of scores; a character that is no token has the lowest score minus 10."""
    return sum(tokens.get(piece, min(tokens.values()) - 10.0) for piece in cut)


def merge(text: str, tokens: dict[str, float]) -> list[str]:
    """Merge the neighbours whose token has the highest score, leftmost among equals, until there are none."""
    symbols = list(text)
    while True:
        found = [
            (-tokens[left + right], place)
            for place, (left, right) in enumerate(pairwise(symbols))
            if left + right in tokens
        ]
        if not found:
            return symbols
        place = min(found)[1]
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
