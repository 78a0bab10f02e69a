"""`uniqueItems`: items that all differ; and its negation, two items are equal.

A run through the rule remembers the items that it has read (`Rules.call_new`), and each next one is read by a rule that
derives none of them: written when a sequence first gets there, by this module, as the item's schema and the negation
of the `enum` of what was read. JSON equality decides: 1 is 1.0, strings are compared unescaped, objects without order.

An array whose items have few values can run out of them. Where another item is demanded, a value that an item after it
needs must not be taken: of items that still have to come, those with listed values must find one each (`matching.py`).
Items after `prefixItems` are all alike, so none of them takes away what the others need. Where another item is not
demanded, no comma is offered when nothing is left to follow it.

Items of many types are divided by how another one is told from those before it; else they would be called for as
numbers in several writings are, by a rule for each set of items that may have been read:

    null, true, false     members of the run's set, as declared keys are: a guard lets each pass once
    any number            open once it has no exponent: whatever was read of one may become infinitely many others
                          (0e may not)
    strings and the rest  as `new_values.py` says

The negation remembers items as well. As long as all differ the array goes on: an item that is new leads back to the
loop, one that was there already leads out of it, to items that are not remembered. There can always be another
item, so nothing has to be foreseen; an array whose length has a limit would have to know which item is the last that
can still be equal to one before it, and is refused.

    different[i] -new-> .   -","-> different[i + 1]
    different[i] -again-> taken
    free[i] -any item-> taken       taken -","-> free[i + 1]       taken -"]"-> end

In: the layout of an array. Out: states and edges; later, rules of items. Cost: that of an array, twice for the
negation; a rule of an item with k items before it about 100 us and 1 us for each of those.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import ANOTHER, CALL_NEW, CALL_OPEN, CALL_PLAIN, NO_GUARD, UNBOUNDED, GuardId, RuleId, StateId

from ..lexical.lexemes import lexemes_of_types
from ..meaning.array_layout import ArrayLayout
from ..meaning.choices import settle
from ..meaning.conjunction import conjunction_of
from ..meaning.contradictions import DIFFERENT_HELP
from ..meaning.finite import finite_values
from ..meaning.instances import equality_key, type_of, values_of_texts
from ..meaning.matching import Matching
from ..meaning.place import Part, SchemaAt, types_of
from ..meaning.scalars import range_of
from ..meaning.synthetic import of_types
from ..reading.keywords import FOLLOWED, NOT_UNIQUE
from ..reading.pointers import Path, pointer
from .different_objects import all_but
from .new_values import is_fulfilled, kind_of_place
from .stricter_items import may_be_stricter, stricter_rule
from .writer import Span, Writer

LITERALS = (b"null", b"false", b"true")  # by their number in the set
VALUES: tuple[Any, ...] = (None, False, True)


class ItemParts(NamedTuple):
    """literals: positions in LITERALS; numbers: their rule, if any number is allowed; rest: schemas, or None."""

    literals: list[int]
    numbers: RuleId | None
    rest: list[SchemaAt] | None


def item_parts(writer: Writer, schemas: list[SchemaAt]) -> ItemParts | None:
    """The parts of an item, or None where there is nothing to divide."""
    path = schemas[0][1] if schemas else ()
    conjunction = settle(writer, conjunction_of(writer, schemas))
    types = types_of(conjunction.parts)
    if conjunction.false_at is not None or (len(types) == 1 and types[0] != "number"):
        return None
    literals = finite_values(writer, [*schemas, of_types(writer, ("null", "boolean"), path)], len(LITERALS))
    if literals is None:
        return None
    rest = [name for name in types if name not in ("null", "boolean")]
    numbers = None
    if "number" in types and _is_free_number(writer, [*schemas, of_types(writer, ("number",), path)]):
        numbers = _plain_numbers(writer)
        rest = [name for name in rest if name not in ("number", "integer")]
    found = [at for at, literal in enumerate(VALUES) if any(literal is value for value in literals)]
    if not found and numbers is None:
        return None
    return ItemParts(found, numbers, [*schemas, of_types(writer, rest, path)] if rest else None)


def _is_free_number(writer: Writer, schemas: list[SchemaAt]) -> bool:
    conjunction = settle(writer, conjunction_of(writer, schemas))
    if conjunction.false_at is not None or conjunction.choices:
        return False
    if types_of(conjunction.parts) != ("number",) or any(shape.has_values for _, _, shape in conjunction.parts):
        return False
    return range_of(writer, conjunction.parts, "number") is None


def _plain_numbers(writer: Writer) -> RuleId:
    """Rule of every number, written without exponent."""

    def make() -> RuleId:
        rule, start, end, _ = writer.new_rule("number")
        writer.rules.scan(start, lexemes_of_types(writer.nodes, "plain")["number"], end)
        return rule

    return writer.own_rule("plain numbers", make)


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

    Objects are a rule that all variants share where no value is an object, and arrays where no value is an array: the
    first mask after a quote asked for 90 variants, a text each, and wrote 12,000 edges over objects in each of 30.
    """
    if not values:
        return writer.rule_of(schemas)
    named = {kind if (kind := type_of(value, path)) != "integer" else "number" for value in values}
    allowed = types_of(conjunction_of(writer, schemas).parts)
    others = [kind for kind in allowed if kind not in named and (kind != "integer" or "number" not in named)]
    refused = all_but(writer, values, path)
    if len(others) == len(allowed) or not {"object", "array"}.intersection(others):
        return writer.rule_of([*schemas, refused])
    rule, start, end, _ = writer.new_rule(pointer(path))
    for part in (
        [*schemas, of_types(writer, others, path)],
        [*schemas, of_types(writer, [kind for kind in allowed if kind not in others], path), refused],
    ):
        writer.rules.call(start, writer.rule_of(part), end)
    return rule


