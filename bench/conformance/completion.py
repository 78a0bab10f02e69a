"""From any point of a document to its end: the search that shows that a mask leads to no dead end.

The masks are those of a vocabulary with a token for every byte; among these the search goes depth first, closing what
is open before it opens anything, and visits no configuration twice, since a configuration's future does not depend on
the way to it. Brackets nest only so deep, then deeper: without that bound, a list whose items may hold such a list was
nested for ever. Where finitely many configurations can be reached the search either finds an end or proves that there
is none. What still spends its steps is searched breadth first, which finds the shortest end.

In: a matcher. Out: the document's last bytes. Cost: 30 us a byte, mostly NumPy.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

import llmask
from llmask.kernels.shared_batch import CELL_CONFIGURATION

DEPTH_FIRST_STEPS = 40_000
DEEPER = (4, 12, 40, 120)  # brackets that may be open at once, besides those that are
OPENING, CLOSING = (b"{", b"["), (b"}", b"]")
BREADTH_FIRST_STEPS = 40_000
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _preference(first: bytes, last: bytes) -> list[int]:
    middle = [byte for byte in range(0x21, 0x100) if byte not in first and byte not in last]
    rest = [byte for byte in range(0x21) if byte not in first and byte not in last]
    return [*first, *middle, *last, *rest]


OUTSIDE = _preference(b'}]"' + b"0123456789ntf:,", b"-.eE+[{ \t\n\r")
INSIDE = _preference(b'"' + _LETTERS, b"\\")


class DeadEnd(Exception):
    """A mask without tokens, or a prefix of no document."""


class Found(NamedTuple):
    """How a document can end: its last bytes (None: the bound was spent) and how the search found them."""

    ending: bytes | None
    search: str


_PLAIN, _STRING, _ESCAPE = range(3)


def place_after(text: bytes, place: int = _PLAIN) -> int:
    """Whether JSON text leads outside of strings (0), into one (1), or behind a backslash in one (2)."""
    for byte in text:
        if place == _ESCAPE:
            place = _STRING
        elif byte == 0x22:
            place = _PLAIN if place == _STRING else _STRING
        elif byte == 0x5C and place == _STRING:
            place = _ESCAPE
    return place


class Completion:
    """The search, for one vocabulary.

    Parameters
    ----------
    tokenizer : with a token for every byte.
    """

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        special = {*tokenizer.special_ids, *tokenizer.eos_ids}
        byte_ids = {
            tokenizer.token_bytes(token)[0]: token
            for token in reversed(range(tokenizer.vocab_size))
            if token not in special and len(tokenizer.token_bytes(token)) == 1
        }
        if len(byte_ids) < 256:
            raise ValueError("the vocabulary has no token for some byte")
        self.bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self._bytes = {token: bytes([byte]) for byte, token in byte_ids.items()}
        self._orders = [np.array([byte_ids[byte] for byte in order]) for order in (OUTSIDE, INSIDE, INSIDE)]

    def choices(self, matcher: llmask.Matcher, place: int) -> list[int]:
        """The allowed bytes' tokens, preferred ones first.

        Raises
        ------
        DeadEnd : the mask is empty.
        """
        try:
            matcher.fill_bitmask(self.bitmask)
        except llmask.VocabularyError as error:
            raise DeadEnd(f"no token after {matcher.text()!r}: {error}") from None
        if not self.bitmask.any():
            raise DeadEnd(f"no token after {matcher.text()!r}")
        order = self._orders[place]
        allowed = self.bitmask[0, order >> 5] >> (order & 31) & 1
        found: list[int] = order[allowed.astype(bool)].tolist()
        return found

    def ending(self, matcher: llmask.Matcher, deeper: tuple[int, ...] = DEEPER) -> Found:
        """Bytes after which the document may end; the matcher is left as it was.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        n_before = len(matcher.text())
        for n_levels in deeper:
            fork = matcher.fork()
            if self._depth_first(fork, n_levels):
                return Found(fork.text()[n_before:], "depth first")
        return self._breadth_first(matcher)

    def _depth_first(self, matcher: llmask.Matcher, n_levels: int) -> bool:
        """Move to an end; False when the steps are spent or no end lies within so many more brackets."""
        if matcher.is_accepting():
            return True
        visited = {_future(matcher)}
        is_pruned = False
        place = place_after(matcher.text())
        path = [(place, n_levels, iter(self.choices(matcher, place)))]
        while path:
            place, n_left, choices = path[-1]
            for token in choices:
                byte = self._bytes[token]
                if place == _PLAIN and byte in OPENING and n_left == 0:
                    is_pruned = True
                    continue
                matcher.accept_token(token)
                future = _future(matcher)
                if future not in visited:
                    visited.add(future)
                    break
                matcher.rollback(1)
            else:
                path.pop()
                if path:
                    matcher.rollback(1)
                continue
            if matcher.is_accepting():
                return True
            if len(visited) > DEPTH_FIRST_STEPS:
                return False
            if place == _PLAIN:
                n_left += (byte in CLOSING) - (byte in OPENING)
            place = place_after(byte, place)
            path.append((place, n_left, iter(self.choices(matcher, place))))
        if is_pruned:
            return False
        raise DeadEnd(f"no document begins with {matcher.text()!r}")

    def _breadth_first(self, matcher: llmask.Matcher) -> Found:
        n_before = len(matcher.text())
        visited = {_future(matcher)}
        waiting = deque([matcher.fork()])
        while waiting:
            here = waiting.popleft()
            for token in self.choices(here, _PLAIN):
                after = here.fork()
                after.accept_token(token)
                if after.is_accepting():
                    return Found(after.text()[n_before:], "breadth first")
                future = _future(after)
                if future not in visited:
                    visited.add(future)
                    waiting.append(after)
            if len(visited) > BREADTH_FIRST_STEPS:
                return Found(None, "bound spent")
        raise DeadEnd(f"no document begins with {matcher.text()!r}")


def _future(matcher: llmask.Matcher) -> Any:
    """What decides the future of a sequence; the number of a configuration means something in its tables only."""
    return matcher._cell[CELL_CONFIGURATION], id(matcher._generation)
