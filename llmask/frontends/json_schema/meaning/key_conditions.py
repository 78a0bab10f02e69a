"""Alternatives of objects as one condition on which keys are there, with values of which kind.

Written one by one, alternatives that overlap multiply: `not: {required: [a, b]}` a hundred times are 2^100 ways to have
the keys, and `oneOf` writes each alternative beside the negations of all others. Here the values of a key are divided
into *classes* by the schemas that alternatives give them; a key with a value of one class is a *member* of the object,
and all that the alternatives say is a decision diagram over members (grammar/diagrams.py).

    oneOf: [{required: [a], properties: {a: string}}, {required: [b]}]
    members   0: a, a string   1: a, something else   2: b        condition: exactly one of  0,  2;  not both 0 and 1

In: a conjunction. Out: entries, free keys, a condition; None where a keyword says something else of objects.
Cost: some microseconds a key and class, a unit of work for each node.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from llmask.frontends.json_schema.meaning.alike import same_schema
from llmask.frontends.json_schema.meaning.alternatives import is_void
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of, is_false
from llmask.frontends.json_schema.meaning.marks import exclude_each_other, marks_of
from llmask.frontends.json_schema.meaning.object_layout import Cell, Entry, layout_of
from llmask.frontends.json_schema.meaning.place import Choice, Conjunction, Part, SchemaAt
from llmask.frontends.json_schema.meaning.synthetic import negated
from llmask.frontends.json_schema.meaning.types import types_of
from llmask.grammar.diagrams import FALSE, TRUE, Condition, Diagrams

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.context import Context

CLASS_WORK = 20  # a schema compared with a class of values, counted in subschemas visited
OTHERS = ("patternProperties", "propertyNames", "minProperties", "maxProperties")


class ConditionedObject(NamedTuple):
    """An object of members: named keys in order, those of one name in a row; the last member is any free key.

    `free` is None where no condition speaks of free keys.
    """

    entries: list[Entry]
    cells: list[Cell]
    low: int
    high: int | None
    condition: Condition
    free: int | None


class _NotExpressible(Exception):
    """A keyword says something of objects that is no condition on members."""


class _Class(NamedTuple):
    """Values of a key: which of the schemas that alternatives name they fulfil, all that they fulfil, and do not."""

    held: frozenset[Hashable]
    schemas: list[SchemaAt]
    failed: list[SchemaAt]


def conditioned_object(context: Context, conjunction: Conjunction) -> ConditionedObject | str | None:
    """The object of a conjunction; None where it cannot be told so, a reason where no object fulfils it."""
    if context.options.closed or context.options.unique_keys:
        return None
    try:
        return _Reader(context, conjunction).read()
    except _NotExpressible:
        return None


class _Reader:
    def __init__(self, context: Context, conjunction: Conjunction) -> None:
        self.context = context
        self.conjunction = conjunction
        self.diagrams = Diagrams()
        self.names: dict[str, None] = {}  # in the order in which they are written
        self.own_names = {name for part, _, _ in conjunction.parts for name in part.get("properties", ())}
        self.named: dict[str, dict[Hashable, SchemaAt]] = {}  # schemas that alternatives give to the values of a key
        self.speaks_of_free = False
        self.spoken_of: dict[str, None] = {}  # by alternatives, in the order of the text
        # of each key the classes: the place at which the diagram asks for them, and the schemas that hold there
        self.asked: dict[str, list[tuple[int, frozenset[Hashable]]]] = {}
        self.free: int | None = None  # place and number of free keys: the last

    def read(self) -> ConditionedObject | str | None:
        context, conjunction = self.context, self.conjunction
        if any(shape.has_values or shape.has_except or shape.has_key_sets for _, _, shape in conjunction.parts):
            return None
        at = 0
        for choice in conjunction.choices:  # names in the order of the text
            self._find_names(conjunction.parts[at : choice.position], False)
            at = choice.position
            self._find_names_of(choice)
        self._find_names(conjunction.parts[at:], False)
        path = conjunction.choices[0].path
        extra = context.synthetic(("named", *self.names), lambda: {"properties": dict.fromkeys(self.names, True)})
        layout = layout_of(context, [(extra, path, context.shape(extra, path)), *conjunction.parts])
        if layout.low > 1 or (layout.cells and layout.high is not None):
            return None
        classes = {entry.name: self._classes(entry) for entry in layout.entries}
        entries: list[Entry] = []
        first: dict[str, int] = {}
        for entry in layout.entries:
            first[entry.name] = len(entries)
            entries += [entry._replace(schemas=one.schemas, is_required=False) for one in classes[entry.name]]
        if len(entries) >= context.options.limits.max_tracked_names:
            return None
        # the diagram asks for members in the order in which alternatives speak of them, which keeps it small
        members: list[int] = []
        for name in (*self.spoken_of, *(name for name in classes if name not in self.spoken_of)):
            divided = classes.get(name, [])
            self.asked[name] = [(len(members) + n, one.held) for n, one in enumerate(divided)]
            members += [first[name] + n for n in range(len(divided))]
        if layout.cells and self.speaks_of_free:
            self.free = len(members)
            members.append(self.free)
        conditions = [self._condition_of(choice) for choice in conjunction.choices]
        for entry in layout.entries:
            if entry.is_required:
                conditions.append(self._there(entry.name))
            if len(classes[entry.name]) > 1:
                each = [self.diagrams.present([place]) for place, _ in self.asked[entry.name]]
                conditions.append(self.diagrams.either(self.diagrams.exactly_one(each), self._absent(entry.name)))
        found = self.diagrams.all_of(conditions)
        if found == FALSE:
            return "no set of keys fulfils all of the alternatives"
        if not members:
            return None
        condition = self.diagrams.condition(found, members)
        return ConditionedObject(entries, layout.cells, layout.low, layout.high, condition, self.free)

    # --- what is named

    def _find_names_of(self, choice: Choice) -> None:
        for member in choice.schemas:
            inner = conjunction_of(self.context, [member])
            self._find_names(inner.parts, True)
            for one in inner.choices:
                self._find_names_of(one)

    def _find_names(self, parts: list[Part], is_alternative: bool) -> None:
        for part in parts:
            schema, path, shape = part
            if not shape.has_object and not (is_alternative and (shape.has_values or shape.has_except)):
                continue
            if is_alternative and (shape.has_values or shape.has_except or shape.has_key_sets):
                raise _NotExpressible
            if is_alternative and any(keyword in schema for keyword in OTHERS):
                raise _NotExpressible
            if is_alternative and schema.get("additionalProperties", True) is not True:
                if schema["additionalProperties"] is not False:
                    raise _NotExpressible
                self.speaks_of_free = True
            self.context.count_work(len(schema.get("properties", ())) + len(schema.get("required", ())))
            for name, member in schema.get("properties", {}).items():
                if is_alternative and type(member) is not bool:
                    at = (path, "properties", name)
                    self.named.setdefault(name, {}).setdefault(same_schema(self.context, member, at), (member, at))
            for name in (*schema.get("properties", ()), *schema.get("required", ())):
                if is_alternative:
                    self.spoken_of[name] = None
                if not is_alternative or name not in self.own_names:
                    self.names[name] = None

    def _classes(self, entry: Entry) -> list[_Class]:
        """The values of a key, divided by the schemas that alternatives name."""
        found = [] if is_false(entry.schemas) else [_Class(frozenset(), entry.schemas, [])]
        for key, member in self.named.get(entry.name, {}).items():
            divided: list[_Class] = []
            for one in found:
                if any(self._exclude(member, other) for other in one.schemas):
                    divided.append(one)
                    continue
                failed = [other for other in one.failed if not self._exclude(member, other)]
                inside = _Class(one.held | {key}, [*one.schemas, member], failed)
                if not self._is_void(inside):
                    divided += (inside, one._replace(failed=[*one.failed, member]))
                else:
                    divided.append(one)
            found = divided
        found = [one for one in found if not (one.failed and self._is_void(one))]
        whole = [one._replace(schemas=self._all_of(one)) for one in found]
        return [one for one in whole if self.context.place_key(one.schemas) not in self.context.void]

    def _exclude(self, one: SchemaAt, other: SchemaAt) -> bool:
        self.context.count_work()
        return exclude_each_other(marks_of(self.context, *one), marks_of(self.context, *other))

    def _is_void(self, one: _Class) -> bool:
        self.context.count_work(CLASS_WORK)
        return is_void(self.context, conjunction_of(self.context, self._all_of(one)))

    def _all_of(self, one: _Class) -> list[SchemaAt]:
        return [*one.schemas, *(negated(self.context, *member) for member in one.failed)]

    # --- what holds

    def _there(self, name: str) -> int:
        return self.diagrams.present([place for place, _ in self.asked.get(name, ())])

    def _absent(self, name: str) -> int:
        return self.diagrams.absent([place for place, _ in self.asked.get(name, ())])

    def _condition_of(self, choice: Choice) -> int:
        inside = []
        for member in choice.schemas:
            inner = conjunction_of(self.context, [member])
            if inner.false_at is not None:
                inside.append(FALSE)
                continue
            holding = [self._condition_of_part(part) for part in inner.parts]
            holding += [self._condition_of(one) for one in inner.choices]
            inside.append(self.diagrams.all_of(holding))
        return self.diagrams.any_of(inside) if choice.keyword == "anyOf" else self.diagrams.exactly_one(inside)

    def _condition_of_part(self, part: Part) -> int:
        schema, path, shape = part
        if "object" not in types_of([part]):
            return FALSE
        if not shape.has_object:
            return TRUE
        properties = schema.get("properties", {})
        absent: list[int] = []
        for name, member in properties.items():
            if member is not True:
                key = None if member is False else same_schema(self.context, member, (path, "properties", name))
                absent += [place for place, held in self.asked.get(name, ()) if key not in held]
        if schema.get("additionalProperties") is False:
            absent += [place for name in self.asked if name not in properties for place, _ in self.asked[name]]
            absent += [] if self.free is None else [self.free]
        self.context.count_work(len(absent) // 8)
        there = [self._there(name) for name in schema.get("required", ())]
        return self.diagrams.all_of([self.diagrams.absent(absent), *there])
