"""Places: the schemas that hold at one place of a document, as data.

    SchemaAt      a schema and where it is written
    Part          a schema object whose own keywords hold, with what its keys say
    Choice        an `anyOf` or `oneOf` that remains
    Conjunction   parts and choices, which all hold

In: nothing. Out: types. Cost: none.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from llmask.frontends.json_schema.reading.keywords import Shape
from llmask.frontends.json_schema.reading.pointers import Path
from llmask.work import spend

SchemaAt = tuple[Any, Path]
Part = tuple[dict[Any, Any], Path, Shape]  # a schema object, its place, what its keys say


class Choice(NamedTuple):
    """One `anyOf` or `oneOf`: at least, or exactly, one of `schemas` holds.

    `position` is the place of their parts among the others, so that keys are written in the order of the text.
    """

    keyword: str
    path: Path
    schemas: list[SchemaAt]
    position: int


class Conjunction:
    """Parts and choices of one place; `false_at` is the place of a schema `false` among them."""

    __slots__ = ("choices", "false_at", "parts", "seen")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.choices: list[Choice] = []
        self.false_at: Path | None = None
        self.seen: set[Hashable] = set()

    def copy(self) -> Conjunction:
        """The same parts and choices, free to grow apart."""
        other = Conjunction()
        spend((len(self.parts) + len(self.choices) + len(self.seen)) // 32)
        other.parts, other.choices = list(self.parts), list(self.choices)
        other.false_at, other.seen = self.false_at, set(self.seen)
        return other
