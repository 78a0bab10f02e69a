"""What all schemas of a place say of an array: items with schemas of their own, the others, and how many.

In: parts. Out: a layout. Cost: a microsecond a part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.errors import GrammarError

from ..reading.keywords import ANY_DRAFT, COUNTED, DRAFT_2019, DRAFT_2020, NOT_UNIQUE, PREFIX, WITHOUT_CONTAINS, Shape
from ..reading.pointers import Path, pointer
from .context import Context
from .place import Part, SchemaAt, count_range, members_of


def items_of(context: Context, schema: dict[Any, Any], path: Path) -> tuple[list[SchemaAt], SchemaAt]:
    """Schemas of the first items, and the schema of the items after those, that one schema object names."""
    draft = context.shape(schema, path).draft
    prefix: list[SchemaAt] = []
    other: SchemaAt = (True, path)
    items = schema.get("items")
    if type(items) is list:
        if draft == DRAFT_2020:
            raise GrammarError(
                '"items" is a list, which draft 2020-12 writes as "prefixItems"',
                pointer(path, "items"),
                'rename it to "prefixItems", and "additionalItems" to "items"',
            )
        prefix = members_of(schema, path, "items")
        if "additionalItems" in schema:
            other = (schema["additionalItems"], (path, "additionalItems"))
    elif items is not None:
        other = (items, (path, "items"))
    if PREFIX in schema:
        prefix = schema[PREFIX]
    elif "prefixItems" in schema and draft in (ANY_DRAFT, DRAFT_2020):
        prefix = members_of(schema, path, "prefixItems")
    return prefix, other


class Counted(NamedTuple):
    """From `least` to `greatest` items, from the first index on, fulfil a schema; `greatest` None is any number."""

    first: int
    member: SchemaAt
    least: int
    greatest: int | None


def counted_of(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> list[Counted]:
    """What one schema object asks of the numbers of certain items."""
    found: list[Counted] = []
    if not shape.counts_items:
        return found
    if COUNTED in schema:
        found.append(Counted(*schema[COUNTED]))
    if "contains" in schema and shape.draft not in WITHOUT_CONTAINS:
        least, greatest = 1, None
        if shape.draft == ANY_DRAFT or shape.draft >= DRAFT_2019:
            least, greatest = int(schema.get("minContains", 1)), schema.get("maxContains")
        if least > 0 or greatest is not None:
            most = None if greatest is None else int(greatest)
            found.append(Counted(0, (schema["contains"], (path, "contains")), least, most))
    return found


class ArrayLayout:
    """What all parts say of an array.

    Attributes
    ----------
    prefixes : for each part, the schemas of its first items.
    others : for each part, the schema of the items after those.
    low, high : how many items there may be; `high` None is any number.
    n_prefix : items that may have a schema of their own.
    counted : items whose number is limited.
    is_unique, is_not_unique : no two items are equal; two items are.
    """

    def __init__(self, context: Context, parts: list[Part]) -> None:
        context.count_work(len(parts) // 4)
        self._context = context
        self.prefixes: list[list[SchemaAt]] = []
        self.others: list[SchemaAt] = []
        self.counted: list[Counted] = []
        self.is_unique = self.is_not_unique = False
        self.low, self.high = count_range(parts, "minItems", "maxItems")
        seen = context.items_seen  # parts of a negated enumeration come again thousands of times
        for schema, path, shape in parts:
            if not shape.has_array:
                continue
            found = seen.get(id(schema))
            if found is None or found[0] is not path:
                found = seen[id(schema)] = (path, *items_of(context, schema, path))
            _, prefix, other = found
            self.prefixes.append(prefix)
            self.others.append(other)
            if shape.counts_items:
                self.counted += counted_of(context, schema, path, shape)
                self.is_unique = self.is_unique or schema.get("uniqueItems") is True
                self.is_not_unique = self.is_not_unique or NOT_UNIQUE in schema
        self.n_prefix = max((len(prefix) for prefix in self.prefixes), default=0)
        least = max((one.least for one in self.counted), default=0)
        self.low = max(self.low, least, 2 if self.is_not_unique else 0)
        if self.high is not None and self.high < 2:
            self.is_unique = False

    def schemas_at(self, index: int, *others: SchemaAt) -> list[SchemaAt]:
        """What the item at `index` must fulfil, one that must fulfil `others`, too."""
        return self._context.closed([*self.written_at(index), *others])

    def written_at(self, index: int) -> list[SchemaAt]:
        """What the schemas themselves say of the item at `index`."""
        found = [
            prefix[index] if index < len(prefix) else other
            for prefix, other in zip(self.prefixes, self.others, strict=True)
        ]
        return [place for place in found if place[0] is not True]
