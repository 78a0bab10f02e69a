"""Objects that differ from each of some listed objects, properties in the order of the schema.

While an object is read, the listed objects are followed that it may still be equal to. The states of a plain
object are written once for each set of them that can be left, so that one listed object costs n states for n
properties, and none of the places in which the two may differ is an alternative of its own.

    choose[i, S] -key i-> . -":"-> . -a value that none of S has there-> after[i + 1, {}]
                                     -the value x of some of S->         after[i + 1, the objects of S with x]
    choose[i, S] -skip-> choose[i + 1, the objects of S without key i]  if i is optional
    after[i, S]  -","-> choose[i, S]      after[i, S] -"}"-> end  if nothing from i on is required, and none of S ends

A listed object with a key that is not declared is equal to nothing here but an object with that free key. Free keys
come in any order, so what is beside such objects is written as a choice of differences instead, and so are objects that
count their keys or ask for one of some keys.

In: parts, listed objects. Out: states and edges between two given states. Cost: about 10 us a property and set.
"""

from __future__ import annotations

from typing import Any

from llmask.grammar.kinds import StateId

from ..meaning.conjunction import add_schema
from ..meaning.instances import equality_key, fulfilling
from ..meaning.object_layout import Entry, Layout
from ..meaning.place import Conjunction, Part, SchemaAt, types_of
from ..meaning.scalars import matches_pattern
from ..meaning.synthetic import negated, schema_of_value
from ..reading.keywords import PREFIX, SPELLED
from ..reading.pointers import Path
from .writer import Span, Writer

Listed = frozenset[int]
NONE: Listed = frozenset()
STATE_WORK = 2  # a state of a property, counted in subschemas visited


def all_but(writer: Writer, values: list[Any], path: Path) -> SchemaAt:
    """The schema of everything but `values`."""
    key = ("refused", frozenset(equality_key(value, path) for value in values))
    return negated(writer, writer.synthetic(key, lambda: {"enum": values}), path)


def emit_different(writer: Writer, parts: list[Part], layout: Layout, values: list[dict[str, Any]], span: Span) -> None:
    """Edges over every object of `parts` that differs from all `values`."""
    path = parts[0][1]
    declared = {entry.name for entry in layout.entries}
    possible = []
    n_required = sum(entry.is_required for entry in layout.entries)
    counts = layout.asks_for_keys or layout.low > n_required or layout.high is not None
    is_chain = not counts and not (writer.options.unique_keys and layout.cells)
    for value in values:
        if any(_is_excluded(writer, entry, value) for entry in layout.entries):
            continue
        others = [name for name in value if name not in declared]
        if all(any(matches_pattern(writer, cell.keys, name) for cell in layout.cells) for name in others):
            possible.append(value)
            is_chain = is_chain and not others
    objects = writer.synthetic("objects", lambda: {"type": "object"}), path
    if not possible and all(shape.is_plain for _, _, shape in parts):
        schemas = [(schema, at) for schema, at, shape in parts if not shape.has_except]
        if types_of(parts) != ("object",):
            schemas.append(objects)
        return writer.rules.call(span.start, writer.rule_of(schemas), span.end)
    if is_chain:
        return _DifferentObject(writer, layout, possible, path, span).write()
    conjunction = Conjunction()
    conjunction.parts = [part for part in parts if not part[2].has_except]
    add_schema(writer, conjunction, *objects)
    for value in possible:
        add_schema(writer, conjunction, *negated(writer, schema_of_value(writer, value, path), path))
    return writer.write_conjunction(conjunction, path, span)


def _is_excluded(writer: Writer, entry: Entry, value: dict[str, Any]) -> bool:
    """Whether it is plain to see that an object lacks a key, or has another value there than those that are listed."""
    if entry.name not in value:
        return entry.is_required
    for schema, path in entry.schemas:
        if type(schema) is dict:
            shape = writer.shape(schema, path)
            if shape.has_values and not fulfilling(writer, [value[entry.name]], [(schema, path, shape)]):
                return True
    return False


