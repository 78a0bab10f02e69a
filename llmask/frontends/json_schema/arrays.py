"""Arrays: from item schemas and counts to the states that read them.

    "[" -> first      item[i] -value-> after[i]      after[i] -","-> item[i+1]      after[i] -"]"-> end

Items with a schema of their own (`prefixItems`, or a list under `items` in older drafts) are a chain; the others are
a loop whose commas are counted where `minItems` or `maxItems` reach into it, so `maxItems: 10000` needs no more
states than 2. The first item of the loop stands outside of the count: whether anything can be derived never depends
on it. What counts certain items (`contains`) is written in `contained.py`.

In: parts. Out: states and edges between two given states. Cost: about 2 us an item schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import GrammarError
from llmask.frontends.json_schema.counts import count_range
from llmask.frontends.json_schema.keywords import (
    ANY_DRAFT,
    COUNTED,
    DRAFT_2019,
    DRAFT_2020,
    NOT_UNIQUE,
    PREFIX,
    WITHOUT_CONTAINS,
    Shape,
)
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.grammar.rules import NO_GUARD, UNBOUNDED, RuleId, StateId

if TYPE_CHECKING:
    from llmask.frontends.json_schema.conjunction import Part, SchemaAt
    from llmask.frontends.json_schema.translation import Translation


def items_of(translation: Translation, schema: dict[Any, Any], path: Path) -> tuple[list[SchemaAt], SchemaAt]:
    """Schemas of the first items, and the schema of the items after those, that one schema object names."""
    draft = translation.shape(schema, path).draft
    prefix: list[SchemaAt] = []
    other: SchemaAt = (True, path)
    items = schema.get("items")
    if type(items) is list:
        if draft == DRAFT_2020:
            raise GrammarError('"items" is a list, which draft 2020-12 writes as "prefixItems"', pointer(path, "items"))
        prefix = [(member, (path, "items", index)) for index, member in enumerate(items)]
        if "additionalItems" in schema:
            other = (schema["additionalItems"], (path, "additionalItems"))
    elif items is not None:
        other = (items, (path, "items"))
    if PREFIX in schema:
        prefix = schema[PREFIX]
    elif "prefixItems" in schema and draft in (ANY_DRAFT, DRAFT_2020):
        prefix = [(member, (path, "prefixItems", index)) for index, member in enumerate(schema["prefixItems"])]
    return prefix, other


class Counted(NamedTuple):
    """So many items, from the first index on, fulfil a schema; `greatest` None is any number."""

    first: int
    member: SchemaAt
    least: int
    greatest: int | None


def counted_of(translation: Translation, schema: dict[Any, Any], path: Path, shape: Shape) -> list[Counted]:
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

    def __init__(self, translation: Translation, parts: list[Part]) -> None:
        translation.count_work(len(parts) // 4)
        self.prefixes: list[list[SchemaAt]] = []
        self.others: list[SchemaAt] = []
        self.counted: list[Counted] = []
        self.is_unique = self.is_not_unique = False
        self.low, self.high = count_range(parts, "minItems", "maxItems")
        for schema, path, shape in parts:
            if not shape.has_array:
                continue
            prefix, other = items_of(translation, schema, path)
            self.prefixes.append(prefix)
            self.others.append(other)
            if shape.counts_items:
                self.counted += counted_of(translation, schema, path, shape)
                self.is_unique = self.is_unique or schema.get("uniqueItems") is True
                self.is_not_unique = self.is_not_unique or NOT_UNIQUE in schema
        self.n_prefix = max((len(prefix) for prefix in self.prefixes), default=0)
        least = max((one.least for one in self.counted), default=0)
        self.low = max(self.low, least, 2 if self.is_not_unique else 0)
        if self.high is not None and self.high < 2:
            self.is_unique = False

    def schemas_at(self, index: int) -> list[SchemaAt]:
        """What the item at `index` must fulfil."""
        found = [
            prefix[index] if index < len(prefix) else other
            for prefix, other in zip(self.prefixes, self.others, strict=True)
        ]
        return [place for place in found if place[0] is not True]


def emit_array(
    translation: Translation, layout: ArrayLayout, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
) -> None:
    """Edges from `start` to `end` over every array of a layout that counts items by their number only."""
    low, high, n_prefix = layout.low, layout.high, layout.n_prefix
    if high is not None and low > high:
        return translation.nothing(f"minItems is {low} and maxItems is {high}", path)
    rules, lexemes = translation.rules, translation.punctuation
    has_loop = high is None or high > n_prefix
    n_chain = n_prefix if high is None else min(n_prefix, high)
    # the loop's first item is number n_chain + 1, so the array has n_chain + 1 + count items after `count` commas in it
    low_count = max(low - n_chain - 1, 0)
    high_count = None if high is None else high - n_chain - 1
    if has_loop and (low_count or high_count is not None):
        counted = rules.rule(pointer(path))
        rules.call(start, counted, end)
        rule, start = counted, rules.start_state(counted)
        end = rules.state(counted)
        rules.final(end)
    item = rules.state(rule)
    if low == 0:
        opened = rules.state(rule)
        rules.scan(start, lexemes.open_array, opened)
        rules.scan(opened, lexemes.close_array, end)
        rules.skip(opened, item)
    else:
        rules.scan(start, lexemes.open_array, item)
    for index in range(n_chain):
        after = rules.state(rule)
        translation.place(layout.schemas_at(index), rule, item, after, depth)
        if index + 1 >= low:
            rules.scan(after, lexemes.close_array, end)
        if index + 1 < n_chain or has_loop:
            item = rules.state(rule)
            rules.scan(after, lexemes.comma, item)
    if has_loop:
        after = rules.state(rule)
        translation.place(layout.schemas_at(n_prefix), rule, item, after, depth)
        goes_on = ends = NO_GUARD
        if low_count or high_count is not None:
            most = UNBOUNDED if high_count is None else high_count
            cap = low_count if high_count is None else high_count
            goes_on = rules.guard(0, most - 1 if most < UNBOUNDED else UNBOUNDED, 1, cap)
            ends = rules.guard(low_count)
        if high_count != 0:
            rules.scan(after, lexemes.comma, item, goes_on)
        rules.scan(after, lexemes.close_array, end, ends)
    return None
