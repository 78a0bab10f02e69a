"""Twins of the SentencePiece encoders, written from the definition: every way to cut a text is looked at.

In: tokens with scores, a text. Out: tokens. Cost: exponential (unigram), quadratic (merging).
"""

from __future__ import annotations

import heapq
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


def merge_long(text: str, tokens: dict[str, float]) -> list[str]:
    """As `merge`, for texts of thousands of characters."""
    symbols: list[str] = list(text)
    before, behind = list(range(-1, len(text) - 1)), list(range(1, len(text) + 1))
    waiting: list[tuple[float, int, str, str]] = []

    def offer(left: int) -> None:
        right = behind[left]
        if right < len(symbols) and symbols[left] + symbols[right] in tokens:
            heapq.heappush(waiting, (-tokens[symbols[left] + symbols[right]], left, symbols[left], symbols[right]))

    for place in range(len(text)):
        offer(place)
    while waiting:
        _, left, first, second = heapq.heappop(waiting)
        right = behind[left]
        if right == len(symbols) or symbols[left] != first or symbols[right] != second:
            continue
        symbols[left], symbols[right], behind[left] = first + second, "", behind[right]
        if behind[left] < len(symbols):
            before[behind[left]] = left
            offer(left)
        if before[left] >= 0:
            offer(before[left])
    return [symbol for symbol in symbols if symbol]
