"""From any point of a document to its end: the search that shows that a mask leads to no dead end.

The masks are those of a vocabulary with a token for every byte; among these the search goes depth first, closing what
is open before it opens anything, and visits no configuration twice, since a configuration's future does not depend on
the way to it. Where an object may not close yet, keys that the schema requires somewhere are tried first, and a member
that leads back to a configuration known already is left altogether: otherwise all that a free member may hold was
searched before the key that was missing. Brackets nest only so deep, then deeper: without that bound, a list whose
items may hold such a list was nested for ever. What spends its steps, or was left untried, is searched breadth first:
where finitely many configurations can be reached that finds the shortest end or proves that there is none.

In: a matcher. Out: the document's last bytes. Cost: 30 us a byte, mostly NumPy.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import llmask
from llmask.kernels.shared_batch import CELL_CONFIGURATION

DEPTH_FIRST_STEPS = 40_000
DEEPER = (4, 12, 40, 120)  # brackets that may be open at once, besides those that are
OPENING, CLOSING = (b"{", b"["), (b"}", b"]")
ENDING = (b'"', b",", b"}", b"]")  # of a value, outside of strings
# Place in the text, brackets that may still be opened, moves to try, whether a whole key led here.
_Level = tuple[int, int, Iterator[bytes], bool]
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

    def ending(self, matcher: llmask.Matcher, deeper: tuple[int, ...] = DEEPER, names: Sequence[str] = ()) -> Found:
        """Bytes after which the document may end; the matcher is left as it was.

        Parameters
        ----------
        deeper : how many brackets may be open besides those that are, in one attempt after the other.
        names : keys worth a try.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        n_before = len(matcher.text())
        for n_levels in deeper:
            fork = matcher.fork()
            if self._depth_first(fork, n_levels, [f"{json.dumps(name, ensure_ascii=False)}:" for name in names]):
                return Found(fork.text()[n_before:], "depth first")
        return self._breadth_first(matcher)

    def _moves(self, matcher: llmask.Matcher, place: int, keys: list[str], before: bytes) -> Iterator[bytes]:
        """Whole keys where an object needs one, then single bytes."""
        single = [self._bytes[token] for token in self.choices(matcher, place)]
        wants_key = place == _PLAIN and before in (b"{", b",") and b'"' in single and b"}" not in single
        return iter([key.encode("utf-8", "replace") for key in keys if wants_key] + single)

    @staticmethod
    def _leave_member(matcher: llmask.Matcher, path: list[_Level]) -> bool:
        """Go back to before the key that was tried last on this level of brackets; False when there is none."""
        n_left = path[-1][1]
        for place in range(len(path) - 1, 0, -1):
            if path[place][3] and path[place][1] == n_left:
                matcher.rollback(len(path) - place)
                del path[place:]
                return True
        return False

    @staticmethod
    def _takes(matcher: llmask.Matcher, move: bytes) -> bool:
        try:
            matcher.accept_bytes(move)
        except llmask.TokenRejected:
            return False
        return True

    def _depth_first(self, matcher: llmask.Matcher, n_levels: int, keys: list[str]) -> bool:
        """Move to an end; False when the steps are spent or no end lies within so many more brackets."""
        if matcher.is_accepting():
            return True
        visited = {_future(matcher)}
        is_pruned = False
        place = place_after(matcher.text())
        path: list[_Level] = [(place, n_levels, self._moves(matcher, place, keys, matcher.text().rstrip()[-1:]), False)]
        while path:
            place, n_left, moves, _ = path[-1]
            for move in moves:
                if place == _PLAIN and move in OPENING and n_left == 0:
                    is_pruned = True
                    continue
                if not self._takes(matcher, move):
                    continue
                future = _future(matcher)
                if future not in visited:
                    visited.add(future)
                    break
                matcher.rollback(1)
                if place_after(move, place) == _PLAIN and move in ENDING and self._leave_member(matcher, path):
                    is_pruned = True
                    break
            else:
                path.pop()
                if path:
                    matcher.rollback(1)
                continue
            if path[-1][2] is not moves:
                continue  # a member was left
            if matcher.is_accepting():
                return True
            if len(visited) > DEPTH_FIRST_STEPS:
                return False
            if place == _PLAIN:
                n_left += (move in CLOSING) - (move in OPENING)
            place = place_after(move, place)
            path.append((place, n_left, self._moves(matcher, place, keys, move), len(move) > 1))
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
