"""Alternatives of objects as one condition: on the keys that are there, and on the kinds of their values.

Written one by one, alternatives that overlap multiply: `not: {required: [a, b]}` a hundred times are 2^100 ways to have
the keys, and `oneOf` writes each alternative beside the negations of all others. Here the values of a key are divided
into *classes* by the schemas that alternatives give them; a key with a value of one class is a *member* of the object,
and all that the alternatives say is a decision diagram over members (grammar/diagrams.py). Where keys are counted, free
keys of a class are a member each: its first key, its second, up to the largest number that a keyword tells apart.

    oneOf: [{required: [a], properties: {a: string}}, {required: [b]}]
    members   0: a, a string   1: a, something else   2: b        condition: exactly one of  0,  2;  not both 0 and 1

That a class has no value is proved as far as its schemas show it (`choices.is_void`). Where many classes are left, and
n schemas that overlap have up to 2^n, the objects among the values are told by conditions as well, in diagrams that all
classes of these schemas share: what has no object there, and nothing else, is no class.

    8 objects with 6 to 47 optional keys, none else   256 classes are not disproved; 25 have a value

In: a conjunction. Out: entries, free keys, a condition; None where a keyword says something else of objects.
Cost: some microseconds a key and class, a unit of work for each node.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial, reduce
from typing import Any, NamedTuple

from llmask.errors import LimitExceeded, UnsupportedSchema
from llmask.grammar.diagrams import FALSE, FIRST_NODE, TRUE, Condition, Diagrams
from llmask.work import share, spend

from ..reading.keywords import EVERY_KEY, EXCEPT, NOT, SOME_KEY
from ..reading.pointers import ROOT, Path, pointer
from .choices import divided_by_strings, is_void, settle
from .conjunction import conjunction_of, is_false
from .context import Context
from .finite import with_few_keys_declared
from .instances import equality_key, fulfilling_all, listed_by
from .marks import exclude_each_other, marks_of
from .object_layout import Cell, Entry, divided_keys, keys_node
from .place import ALL_TYPES, Choice, Conjunction, Part, SchemaAt, count_range, types_of
from .scalars import pattern_string
from .synthetic import KeySet, negated, of_types, same_schema

SHARE = 2  # reading alternatives may take this part of the work, so that some is left to write them one by one
OBJECTS_SHARE = 16  # the same of the objects that a key may have as values
COUNTS = {"type", "minProperties", "maxProperties", "minItems", "maxItems"}
ANYTHING: tuple[Any, ...] = (True, {})
MANY_CLASSES = 16  # of the values of one key, beyond which it is looked at which classes have an object
MAX_DEPTH = 2  # objects within objects whose conditions are made to divide the values of a key
MAX_CLASSES = 512  # of the values of one key
CLASS_WORK = 20  # a schema compared with a class of values, counted in subschemas visited
FEWER_HELP = "Use fewer alternatives, or negate fewer of properties and patternProperties in one place."


class FreeKeys(NamedTuple):
    """Keys of a cell with values of one class: its first key is the first of `members`, and so on.

    No members: no alternative speaks of them.
    """

    keys: int
    schemas: list[SchemaAt]
    members: range


class _Objects(NamedTuple):
    """Objects by the schemas that speak of them: where each of these fails, and where it holds."""

    context: Context
    diagrams: Diagrams
    start: int
    told: dict[Hashable, tuple[int, int]]

    def where(self, objects: int, member: SchemaAt, holds: bool = True) -> int:
        """The objects among some that fulfil a schema, or do not."""
        name, _, is_held = _asked_by(self.context, member)
        return self.diagrams.both(objects, self.told[name][is_held == holds])


class ConditionedObject(NamedTuple):
    """The members that an object may have: named keys in order, each with its number, those with one name together.

    goes_on        where all members of a class are there, more of its keys may come
    is_tracked     a free key must not be repeated: the class of its value would be another, or it would count twice
    """

    entries: list[tuple[int, Entry]]
    cells: list[FreeKeys]
    goes_on: bool
    condition: Condition
    is_tracked: bool


class _NotExpressible(Exception):
    """A keyword says something of objects that is no condition on members."""


class _Class(NamedTuple):
    """Values of a key: which of the schemas that alternatives name they fulfil, all that they fulfil, and do not.

    `objects` are those among them, a condition in diagrams that all classes of the key share; TRUE where none is made.
    """

    held: frozenset[Hashable]
    schemas: list[SchemaAt]
    failed: list[SchemaAt]
    objects: int = TRUE


def conditioned_object(
    context: Context, conjunction: Conjunction, path: Path, is_needed: bool = True
) -> ConditionedObject | str | None:
    """The object of a conjunction; None where it cannot be told so, a reason where no object fulfils it.

    `is_needed`: also where the values of a key divide into more classes than there are schemas, or by the negation of
    what is not plain, as there is no other way.
    """
    if context.options.closed:  # a class that fulfils the schema of an alternative would be closed by it
        return None
    try:
        with context.trial(), share(SHARE):
            return _Reader(context, conjunction, is_needed).read(path)
    except (_NotExpressible, LimitExceeded, UnsupportedSchema):
        spend(0)  # where all work is spent nothing else can be tried
        return None


def object_with_keys(context: Context, parts: list[Part], path: Path) -> ConditionedObject | str:
    """The object of parts that ask for one of a set of keys; a reason where no object fulfils them.

    Raises
    ------
    LimitExceeded
        When keys are divided into too many sets, values into too many classes, or too many are counted.
    """
    conjunction = Conjunction()
    conjunction.parts = parts
    return _Reader(context, conjunction, True).read(path)


class _Reader:
    def __init__(self, context: Context, conjunction: Conjunction, is_needed: bool, depth: int = 0) -> None:
        self.context = context
        self.conjunction = conjunction
        self.is_needed = is_needed
        self.depth = depth
        self.diagrams = Diagrams()
        self.names: dict[str, bool] = {}  # in the order in which they are written, and whether they are required
        self.own_names = {name for part, _, _ in conjunction.parts for name in part.get("properties", ())}
        self.spoken_of: dict[Hashable, None] = {}  # by alternatives, in the order of the text
        # schemas that alternatives give to the values under a name, or of the keys of a node
        self.named: dict[str, dict[Hashable, SchemaAt]] = {}
        self.key_sets: dict[int, dict[Hashable, SchemaAt]] = {}
        self.closes = False
        self.counts = False
        self.n_told = 1  # free keys of one class that alternatives tell from fewer
        # where nothing asks that a schema fails, a class may hold values of others: what is dear is not negated
        self.is_monotone = True
        # of a name, or a cell by its number: its sets of keys, and for each class of values the place at which the
        # diagram asks for its first key, and the schemas that hold there
        self.sets_of: dict[Hashable, int] = {}
        self.asked: dict[Hashable, list[tuple[int, frozenset[Hashable]]]] = {}
        self.members: list[int] = []  # by the places at which the diagram asks for them

    def read(self, path: Path) -> ConditionedObject | str:
        context = self.context
        entries, cells, conditions = self.read_conditions(path)
        classes, numbers = self.classes, self.numbers
        found = self.diagrams.all_of(conditions)
        if found == FALSE:
            return "no set of keys fulfils all that is asked of an object"
        condition = self.diagrams.condition(found, self.members)
        possible = condition.possible()
        named = [
            (told[0], entry._replace(schemas=one.schemas, is_required=False))
            for entry in entries
            for one, told in zip(classes[entry.name], numbers[entry.name], strict=True)
        ]
        free: list[FreeKeys] = []
        for at, cell in enumerate(cells):
            if at not in classes and context.place_key(cell.schemas) not in context.void:
                free.append(FreeKeys(cell.keys, cell.schemas, range(0)))
            for one, told in zip(classes.get(at, ()), numbers.get(at, ()), strict=True):
                free.append(FreeKeys(cell.keys, one.schemas, told))
        is_tracked = context.options.unique_keys or (bool(cells) and self.repeats_matter)
        is_tracked |= any(len(classes.get(at, ())) > 1 for at in range(len(cells)))
        return ConditionedObject(
            [(number, entry) for number, entry in named if number in possible],
            [cell for cell in free if not cell.members or cell.members[0] in possible],
            self.goes_on,
            condition,
            is_tracked,
        )

    def read_conditions(self, path: Path) -> tuple[list[Entry], list[Cell], list[int]]:
        """Named and free keys, and conditions: one of each choice, and one of all else."""
        conjunction = self.conjunction
        if any(self._speaks_of_values(part) for part in conjunction.parts):
            raise _NotExpressible
        at = 0
        for choice in conjunction.choices:  # names in the order of the text
            self._find_own_names(conjunction.parts[at : choice.position])
            at = choice.position
            self._find_names_of(choice)
        self._find_own_names(conjunction.parts[at:])
        low, high = _count_range([part for part in conjunction.parts if part[2].has_object])
        self.repeats_matter = max(self.n_told, low) > 1  # a key that comes twice would count as two
        self.n_told = max(self.n_told, low) if high is None else high
        self.goes_on = high is None
        entries, cells = self._divided(path, high is not None)
        self.counts |= low > 0 or (high is not None and (bool(cells) or len(entries) > high))
        self.classes = self._all_classes(entries, cells)
        self.numbers = self._numbers(self.classes)
        return entries, cells, self._conditions(entries, low, high)

    def _speaks_of_values(self, part: Part) -> bool:
        schema, _, shape = part
        return shape.has_values or (shape.has_except and any(type(value) is dict for value in schema[EXCEPT]))

    def _all_classes(self, entries: list[Entry], cells: list[Cell]) -> dict[Hashable, list[_Class]]:
        """The classes of each name and cell that is spoken of."""
        found: dict[Hashable, list[_Class]] = {}
        for key, schemas, sets in [
            *((entry.name, entry.schemas, entry.sets) for entry in entries),
            *((at, cell.schemas, cell.sets) for at, cell in enumerate(cells)),
        ]:
            self.sets_of[key] = sets
            if type(key) is str or sets or self.closes or self.counts:
                found[key] = self._classes(key, schemas, sets)
        return found

    def _numbers(self, classes: dict[Hashable, list[_Class]]) -> dict[Hashable, list[range]]:
        """The members of each class: a name has one; free keys come last."""
        found: dict[Hashable, list[range]] = {}
        n_members = 0
        for key, its_classes in classes.items():
            size = 1 if type(key) is str else self.n_told
            firsts = [n_members + n * size for n in range(len(its_classes))]
            found[key] = [range(first, first + size) for first in firsts]
            n_members += size * len(its_classes)
        most = self.context.options.limits.max_tracked_names
        if n_members > most:
            raise LimitExceeded(
                f"an object of {n_members} keys that are told apart: at most {most} are remembered"
                " (limits.max_tracked_names)",
                pointer(self.conjunction.parts[0][1]) if self.conjunction.parts else None,
                "Raise the limit, or count fewer keys.",
            )
        # the diagram asks for members in the order in which alternatives speak of them, which keeps it small
        for key in (
            *(key for key in self.spoken_of if key in classes),
            *(key for key in classes if key not in self.spoken_of),
        ):
            self.asked[key] = []
            for one, numbers in zip(classes[key], found[key], strict=True):
                self.asked[key].append((len(self.members), one.held))
                self.members += numbers
        return found

    def _divided(self, path: Path, is_counted: bool) -> tuple[list[Entry], list[Cell]]:
        """Named keys and cells of free ones, divided by the sets of keys that alternatives name."""
        context = self.context
        extra = context.synthetic(("named", *self.names), lambda: {"properties": dict.fromkeys(self.names, True)})
        subjects = [part for part in self.conjunction.parts if part[2].has_object]
        subjects = [(extra, path, context.shape(extra, path)), *subjects]
        entries, divided = divided_keys(context, subjects, self.names, list(self.key_sets))
        if context.options.closed:
            entries = [entry._replace(schemas=context.closed(entry.schemas)) for entry in entries]
            divided = [cell._replace(schemas=context.closed(cell.schemas)) for cell in divided]
        if not (self.key_sets or is_counted or self.n_told > 1 or context.options.unique_keys):
            return entries, divided
        entries, cells = with_few_keys_declared(context, entries, divided, self.n_told)
        return entries, cells if self.n_told else []

    # --- what is named

    def _find_own_names(self, parts: list[Part]) -> None:
        for part in parts:
            for name in part[0].get("properties", ()) if part[2].has_object else ():
                self.names.setdefault(name, False)
            for name in part[0].get("required", ()) if part[2].has_object else ():
                self.names[name] = True
            if part[2].has_key_sets and SOME_KEY in part[0]:
                keys, member_at = part[0][SOME_KEY]
                self._speak_of(keys_node(self.context, keys), member_at)

    def _find_names_of(self, choice: Choice) -> None:
        self.is_monotone = self.is_monotone and choice.keyword == "anyOf"
        for member in choice.schemas:
            inner = conjunction_of(self.context, [member])
            for part in inner.parts:
                self._find_names(part)
            for one in inner.choices:
                self._find_names_of(one)

    def _find_names(self, part: Part) -> None:
        schema, path, shape = part
        if self._speaks_of_values(part):
            raise _NotExpressible
        if not shape.has_object:
            return
        low, high = _count_range([part])
        self.n_told = max(self.n_told, low, 0 if high is None else high + 1)
        self.counts |= low > 0 or high is not None
        self.context.count_work(len(schema.get("properties", ())) + len(schema.get("required", ())))
        for name, member in schema.get("properties", {}).items():
            if member not in ANYTHING and member is not False:
                at = (path, "properties", name)
                self.named.setdefault(name, {}).setdefault(same_schema(self.context, member, at), (member, at))
        for name in (*schema.get("properties", ()), *schema.get("required", ())):
            self.spoken_of[name] = None
            if name not in self.own_names:
                self.names.setdefault(name, False)
        self.closes |= _is_closed(schema)
        for keys, member_at, _ in self._of_keys(part):
            self._speak_of(keys, member_at)

    def _speak_of(self, keys: int, member_at: SchemaAt) -> None:
        known = self.key_sets.setdefault(keys, {})
        if member_at[0] not in ANYTHING and member_at[0] is not False:
            known.setdefault(same_schema(self.context, *member_at), member_at)

    def _of_keys(self, part: Part) -> Iterator[tuple[int, SchemaAt, bool]]:
        """Sets of keys that a part names: their node, a schema, and whether one value fulfils it (else all do)."""
        schema, path, shape = part
        context, patterns = self.context, schema.get("patternProperties", {})
        for pattern, member in patterns.items():
            at = (path, "patternProperties", pattern)
            yield pattern_string(context, pattern, path, "patternProperties"), (member, at), False
        others = schema.get("additionalProperties", True)
        if others is not True and not _is_closed(schema):
            keys = KeySet(path, tuple(schema.get("properties", ())), tuple(patterns))
            yield keys_node(context, keys), (others, (path, "additionalProperties")), False
        if shape.has_names:
            names = (schema["propertyNames"], (path, "propertyNames"))
            yield keys_node(context, KeySet(path, refused_by=names)), (False, path), False
        for keyword in (SOME_KEY, EVERY_KEY) if shape.has_key_sets else ():
            if keyword in schema:
                yield keys_node(context, schema[keyword][0]), schema[keyword][1], keyword is SOME_KEY

    def _classes(self, key: Hashable, schemas: list[SchemaAt], sets: int) -> list[_Class]:
        """The values of a key, divided by the schemas that alternatives name."""
        speaking = dict(self.named.get(key, {})) if type(key) is str else {}
        for at, members in enumerate(self.key_sets.values()):
            speaking |= members if sets >> at & 1 else {}
        listed = self._listed_classes(schemas, speaking)
        if listed is not None:
            return listed
        is_cheap = self.is_monotone or all(map(self._is_cheap_to_negate, speaking.values()))
        most = MAX_CLASSES if self.is_needed else min(MAX_CLASSES, 2 * len(speaking) + 2) if is_cheap else 0
        strings = divided_by_strings(self.context, schemas, speaking, most)
        found = [_Class(*one) for one in strings or ()] or self._divided_values(
            schemas, speaking, min(most, MANY_CLASSES)
        )
        if most > MANY_CLASSES < len(found) and strings is None:  # not all schemas have been asked yet
            objects = self._objects(schemas, speaking) if self.is_needed else None
            found = self._divided_values(schemas, speaking, most, objects)
        if len(found) > most:
            raise LimitExceeded(f"the values of a key divide into more than {most} classes", None, FEWER_HELP)
        found = [one for one in found if not (one.failed and self._is_void(one))]
        whole = [one._replace(schemas=self._all_of(one)) for one in found]
        return [one for one in whole if self.context.place_key(one.schemas) not in self.context.void]

    def _divided_values(
        self, schemas: list[SchemaAt], speaking: dict[Hashable, SchemaAt], most: int, objects: _Objects | None = None
    ) -> list[_Class]:
        """The values of a key, divided by schemas until all have been asked, or there are more than `most` classes."""
        first = _Class(frozenset(), schemas, [])
        if objects is not None:
            first = first._replace(objects=reduce(objects.where, schemas, objects.start))
        found = [] if is_false(schemas) else [first]
        for name, member in speaking.items():
            if len(found) > most:
                break
            is_dear = not self._is_cheap_to_negate(member, with_ranges=False) and not (objects and NOT in member[0])
            divided: list[_Class] = []
            for one in found:
                if any(self._exclude(member, other) for other in one.schemas):
                    divided.append(one)
                    continue
                failed = [other for other in one.failed if not self._exclude(member, other)]
                inside = _Class(one.held | {name}, [*one.schemas, member], failed, one.objects)
                outside = one if self.is_monotone and is_dear else one._replace(failed=[*one.failed, member])
                if objects is not None:
                    inside = inside._replace(objects=objects.where(one.objects, member))
                    outside = outside._replace(objects=objects.where(one.objects, member, False))
                    divided += [part for part in (inside, outside) if not self._is_void(part)]
                elif self._is_void(inside):
                    divided.append(one)
                else:
                    divided += (inside, outside)
            found = divided
        return found

    def _listed_classes(self, schemas: list[SchemaAt], speaking: dict[Hashable, SchemaAt]) -> list[_Class] | None:
        """The same where the values are listed: each is looked at."""
        context = self.context
        listed = next((one for one in (listed_by(context, *member) for member in schemas) if one is not None), None)
        if listed is None:
            return None
        path = schemas[0][1]
        listed = fulfilling_all(context, listed, conjunction_of(context, schemas))
        values = {equality_key(one, path): one for one in listed}
        held: dict[Hashable, list[Hashable]] = {key: [] for key in values}
        for name, member in speaking.items():
            for one in fulfilling_all(context, list(values.values()), conjunction_of(context, [member])):
                held[equality_key(one, path)].append(name)
        alike: dict[frozenset[Hashable], list[Hashable]] = {}
        for key, names in held.items():
            alike.setdefault(frozenset(names), []).append(key)
        found = []
        for told_apart, keys in alike.items():
            told: dict[Any, Any] = context.synthetic(
                ("listed", *keys), partial(dict, enum=[values[key] for key in keys])
            )
            found.append(_Class(told_apart, [(told, path)], []))
        return found

    def _is_cheap_to_negate(self, member: SchemaAt, with_ranges: bool = True) -> bool:
        schema, path = member[0].get(NOT, member)
        shape = self.context.shape(schema, path)
        has_range = shape.has_string or shape.has_number
        says_more = (shape.has_array or shape.has_object) and not COUNTS.issuperset(schema)
        return shape.is_plain and not says_more and (with_ranges or not has_range)

    def _exclude(self, one: SchemaAt, other: SchemaAt) -> bool:
        self.context.count_work()
        return exclude_each_other(self.context, marks_of(self.context, *one), marks_of(self.context, *other))

    def _objects(self, schemas: list[SchemaAt], speaking: dict[Hashable, SchemaAt]) -> _Objects | None:
        """Objects by the schemas of a key; None where these are no conditions on members."""
        context = self.context
        if self.depth == MAX_DEPTH or context.options.closed or all(map(self._is_cheap_to_negate, speaking.values())):
            return None
        told = {name: asked for name, asked, _ in (_asked_by(context, one) for one in (*schemas, *speaking.values()))}
        return context.synthetic(("objects", frozenset(told)), lambda: (self._objects_told(told),))[0]

    def _objects_told(self, told: dict[Hashable, SchemaAt]) -> _Objects | None:
        conjunction = Conjunction()
        conjunction.choices = [Choice("oneOf", path, [(schema, path)], 0) for schema, path in told.values()]
        reader = _Reader(self.context, conjunction, True, self.depth + 1)
        try:
            with self.context.trial(), share(OBJECTS_SHARE):
                _, _, found = reader.read_conditions(ROOT)
        except (_NotExpressible, LimitExceeded, UnsupportedSchema):
            spend(0)
            return None
        diagrams, holding = reader.diagrams, found[: len(told)]
        ways = zip(map(diagrams.negated, holding), holding, strict=True)
        return _Objects(self.context, diagrams, diagrams.all_of(found[len(told) :]), dict(zip(told, ways, strict=True)))

    def _is_void(self, one: _Class) -> bool:
        context = self.context
        if one.objects >= FIRST_NODE:
            return False
        if one.objects == FALSE and any(marks_of(context, *member).types <= {"object"} for member in one.schemas):
            return True
        context.count_work(CLASS_WORK)
        schemas = self._all_of(one)
        if one.objects == FALSE:
            schemas.append(of_types(context, [kind for kind in ALL_TYPES if kind != "object"], ROOT))
            return is_void(context, settle(context, conjunction_of(context, schemas)))
        return is_void(context, conjunction_of(context, schemas))

    def _all_of(self, one: _Class) -> list[SchemaAt]:
        return [*one.schemas, *(negated(self.context, *member) for member in one.failed)]

    # --- what holds

    def _of_number(self, low: int, high: int | None) -> int:
        """That there are from `low` to `high` keys; None is any number."""
        return self.diagrams.between(range(len(self.members)), low, high)

    def _conditions(self, entries: list[Entry], low: int, high: int | None) -> list[int]:
        """All that the object must fulfil."""
        chosen = [self._condition_of(choice) for choice in self.conjunction.choices]
        found: list[int] = []  # all of these together before they meet what is large
        for key, classes in self.asked.items():
            if type(key) is not str and self.n_told > 1:
                found += [self.diagrams.in_turn(range(place, place + self.n_told)) for place, _ in classes]
        for part in self.conjunction.parts:
            if part[2].has_key_sets and SOME_KEY in part[0]:
                found.append(self._of_some(keys_node(self.context, part[0][SOME_KEY][0]), part[0][SOME_KEY][1]))
        for entry in entries:
            places = [place for place, _ in self.asked[entry.name]]
            if entry.is_required:
                found.append(self.diagrams.present(places))
            if len(places) > 1:
                found.append(self.diagrams.between(places, 0, 1))
        counted = [self._of_number(low, high)] if self.counts else []
        return [*chosen, self.diagrams.all_of(found), *counted]

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
                absent += self._places(name, (member, (path, "properties", name)), False)
        if _is_closed(schema):
            absent += [place for key in self.asked if key not in properties for place, _ in self.asked[key]]
        holding: list[int] = []
        for keys, member_at, is_some in self._of_keys(part):
            if is_some:
                holding.append(self._of_some(keys, member_at))
            else:
                absent += [place for key in self._keys_in(keys) for place in self._places(key, member_at, False)]
        low, high = _count_range([part])
        if low or high is not None:
            holding.append(self._of_number(low, high))
        self.context.count_work(len(absent) // 8)
        required = [[place for place, _ in self.asked.get(name, ())] for name in schema.get("required", ())]
        return self.diagrams.all_of([self.diagrams.absent(absent), *map(self.diagrams.present, required), *holding])

    def _of_some(self, keys: int, member_at: SchemaAt) -> int:
        """That one of some keys is there, with a value that fulfils a schema."""
        return self.diagrams.present(
            [place for key in self._keys_in(keys) for place in self._places(key, member_at, True)]
        )

    def _keys_in(self, keys: int) -> list[Hashable]:
        at = list(self.key_sets).index(keys)
        return [key for key in self.asked if self.sets_of[key] >> at & 1]

    def _places(self, key: Hashable, member_at: SchemaAt, holds: bool) -> list[int]:
        """Places of the classes of a key whose values fulfil a schema, or do not."""
        if member_at[0] in ANYTHING or member_at[0] is False:
            return [place for place, _ in self.asked.get(key, ()) if (member_at[0] is not False) == holds]
        same = same_schema(self.context, *member_at)
        return [place for place, held in self.asked.get(key, ()) if (same in held) == holds]


def _asked_by(context: Context, member: SchemaAt) -> tuple[Hashable, SchemaAt, bool]:
    """What a member says (`same_schema`), the schema that says it, and whether that must hold: else it must fail."""
    schema, path = context.followed(*member)
    if type(schema) is dict and len(schema) == 1 and NOT in schema:
        refused, at = schema[NOT]
        return same_schema(context, refused, at), (refused, at), False
    return same_schema(context, schema, path), (schema, path), True


def _count_range(parts: list[Part]) -> tuple[int, int | None]:
    return count_range(parts, "minProperties", "maxProperties")


def _is_closed(schema: dict[Any, Any]) -> bool:
    return schema.get("additionalProperties") is False and not schema.get("patternProperties")