class _DifferentObject:
    def __init__(self, writer: Writer, layout: Layout, values: list[dict[str, Any]], path: Path, span: Span) -> None:
        self.writer = writer
        self.layout = layout
        self.values = values
        self.path = path
        self.span = span
        self._states: dict[tuple[int, Listed, bool], StateId] = {}
        self._waiting: list[tuple[int, Listed, bool]] = []
        entries = layout.entries
        self.n_keys = len(entries) + bool(layout.cells)
        self.needed = [0] * (len(entries) + 2)  # required keys from an entry on
        for at in range(len(entries) - 1, -1, -1):
            self.needed[at] = self.needed[at + 1] + entries[at].is_required
        place = {entry.name: at for at, entry in enumerate(entries)}
        self.last = [max((place[name] for name in value), default=-1) for value in values]  # last key of each

    def write(self) -> None:
        rules, lexemes, span = self.writer.rules, self.writer.punctuation, self.span
        everything = frozenset(range(len(self.values)))
        opened = rules.state(span.rule)
        rules.scan(span.start, lexemes.open_object, opened)
        if self.n_keys:
            rules.skip(opened, self.state(0, everything))
        if self.may_end(0, everything):
            rules.scan(opened, lexemes.close_object, span.end)
        while self._waiting:
            self.writer.count_work(STATE_WORK)
            index, listed, is_after = self._waiting.pop()
            if is_after:
                self._write_after(index, listed)
            elif index < len(self.layout.entries):
                self._write_entry(index, listed)
            else:
                self._write_free(index, listed)

    def state(self, index: int, listed: Listed, is_after: bool = False) -> StateId:
        """State before the key number `index`, or after a value, where that key may follow."""
        key = (index, listed, is_after)
        if key not in self._states:
            self._states[key] = self.writer.rules.state(self.span.rule)
            self._waiting.append(key)
        return self._states[key]

    def may_end(self, index: int, listed: Listed) -> bool:
        """Whether an object may end when the next key would be number `index`."""
        return not self.needed[index] and not any(self.last[number] < index for number in listed)

    def _write_after(self, index: int, listed: Listed) -> None:
        rules, lexemes = self.writer.rules, self.writer.punctuation
        here = self._states[index, listed, True]
        if index < self.n_keys:
            rules.scan(here, lexemes.comma, self.state(index, listed))
        if self.may_end(index, listed):
            rules.scan(here, lexemes.close_object, self.span.end)

    def _write_entry(self, index: int, listed: Listed) -> None:
        writer, entry, path = self.writer, self.layout.entries[index], self.path
        rules = writer.rules
        here = self._states[index, listed, False]
        with_key: dict[Any, set[int]] = {}
        for number in listed:
            if entry.name in self.values[number]:
                with_key.setdefault(equality_key(self.values[number][entry.name], path), set()).add(number)
        named, value = rules.state(self.span.rule), rules.state(self.span.rule)
        rules.scan(here, writer.key_node(entry.name, entry.schemas), named)
        rules.scan(named, writer.punctuation.colon, value)
        refused = []
        for numbers in with_key.values():
            same = self.values[min(numbers)][entry.name]
            refused.append(same)
            if index + 1 == self.n_keys:
                continue  # what is equal so far stays so
            schemas = [*entry.schemas, (spelled(writer, same, path), path)]
            self._write_value(schemas, value, self.state(index + 1, frozenset(numbers), True))
        schemas = [*entry.schemas, all_but(writer, refused, path)] if refused else entry.schemas
        self._write_value(schemas, value, self.state(index + 1, NONE, True))
        if not entry.is_required and index + 1 < self.n_keys:
            left = frozenset(number for number in listed if entry.name not in self.values[number])
            rules.skip(here, self.state(index + 1, left))

    def _write_free(self, index: int, listed: Listed) -> None:
        """Write the free keys: no listed object has one."""
        rules = self.writer.rules
        for cell in self.layout.cells:
            named, value = rules.state(self.span.rule), rules.state(self.span.rule)
            rules.scan(self._states[index, listed, False], cell.keys, named)
            rules.scan(named, self.writer.punctuation.colon, value)
            self._write_value(cell.schemas, value, self.state(index, NONE, True))

    def _write_value(self, schemas: list[SchemaAt], start: StateId, end: StateId) -> None:
        self.writer.place(schemas, self.span.rule, start, end, self.span.depth)


def spelled(writer: Writer, value: Any, path: Path) -> dict[Any, Any]:
    """The schema of one value, whose strings may be spelled in every way."""

    def make() -> dict[Any, Any]:
        if type(value) is str:
            return {"type": "string", SPELLED: value}
        if type(value) is list:
            members = [(spelled(writer, member, path), path) for member in value]
            return {"type": "array", PREFIX: members, "minItems": len(members), "maxItems": len(members)}
        if type(value) is dict:
            named = {name: spelled(writer, member, path) for name, member in value.items()}
            return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}
        return {"enum": [value]}

    return writer.synthetic(("spelled", equality_key(value, path)), make)
