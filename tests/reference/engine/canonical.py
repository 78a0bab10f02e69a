"""Canonical tokens, by all encodings: this is llmask/canonical.

A token is canonical after others if what the tokenizer's encoder writes for some document begins with all of them. It
is a definition, no method: a tokenizer that has merges looks ahead as far as they reach.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from .mask import Configuration, Engine

Text = TypeVar("Text", str, bytes)  # as the encoder takes them


def documents(engine: Engine, alphabet: bytes, max_bytes: int) -> Iterator[bytes]:
    """All documents of a grammar over some bytes, up to a length."""
    start = engine.start()
    waiting: list[tuple[bytes, Configuration]] = [] if start is None else [(b"", start)]
    while waiting:
        data, at = waiting.pop()
        if engine.may_end(at):
            yield data
        for byte in alphabet if len(data) < max_bytes else b"":
            after = engine.step(at, byte)
            if after is not None:
                waiting.append((data + bytes([byte]), after))


class Encodings:
    """Documents as the encoder writes them, with the token that ends a sequence, and what follows each beginning."""

    def __init__(self, texts: Iterable[Text], encode: Callable[[Text], Sequence[int]], eos: int) -> None:
        self.written = [(*encode(text), eos) for text in texts]
        self.following: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for tokens in self.written:
            for n, token in enumerate(tokens):
                self.following[tokens[:n]].add(token)

    def allowed(self, tokens: Sequence[int]) -> set[int]:
        """The tokens that may come next, the end of the sequence among them."""
        return self.following.get(tuple(tokens), set())
