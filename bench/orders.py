"""Would a rejected document be accepted if its properties came in another order?

Engines write properties in the order of the schema; documents of MaskBench come in the order some model wrote them. So
a valid document that is rejected is tried again with its keys in every order the engine can follow: depth-first over
the keys not yet written, the engine itself says which may come next. A budget bounds the search; when it is spent the
answer is no, so a rejection is never excused without an accepted spelling of the same document.

In: an engine, a fresh sequence, a document. Out: bool. Cost: `advance` once for each pair of keys, `MAX_STEPS` at most.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from bench.data import SEPARATORS
from bench.engines.base import Engine, as_json

MAX_STEPS = 60_000


class _Spent(Exception):
    """The budget of one search is used up."""


class _Search:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.item_separator, self.key_separator = SEPARATORS[engine.whitespace]
        self.steps = 0

    def step(self, sequence: Any, text: str) -> Any | None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _Spent
        return self.engine.advance(sequence, text)

    def value(self, sequence: Any, prefix: str, data: Any) -> Iterator[Any]:
        """Every sequence after `prefix` and `data` in some order of its keys."""
        if not _has_choice(data):
            after = self.step(sequence, prefix + as_json(data, self.engine.whitespace))
            if after is not None:
                yield after
        elif isinstance(data, list):
            yield from self.items(sequence, prefix + "[", data, 0)
        else:
            yield from self.members(sequence, prefix + "{", data, list(data))

    def items(self, sequence: Any, prefix: str, data: list[Any], place: int) -> Iterator[Any]:
        for after in self.value(sequence, prefix, data[place]):
            if place + 1 < len(data):
                yield from self.items(after, self.item_separator, data, place + 1)
            else:
                closed = self.step(after, "]")
                if closed is not None:
                    yield closed

    def members(self, sequence: Any, prefix: str, data: dict[str, Any], keys: list[str]) -> Iterator[Any]:
        """Every sequence after the members `keys` in some order.

        A member after which another one has become impossible is tried last: it usually came too early.
        """
        opened = {key: self.step(sequence, prefix + self.opening(key)) for key in keys}
        possible = [key for key in keys if opened[key] is not None]
        too_early: list[tuple[Any, list[str]]] = []
        for key in possible:
            rest = [other for other in keys if other != key]
            for after in self.value(opened[key], "", data[key]):
                lost = any(
                    self.step(after, self.item_separator + self.opening(other)) is None
                    for other in possible
                    if other != key
                )
                if lost:
                    too_early.append((after, rest))
                    break
                yield from self.after_member(after, data, rest)
        for after, rest in too_early:
            yield from self.after_member(after, data, rest)

    def after_member(self, after: Any, data: dict[str, Any], rest: list[str]) -> Iterator[Any]:
        if rest:
            yield from self.members(after, self.item_separator, data, rest)
        else:
            closed = self.step(after, "}")
            if closed is not None:
                yield closed

    def opening(self, key: str) -> str:
        return as_json(key, self.engine.whitespace) + self.key_separator


def _has_choice(data: Any) -> bool:
    """Whether an object with two keys or more lies in `data`."""
    if isinstance(data, list):
        return any(_has_choice(item) for item in data)
    if isinstance(data, dict):
        return len(data) > 1 or any(_has_choice(item) for item in data.values())
    return False


def accepted_in_another_order(engine: Engine, sequence: Any, data: Any) -> bool:
    """Whether the engine accepts `data` with the keys of its objects in some order."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
    search = _Search(engine)
    try:
        return any(engine.is_accepting(after) for after in search.value(sequence, "", data))
    except _Spent:
        return False
