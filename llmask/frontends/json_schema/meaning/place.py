"""Places: the schemas that hold at one place of a document, as data, and the types and counts that they leave.

    SchemaAt      a schema and where it is written
    Part          a schema object whose own keywords hold, with what its keys say
    Choice        an `anyOf` or `oneOf` that remains
    Conjunction   parts and choices, which all hold

In: parts. Out: these; type names, "integer" only where "number" is not allowed; a least and a greatest count, None for
any number. Cost: under a microsecond a part.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import UNBOUNDED
from llmask.work import spend

from ..reading.keywords import Shape
from ..reading.pointers import Path, pointer

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


def members_of(schema: dict[str, Any], path: Path, keyword: str) -> list[SchemaAt]:
    """The schemas that a keyword lists."""
    return [(member, (path, keyword, index)) for index, member in enumerate(schema[keyword])]


def required_by(parts: list[Part]) -> dict[str, None]:
    """Keys that an object must have, in the order of the text."""
    return dict.fromkeys(name for one, _, shape in parts if shape.has_object for name in one.get("required", ()))


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


# --- types

ALL_TYPES = ("string", "number", "boolean", "null", "object", "array")
ONE_TYPE = {name: (name,) for name in (*ALL_TYPES, "integer")}


def types_of(parts: list[Part]) -> tuple[str, ...]:
    """Types that every part allows, in the order in which the first part names them."""
    allowed: tuple[str, ...] = ALL_TYPES
    for schema, _, _ in parts:
        named = schema.get("type")
        if named is None:
            continue
        types = ONE_TYPE[named] if type(named) is str else _listed(named)
        allowed = types if allowed is ALL_TYPES else _both(allowed, types)
    return allowed


def _listed(named: list[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(named) if name != "integer" or "number" not in named)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    both = []
    for name in one:
        if name in other:
            both.append(name)
        elif (name == "integer" and "number" in other) or (name == "number" and "integer" in other):
            both.append("integer")
    return tuple(both)


# --- counts


def count_range(parts: list[Part], least: str, greatest: str) -> tuple[int, int | None]:
    """What the keywords `least` and `greatest` of all parts leave.

    A greatest count that no document reaches (2^31 - 1 and more) is None.

    Raises
    ------
    LimitExceeded
        When the least count is that large.
    """
    low, high = 0, None
    for schema, path, _ in parts:
        if least in schema:
            low = max(low, int(schema[least]))
            if low >= UNBOUNDED:
                raise LimitExceeded(f'"{least}" is {UNBOUNDED} or more', pointer(path, least), "Use a smaller number.")
        if greatest in schema and schema[greatest] < UNBOUNDED:
            high = int(schema[greatest]) if high is None else min(high, int(schema[greatest]))
    return low, high
