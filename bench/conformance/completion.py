"""From any point of a document to its end: the search that shows that a mask leads to no dead end.

The masks are those of a vocabulary with a token for every byte; among these the search goes depth first, closing what
is open before it opens anything, and visits no configuration twice, since a configuration's future does not depend on
the way to it. So where finitely many configurations can be reached it either finds an end or proves that there is none.
A grammar in which the preferred bytes nest for ever spends the bound; then a search breadth first takes over, which
finds the shortest end.

In: a matcher. Out: the document's last bytes. Cost: 30 us a byte, mostly NumPy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import llmask
from llmask.kernels.shared_batch import CELL_CONFIGURATION

DEPTH_FIRST_STEPS = 20_000
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


def is_in_string(text: bytes) -> bool:
    """Whether JSON text ends inside a string."""
    inside, place = False, 0
    while place < len(text):
        if inside and text[place] == 0x5C:
            place += 1
        elif text[place] == 0x22:
            inside = not inside
        place += 1
    return inside


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
        self._orders = [np.array([byte_ids[byte] for byte in order]) for order in (OUTSIDE, INSIDE)]

    def choices(self, matcher: llmask.Matcher, inside: bool) -> list[int]:
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
        order = self._orders[inside]
        allowed = self.bitmask[0, order >> 5] >> (order & 31) & 1
        found: list[int] = order[allowed.astype(bool)].tolist()
        return found

    def ending(self, matcher: llmask.Matcher, depth_first_steps: int = DEPTH_FIRST_STEPS) -> Found:
        """Bytes after which the document may end; the matcher is left as it was.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        n_before = len(matcher.text())
        fork = matcher.fork()
        if self._depth_first(fork, depth_first_steps):
            return Found(fork.text()[n_before:], "depth first")
        return self._breadth_first(matcher)

    def _depth_first(self, matcher: llmask.Matcher, n_steps: int) -> bool:
        """Move to an end; False when the steps are spent."""
        if matcher.is_accepting():
            return True
        visited = {_future(matcher)}
        open_choices = [self._open(matcher)]
        while open_choices:
            for token in open_choices[-1]:
                matcher.accept_token(token)
                future = _future(matcher)
                if future not in visited:
                    visited.add(future)
                    break
                matcher.rollback(1)
            else:
                open_choices.pop()
                if open_choices:
                    matcher.rollback(1)
                continue
            if matcher.is_accepting():
                return True
            n_steps -= 1
            if n_steps < 0:
                return False
            open_choices.append(self._open(matcher))
        raise DeadEnd(f"no document begins with {matcher.text()!r}")

    def _open(self, matcher: llmask.Matcher) -> Iterator[int]:
        return iter(self.choices(matcher, is_in_string(matcher.text())))

    def _breadth_first(self, matcher: llmask.Matcher) -> Found:
        n_before = len(matcher.text())
        visited = {_future(matcher)}
        waiting = deque([matcher.fork()])
        while waiting:
            here = waiting.popleft()
            for token in self.choices(here, is_in_string(here.text())):
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
