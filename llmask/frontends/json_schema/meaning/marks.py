"""What is seen of schemas at a glance: types, listed values, keys that are there or are not.

Two schemas whose marks differ exclude each other. Marks say less than the schemas do, so others may do so, too.

    excluded  iff  for each type of both: their sets of values differ, or (objects) one requires a key that the other
                   forbids or has no value for, or together they require more keys than there may be

Real lists of alternatives tell their members apart by type, by a constant under a required key, or by keys that one
requires and the other forbids. An index by mark finds the pairs that are left without looking at all of them, so
11,000 alternatives with a discriminator cost 11,000 steps and not 60 million.

In: parts of a place; the schemas of a choice. Out: `Marks`; pairs of positions, in order. Cost: about 20 us a schema,
made once each, and the pairs found.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from llmask.work import spend

from ..reading.keywords import EXCEPT, NOT
from ..reading.pointers import Path
from .conjunction import conjunction_of
from .context import Context
from .instances import allowed_values, equality_key
from .place import Part, SchemaAt, required_by, types_of
from .synthetic import same_schema


class Marks(NamedTuple):
    """What every value that fulfils an alternative has in common.

    types     of the value; "number" also for integers
    values    keys of the only values there may be, or None
    required  keys that an object must have
    allowed   keys that an object may have, or None for any
    forbidden keys that an object must not have
    under     for a key, keys of the only values there may be under it
    barred    for a key, keys of values that are not under it
    high      how many keys an object may have at most, or None
    failing   for a key, what its value does not fulfil (`same_schema`)
    parts     about objects: what the value of a key fulfils is looked for there where another one fails it
    """

    types: frozenset[str]
    values: frozenset[Any] | None
    required: frozenset[str]
    allowed: frozenset[str] | None
    forbidden: frozenset[str]
    under: dict[str, frozenset[Any]]
    barred: dict[str, frozenset[Any]]
    high: int | None
    failing: frozenset[tuple[str, Hashable]]
    parts: list[Part]


NO_VALUE = Marks(frozenset(), frozenset(), frozenset(), None, frozenset(), {}, {}, None, frozenset(), [])


def marks_of(context: Context, schema: Any, path: Any) -> Marks:
    """Marks of one alternative; what the choices inside it say is left out."""

    def make() -> Marks:
        conjunction = conjunction_of(context, [(schema, path)])
        return NO_VALUE if conjunction.false_at is not None else marks_of_parts(context, conjunction.parts)

    if type(schema) is bool:
        return marks_of_parts(context, []) if schema else NO_VALUE
    return context.synthetic(("marks", context.identity(schema, path)), make)


def marks_of_parts(context: Context, parts: list[Part]) -> Marks:
    """Marks of everything that fulfils the own keywords of all `parts`."""
    context.count_work(len(parts) // 4)
    spend(len(parts))
    types = frozenset("number" if name == "integer" else name for name in types_of(parts))
    values = _common_values(context, parts)
    if values is not None:
        types &= {key[0] for key in values}
    required = required_by(parts)
    allowed: frozenset[str] | None = None
    forbidden: set[str] = set()
    under: dict[str, frozenset[Any]] = {}
    barred: dict[str, frozenset[Any]] = {}
    high: int | None = None
    failing: set[tuple[str, Hashable]] = set()
    subjects = [part for part in parts if part[2].has_object]
    for part, at, _ in subjects:
        properties = part.get("properties", {})
        spend(len(properties) // 8)
        if "maxProperties" in part:
            high = part["maxProperties"] if high is None else min(high, part["maxProperties"])
        if part.get("additionalProperties") is False and "patternProperties" not in part:
            allowed = frozenset(properties) if allowed is None else allowed & properties.keys()
        for name, member in properties.items():
            if type(member) is not dict:
                if member is False:
                    forbidden.add(name)
                continue
            at_name = (at, "properties", name)
            if len(member) == 1 and NOT in member:
                failing.add((name, same_schema(context, *member[NOT])))
            found, refused = listed_under(context, member, at_name)
            if found is not None:
                under[name] = found & under.get(name, found)
            if refused:
                barred[name] = refused | barred.get(name, refused)
    for name, values_under in under.items():
        under[name] = values_under - barred.get(name, frozenset())
        if not under[name]:
            forbidden.add(name)
    forbidden.update(_contradicted(context, subjects, failing))
    if required.keys() & forbidden or (allowed is not None and not required.keys() <= allowed):
        types -= {"object"}
    return Marks(
        types,
        values,
        frozenset(required),
        allowed,
        frozenset(forbidden),
        under,
        barred,
        high,
        frozenset(failing),
        subjects,
    )


def _contradicted(context: Context, parts: list[Part], failing: Collection[tuple[str, Hashable]]) -> list[str]:
    """Keys whose values fulfil by some parts what they do not fulfil."""
    return [
        name
        for name, refused in failing
        for part, at, _ in parts
        if type(member := part.get("properties", {}).get(name)) is dict
        and same_schema(context, member, (at, "properties", name)) == refused
    ]


def listed_under(context: Context, member: dict[Any, Any], at: Path) -> tuple[frozenset[Any] | None, frozenset[Any]]:
    """Keys of the only values that a property may have, or None; and of values that it has not."""
    if len(member) == 1 and NOT in member:
        refused, refused_at = member[NOT]
        shape = context.shape(refused, refused_at)
        if shape.has_values and shape.is_plain and len(shape.checks) == 1:
            return None, _common_values(context, [(refused, refused_at, shape)]) or frozenset()
        return None, frozenset()
    shape = context.shape(member, at)
    found = _common_values(context, [(member, at, shape)]) if shape.has_values else None
    if shape.has_except:
        return found, frozenset(equality_key(value, at) for value in member[EXCEPT])
    return found, frozenset()


def _common_values(context: Context, parts: list[Part]) -> frozenset[Any] | None:
    found: frozenset[Any] | None = None
    for part in parts:
        values = allowed_values(part)
        if values is not None:
            keys = frozenset(equality_key(value, part[1]) for value in values)
            found = keys if found is None else found & keys
    return found


def exclude_each_other(context: Context, one: Marks, other: Marks) -> bool:
    """Whether two alternatives share no value, as far as their marks tell."""
    if one.values is not None and other.values is not None and not one.values & other.values:
        return True
    shared = one.types & other.types
    return not shared or (shared == {"object"} and _objects_differ(context, one, other))


def _objects_differ(context: Context, one: Marks, other: Marks) -> bool:
    if one.required & other.forbidden or other.required & one.forbidden:
        return True
    if one.failing or other.failing:
        wrong = _contradicted(context, one.parts, other.failing) + _contradicted(context, other.parts, one.failing)
        if any(name in one.required or name in other.required for name in wrong):
            return True
    if one.high is not None or other.high is not None:
        highs = [high for high in (one.high, other.high) if high is not None]
        if len(one.required | other.required) > min(highs):
            return True
    if other.allowed is not None and not one.required <= other.allowed:
        return True
    if one.allowed is not None and not other.required <= one.allowed:
        return True
    return any(
        _no_value_is_left(one, other, name)
        for name in (*one.under, *other.under)
        if name in one.required or name in other.required
    )


def _no_value_is_left(one: Marks, other: Marks, name: str) -> bool:
    """Whether the lists of both leave no value under a key."""
    left = one.under.get(name, other.under.get(name, frozenset()))
    left &= other.under.get(name, left)
    return not left - one.barred.get(name, frozenset()) - other.barred.get(name, frozenset())


# --- pairs

MAX_DISCRIMINATORS = 4  # keys that an index is made for; each has a list of all that lack it


def pairs_left(context: Context, schemas: list[SchemaAt], parts: Sequence[Part] = ()) -> Iterator[tuple[int, int]]:
    """Pairs of positions, the smaller first and in order, whose marks do not tell them apart in a type of `parts`."""
    marks = [marks_of(context, schema, path) for schema, path in schemas]
    if parts:
        types = marks_of_parts(context, list(parts)).types
        marks = [one._replace(types=one.types & types) for one in marks]
    index = _Index(marks)
    for at, one in enumerate(marks):
        for other in index.beyond(at):
            context.count_work()
            if not exclude_each_other(context, one, marks[other]):
                yield at, other


class _Index:
    """Alternatives by their marks: for one of them, a short list that holds all that may share a value with it."""

    def __init__(self, marks: list[Marks]) -> None:
        self.marks = marks
        self.by_type: dict[str, list[int]] = {}
        self.by_value: dict[Any, list[int]] = {}
        self.without_values: list[int] = []
        self.by_key: dict[str, list[int]] = {}  # those to which a key is open because it is listed
        self.open: list[int] = []
        self.by_member: dict[str, dict[Any, list[int]]] = {}  # key, then value under it
        n_under: dict[str, int] = {}
        for at, (types, values, required, allowed, _, under, *_) in enumerate(marks):
            for name in types:
                self.by_type.setdefault(name, []).append(at)
            if values is None:
                self.without_values.append(at)
            for value in values or ():
                self.by_value.setdefault(value, []).append(at)
            if allowed is None:
                self.open.append(at)
            for name in allowed or ():
                self.by_key.setdefault(name, []).append(at)
            for name, members in under.items():
                if name not in required:
                    continue
                n_under[name] = n_under.get(name, 0) + 1
                by_value = self.by_member.setdefault(name, {})
                for value in members:
                    by_value.setdefault(value, []).append(at)
        most = max(n_under.values(), default=0)
        self.discriminators = [name for name, n in n_under.items() if n == most][:MAX_DISCRIMINATORS]
        self.undiscriminated = {
            name: [at for at, one in enumerate(marks) if name not in one.under or name not in one.required]
            for name in self.discriminators
        }

    def beyond(self, at: int) -> list[int]:
        """Positions after `at` that may share a value with it, ascending; others are excluded by their marks."""
        types, values, required, _, _, under, *_ = self.marks[at]
        ways = [[self.by_type[name] for name in types]]
        if values is not None:
            ways.append([self.without_values, *(self.by_value[value] for value in values)])
        if types == {"object"}:
            if required:
                # objects to which one required key is open; the one that the fewest have
                fewest = min(required, key=lambda name: len(self.by_key.get(name, ())))
                ways.append([self.open, self.by_key.get(fewest, [])])
            for name in self.discriminators:
                if name in under and name in required:
                    others = self.by_member[name]
                    ways.append([self.undiscriminated[name], *(others[value] for value in under[name])])
        best = min(ways, key=lambda lists: sum(map(len, lists)))
        found: set[int] = set()
        for positions in best:
            found.update(positions)
        return sorted(position for position in found if position > at)
