"""`oneOf` with many alternatives: which pairs still have to be proved to exclude each other.

Real lists of alternatives tell their members apart by type, by a constant under a required key, or by keys that one
requires and the other forbids. Those three are read off each alternative once; two whose marks differ exclude each
other, and only the pairs that are left go to the proof of `alternatives.py`. An index by mark finds them without
looking at all pairs, so 11,000 alternatives with a discriminator cost 11,000 steps and not 60 million.

    excluded  iff  for each type of both: their sets of values differ, or (objects) one requires a key that is closed
                   to the other, or under some key that both require their sets of values differ

In: the schemas of a choice. Out: pairs of positions, in order. Cost: about 20 us an alternative, and the pairs found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.frontends.json_schema.conjunction import Part, SchemaAt, conjunction_of
from llmask.frontends.json_schema.instances import allowed_values, equality_key
from llmask.frontends.json_schema.types import types_of

if TYPE_CHECKING:
    from llmask.frontends.json_schema.translation import Translation

MAX_DISCRIMINATORS = 4  # keys that an index is made for; each has a list of all that lack it


class Marks(NamedTuple):
    """What every value that fulfils an alternative has in common.

    types     of the value; "number" also for integers
    values    keys of the only values there may be, or None
    required  keys that an object must have
    allowed   keys that an object may have, or None for any
    forbidden keys that an object must not have
    under     for a required key, keys of the only values there may be under it
    """

    types: frozenset[str]
    values: frozenset[Any] | None
    required: frozenset[str]
    allowed: frozenset[str] | None
    forbidden: frozenset[str]
    under: dict[str, frozenset[Any]]


NO_VALUE = Marks(frozenset(), frozenset(), frozenset(), None, frozenset(), {})


def marks_of(translation: Translation, schema: Any, path: Any) -> Marks:
    """Marks of one alternative; those of the choices inside it are left out."""

    def make() -> Marks:
        conjunction = conjunction_of(translation, [(schema, path)])
        return NO_VALUE if conjunction.false_at is not None else marks_of_parts(translation, conjunction.parts)

    if type(schema) is bool:
        return marks_of_parts(translation, []) if schema else NO_VALUE
    found: Marks = translation.synthetic(("marks", translation.identity(schema, path)), make)
    return found


def marks_of_parts(translation: Translation, parts: list[Part]) -> Marks:
    """Marks of everything that fulfils the own keywords of all `parts`."""
    types = frozenset("number" if name == "integer" else name for name in types_of(parts))
    values = _common_values(translation, parts)
    if values is not None:
        types &= {key[0] for key in values}
    required = {name for part, _, shape in parts if shape.has_object for name in part.get("required", ())}
    allowed: frozenset[str] | None = None
    forbidden: set[str] = set()
    under: dict[str, frozenset[Any]] = {}
    for part, at, shape in parts:
        if not shape.has_object:
            continue
        properties = part.get("properties", {})
        if part.get("additionalProperties") is False and "patternProperties" not in part:
            allowed = frozenset(properties) if allowed is None else allowed & properties.keys()
        forbidden.update([name for name, member in properties.items() if member is False])
        for name in required & properties.keys():
            member = properties[name]
            if type(member) is dict:
                member_at = (at, "properties", name)
                found = _common_values(translation, [(member, member_at, translation.shape(member, member_at))])
                if found is not None:
                    under[name] = found & under.get(name, found)
    if required & forbidden or (allowed is not None and not required <= allowed):
        types -= {"object"}
    return Marks(types, values, frozenset(required), allowed, frozenset(forbidden), under)


def _common_values(translation: Translation, parts: list[Part]) -> frozenset[Any] | None:
    found: frozenset[Any] | None = None
    for part in parts:
        values = allowed_values(part)
        if values is not None:
            keys = frozenset(equality_key(value, part[1]) for value in values)
            found = keys if found is None else found & keys
    return found


def exclude_each_other(one: Marks, other: Marks) -> bool:
    """Whether two alternatives share no value, as far as their marks tell."""
    if one.values is not None and other.values is not None and not one.values & other.values:
        return True
    shared = one.types & other.types
    return not shared or (shared == {"object"} and _objects_differ(one, other))


def _objects_differ(one: Marks, other: Marks) -> bool:
    if one.required & other.forbidden or other.required & one.forbidden:
        return True
    if other.allowed is not None and not one.required <= other.allowed:
        return True
    if one.allowed is not None and not other.required <= one.allowed:
        return True
    under = other.under
    return any(name in under and not values & under[name] for name, values in one.under.items())


def pairs_left(translation: Translation, schemas: list[SchemaAt]) -> Iterator[tuple[int, int]]:
    """Pairs of positions, the smaller first and in order, whose marks do not tell them apart."""
    marks = [marks_of(translation, schema, path) for schema, path in schemas]
    index = _Index(marks)
    for at, one in enumerate(marks):
        for other in index.beyond(at):
            translation.count_work()
            if not exclude_each_other(one, marks[other]):
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
        for at, (types, values, _, allowed, _, under) in enumerate(marks):
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
                n_under[name] = n_under.get(name, 0) + 1
                by_value = self.by_member.setdefault(name, {})
                for value in members:
                    by_value.setdefault(value, []).append(at)
        most = max(n_under.values(), default=0)
        self.discriminators = [name for name, n in n_under.items() if n == most][:MAX_DISCRIMINATORS]
        self.undiscriminated = {
            name: [at for at, one in enumerate(marks) if name not in one.under] for name in self.discriminators
        }

    def beyond(self, at: int) -> list[int]:
        """Positions after `at` that may share a value with it, ascending; others are excluded by their marks."""
        types, values, required, _, _, under = self.marks[at]
        ways = [[self.by_type[name] for name in types]]
        if values is not None:
            ways.append([self.without_values, *(self.by_value[value] for value in values)])
        if types == {"object"}:
            if required:
                # objects to which one required key is open; the one that the fewest have
                fewest = min(required, key=lambda name: len(self.by_key.get(name, ())))
                ways.append([self.open, self.by_key.get(fewest, [])])
            for name in self.discriminators:
                if name in under:
                    others = self.by_member[name]
                    ways.append([self.undiscriminated[name], *(others[value] for value in under[name])])
        best = min(ways, key=lambda lists: sum(map(len, lists)))
        found: set[int] = set()
        for positions in best:
            found.update(positions)
        return sorted(position for position in found if position > at)