class UniqueArray:
    """Every array of a layout whose items all differ."""

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
            # there are no more different items than there are first positions and values that the others may have
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

    def write(self, span: Span) -> None:
        """Write the edges of a span.

        Raises
        ------
        LimitExceeded
            When more items must come than are remembered.
        """
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
        body, start, last, _ = writer.rule_within(span, path)
        n_chain = layout.n_prefix if high is None else min(layout.n_prefix, high)
        if low == 0:
            opened = rules.state(body)
            rules.scan(start, lexemes.open_array, opened)
            rules.scan(opened, lexemes.close_array, last)
        if high == 0:
            return None
        # the first item is written alone: its rule is called as it is, as nothing was read before it
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
            return self.call(index, start, end, schemas)
        rules, nodes = self.writer.rules, self.writer.nodes
        for literal in parts.literals:
            rules.scan(start, nodes.literal(LITERALS[literal]), end, rules.add_guard(literal))
        if parts.numbers is not None:
            rules.call_new(start, parts.numbers, end, kind=CALL_OPEN)
        if parts.rest is not None:
            self.call(index, start, end, parts.rest)
        return None

    def call(self, index: int, start: StateId, end: StateId, schemas: list[SchemaAt]) -> None:
        """Call for a new value of `schemas`, what an item or a part of it fulfils."""
        writer = self.writer
        # where all items are alike, how many there are tells whether another one is left
        kind = kind_of_place(writer, schemas, is_followed=self.finite(index) is None or self.layout.n_prefix == 0)
        writer.shares_places |= kind == CALL_PLAIN
        if kind == CALL_OPEN:
            mark = writer.synthetic("followed", lambda: {FOLLOWED: None})
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
        """Rule of the item at `index`, or of a part of it, that has variants; it is not shared with other arrays."""
        index = min(index, max(self.layout.n_prefix, 1))
        writer = self.writer
        wanted = self.layout.schemas_at(min(index, self.layout.n_prefix)) if schemas is None else schemas
        key = ("unique", writer.place_key(wanted), id(self.layout), index)

        def make() -> RuleId:
            rule, start, end, _ = writer.new_rule(pointer(self.path))
            writer.rules.call(start, writer.rule_of(wanted), end)
            writer.variants[rule] = lambda texts: self._made(index, values_of_texts(texts), schemas)
            if self.finite(index) is None and may_be_stricter(writer, wanted):
                writer.stricter[rule] = lambda texts: stricter_rule(writer, wanted, texts, self.path)
            return rule

        return writer.own_rule(key, make)

    def _made(self, index: int, values: list[Any], schemas: list[SchemaAt] | None = None) -> RuleId:
        """Rule of the item at `index`, or of a part of it, after items with `values`."""
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
        return index < self.layout.n_prefix and index < self.matching.last_position


# --- the negation: two items are equal


def refuses_equal_items(writer: Writer, layout: ArrayLayout, parts: list[Part]) -> bool:
    """Refuse the negation of `uniqueItems`, that two items are equal, beside what limits the number of items.

    Raises
    ------
    UnsupportedSchema
        Unless the caller chose to ignore such keywords.
    """
    if layout.high is None and not layout.counted and is_fulfilled(writer, layout.schemas_at(layout.n_prefix)):
        return False  # there is always room for another item
    for schema, path, _ in parts:
        if NOT_UNIQUE in schema:
            reason = 'the negation of "uniqueItems" is not supported where the number of items has a limit'
            writer.refuse("uniqueItems", path, reason)
    return True


def emit_equal_items(writer: Writer, layout: ArrayLayout, path: Path, span: Span) -> None:
    """Edges over every array of a layout in which two items are equal."""
    rules, lexemes = writer.rules, writer.punctuation
    body, start, last, _ = writer.rule_within(span, path)
    # the set grows with items that are not remembered, too, where their number counts
    is_counted = layout.low > 2
    add = rules.add_guard(ANOTHER, cap=layout.low) if is_counted else NO_GUARD
    ends = rules.check_guard(layout.low) if is_counted else NO_GUARD
    last_index = layout.n_prefix  # of the items from there on
    different = [rules.state(body) for _ in range(last_index + 1)]  # before each item: all before it differ
    free = [rules.state(body) for _ in range(last_index + 1)]  # two before it are equal
    rules.scan(start, lexemes.open_array, different[0])
    for index in range(last_index + 1):
        following = min(index + 1, last_index)
        rule = writer.rule_of(layout.schemas_at(index))
        after, taken, after_free = rules.state(body), rules.state(body), rules.state(body)
        rules.call_new(different[index], rule, after, kind=CALL_OPEN)
        rules.scan(after, lexemes.comma, different[following])
        rules.call_again(different[index], rule, taken)
        rules.call(free[index], rule, taken)
        rules.skip(taken, after_free, add)
        rules.scan(after_free, lexemes.comma, free[following])
        rules.scan(after_free, lexemes.close_array, last, ends)
