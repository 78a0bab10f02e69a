"""`uniqueItems`: items that all differ.

A run through the rule remembers the items that it has read (`Rules.call_new`), and each next one is read by a rule that
derives none of them: written when a sequence first gets there, by this module, as the item's schema and the negation
of the `enum` of what was read. JSON equality decides: 1 is 1.0, strings are compared unescaped, objects without order.

An array whose items have few values can run out of them. Where another item is demanded, a value that an item after it
needs must not be taken: of items that still have to come, those with listed values must find one each (`matching.py`).
Items after `prefixItems` are all alike, so none of them takes away what the others need. Where another item is not
demanded, no comma is offered when nothing is left to follow it.

In: the layout of an array. Out: states and edges; later, rules of items. Cost: that of an array; a rule of an item with
k items before it about 100 us and 1 us for each of those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.contradictions import DIFFERENT_HELP
from llmask.frontends.json_schema.meaning.finite import finite_values
from llmask.frontends.json_schema.meaning.instances import equality_key, type_of, values_of_texts
from llmask.frontends.json_schema.meaning.matching import Matching
from llmask.frontends.json_schema.meaning.types import types_of
from llmask.frontends.json_schema.reading.keywords import FOLLOWED
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.json_schema.writing.different_objects import all_but
from llmask.frontends.json_schema.writing.divided_items import LITERALS, item_parts
from llmask.frontends.json_schema.writing.new_values import kind_of_place
from llmask.frontends.json_schema.writing.stricter_items import may_be_stricter, stricter_rule
from llmask.grammar.kinds import (
    CALL_NEW,
    CALL_OPEN,
    CALL_PLAIN,
    NO_GUARD,
    UNBOUNDED,
    GuardId,
    RuleId,
    StateId,
)

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.place import SchemaAt
    from llmask.frontends.json_schema.writing.writer import Writer


def emit_unique_array(
    writer: Writer, layout: ArrayLayout, path: Path, rule: RuleId, start: StateId, end: StateId
) -> None:
    """Edges from `start` to `end` over every array of a layout whose items all differ.

    Raises
    ------
    LimitExceeded
        When more items must come than are remembered.
    """
    _UniqueArray(writer, layout, path).write(start, end)


def check_number(writer: Writer, layout: ArrayLayout, path: Path) -> None:
    """Refuse an array that no sequence could end, as more items must differ than are remembered."""
    most = writer.options.limits.max_unique_values
    if layout.low > most:
        raise LimitExceeded(
            f"an array needs {layout.low} items that differ, and at most {most} are remembered"
            " (limits.max_unique_values)",
            pointer(path),
            "Use a smaller minItems or raise the limit.",
        )


def without_values(writer: Writer, schemas: list[SchemaAt], texts: list[bytes], path: Path) -> RuleId:
    """Rule of everything that fulfils `schemas` and is not written as one of `texts`, however it is written."""
    return _rule_without(writer, schemas, values_of_texts(texts), path)


def _rule_without(writer: Writer, schemas: list[SchemaAt], values: list[Any], path: Path) -> RuleId:
    """Rule of everything that fulfils `schemas` but `values`.

    Objects and arrays of which no value is one are a rule that all variants share: the first mask behind a quote asked
    for 90 of them, a text each, and wrote 12,000 edges over objects in each of 30.
    """
    if not values:
        return writer.rule_of(schemas) if schemas else writer.any_rule()
    named = {kind if (kind := type_of(value, path)) != "integer" else "number" for value in values}
    allowed = types_of(conjunction_of(writer, schemas).parts)
    others = [kind for kind in allowed if kind not in named and (kind != "integer" or "number" not in named)]
    refused = all_but(writer, values, path)
    if len(others) == len(allowed) or not {"object", "array"}.intersection(others):
        return writer.rule_of([*schemas, refused])
    rules = writer.rules
    rule = rules.rule(pointer(path))
    last = rules.state(rule)
    rules.final(last)
    for part in (
        [*schemas, _typed(writer, others, path)],
        [*schemas, _typed(writer, [kind for kind in allowed if kind not in others], path), refused],
    ):
        rules.call(rules.start_state(rule), writer.rule_of(part), last)
    return rule


def _typed(writer: Writer, kinds: list[str], path: Path) -> SchemaAt:
    """The schema of all values of some types."""
    return writer.synthetic(("types", *kinds), lambda: {"type": kinds}), path


class _UniqueArray:
    def __init__(self, writer: Writer, layout: ArrayLayout, path: Path) -> None:
        self.writer = writer
        self.layout = layout
        self.path = path
        self.most = writer.options.limits.max_unique_values
        self._finite: dict[int, dict[Any, Any] | None] = {}
        n_prefix = layout.n_prefix
        high = layout.high
        rest = self.finite(n_prefix)
        if rest is not None:
            # there are no more different items than those of the first positions and those that the others may be
            high = min(n_prefix + len(rest), UNBOUNDED if high is None else high)
        self.high = high
        scarce = self._scarce_items()
        self.matching = Matching(scarce)
        self.scarce_values = {key: value for _, values, _ in scarce for key, value in values.items()}

        # all items are divided alike, or none is: a literal is a member of the set or a text in it
        is_alike = n_prefix == 0 and self.finite(0) is None
        self.parts = item_parts(writer, layout.schemas_at(0)) if is_alike else None

    def finite(self, index: int) -> dict[Any, Any] | None:
        """Values of the item at `index` by what equal ones share, or None for many."""
        index = min(index, self.layout.n_prefix)
        if index not in self._finite:
            values = finite_values(self.writer, self.layout.schemas_at(index), self.most)
            by_key = None if values is None else {equality_key(value, self.path): value for value in values}
            self._finite[index] = by_key
        return self._finite[index]

    def _scarce_items(self) -> list[tuple[int, dict[Any, Any], int]]:
        """Items that must come and may find none of their values left: where from, the values, how many.

        What has as many values as items must come finds one whatever the others are.
        """
        low, n_prefix = self.layout.low, self.layout.n_prefix
        items = [(index, self.finite(index), 1) for index in range(min(low, n_prefix))]
        if low > n_prefix:
            items.append((n_prefix, self.finite(n_prefix), low - n_prefix))
        return [(index, values, n) for index, values, n in items if values is not None and len(values) < low]

    def write(self, start: StateId, end: StateId) -> None:
        writer, layout, path = self.writer, self.layout, self.path
        rules, lexemes = writer.rules, writer.punctuation
        low, high = layout.low, self.high
        if high is not None and low > high:
            reason = f"minItems is {low}, and there are {high} different items at most"
            return writer.nothing(reason, path, DIFFERENT_HELP)
        if not self.matching.is_complete:
            reason = "the items that must be there do not have enough different values"
            return writer.nothing(reason, path, DIFFERENT_HELP)
        check_number(writer, layout, path)
        body = rules.rule(pointer(path))
        rules.call(start, body, end)
        start, last = rules.start_state(body), rules.state(body)
        rules.final(last)
        n_chain = layout.n_prefix if high is None else min(layout.n_prefix, high)
        if low == 0:
            opened = rules.state(body)
            rules.scan(start, lexemes.open_array, opened)
            rules.scan(opened, lexemes.close_array, last)
        if high == 0:
            return None
        # the first item stands alone: its rule is called as it is, as nothing was read before it
        item = rules.state(body)
        rules.scan(start, lexemes.open_array, item)
        n_alone = max(n_chain, 1)
        for index in range(n_alone):
            after = rules.state(body)
            self._write_item(index, item, after)
            if index + 1 >= low:
                rules.scan(after, lexemes.close_array, last)
            if high is not None and index + 1 >= high:
                return None
            item = rules.state(body)
            rules.scan(after, lexemes.comma, item, self._another(index + 1))
        after = rules.state(body)
        self._write_item(n_alone, item, after)
        rules.scan(after, lexemes.comma, item, self._another(n_alone))
        rules.scan(after, lexemes.close_array, last, rules.check_guard(low) if low > n_alone + 1 else NO_GUARD)
        return None

    def _write_item(self, index: int, start: StateId, end: StateId) -> None:
        """Write an item. Of rules that leave out what later items need, variants are asked for always."""
        if self._leaves_values(index):
            rule = self._made(0, []) if index == 0 else self._rule_at(index)
            return self.writer.rules.call_new(start, rule, end, kind=CALL_NEW)
        schemas = self.layout.schemas_at(min(index, self.layout.n_prefix))
        parts = self.parts
        if parts is None:
            return self._call(index, start, end, schemas)
        rules, nodes = self.writer.rules, self.writer.nodes
        for literal in parts.literals:
            rules.scan(start, nodes.literal(LITERALS[literal]), end, rules.add_guard(literal))
        if parts.numbers is not None:
            rules.call_new(start, parts.numbers, end, kind=CALL_OPEN)
        if parts.rest is not None:
            self._call(index, start, end, parts.rest)
        return None

    def _call(self, index: int, start: StateId, end: StateId, schemas: list[SchemaAt]) -> None:
        """Call for a new value of `schemas`, those of an item or of a part of them."""
        writer = self.writer
        # where all items are alike, how many there are tells whether another one is left
        kind = kind_of_place(writer, schemas, is_followed=self.finite(index) is None or self.layout.n_prefix == 0)
        writer.shares_places |= kind == CALL_PLAIN
        if kind == CALL_OPEN:
            mark = writer.synthetic("followed", lambda: {FOLLOWED: True})
            rule = writer.rule_of([*schemas, (mark, self.path)])
        else:
            rule = self._rule_at(index, schemas)
        writer.rules.call_new(start, rule, end, kind=kind)

    def _another(self, index: int) -> GuardId:
        """Guard of the comma before the item at `index`, or a later one of the same kind."""
        is_loop = index >= max(self.layout.n_prefix, 1)
        most = UNBOUNDED if self.high is None or not is_loop else self.high - 1
        if self.finite(index) is not None and self.layout.n_prefix > 0:
            return self.writer.rules.check_guard(0, most, another_of=self._rule_at(index))
        return NO_GUARD if most == UNBOUNDED else self.writer.rules.check_guard(0, most)

    def _rule_at(self, index: int, schemas: list[SchemaAt] | None = None) -> RuleId:
        """Rule of the item at `index`, or of a part of it, of which variants are made; not shared with other arrays."""
        index = min(index, max(self.layout.n_prefix, 1))
        writer = self.writer
        wanted = self.layout.schemas_at(min(index, self.layout.n_prefix)) if schemas is None else schemas
        key = ("unique", writer.place_key(wanted), id(self.layout), index)

        def make() -> RuleId:
            rules = writer.rules
            rule = rules.rule(pointer(self.path))
            last = rules.state(rule)
            rules.final(last)
            whole = writer.rule_of(wanted) if wanted else writer.any_rule()
            rules.call(rules.start_state(rule), whole, last)
            writer.variants[rule] = lambda texts: self._made(index, values_of_texts(texts), schemas)
            if self.finite(index) is None and may_be_stricter(writer, wanted):
                writer.stricter[rule] = lambda texts: stricter_rule(writer, wanted, texts, self.path)
            return rule

        found: RuleId = writer.own_rule(key, make)
        return found

    def _made(self, index: int, values: list[Any], schemas: list[SchemaAt] | None = None) -> RuleId:
        """Rule of the item at `index`, or of a part of it, after those of `values`."""
        if schemas is None:
            schemas = self.layout.schemas_at(min(index, self.layout.n_prefix))
        used = {equality_key(value, self.path) for value in values}
        listed = self.finite(index)
        asked = self.scarce_values if listed is None else listed
        needed = self.matching.needed(index, used, asked) if self._leaves_values(index) else set()
        if listed is not None:
            refused = [value for key, value in listed.items() if key in used or key in needed]
        else:
            refused = values + [value for key, value in asked.items() if key in needed]
        return _rule_without(self.writer, schemas, refused, self.path)

    def _leaves_values(self, index: int) -> bool:
        """Whether the item at `index` may have to leave values to those that come after it."""
        return index < self.layout.n_prefix and self.matching.has_items_after(index)
