"""`unevaluatedProperties` and `unevaluatedItems`: one case for each way in which the keywords beside them can hold.

What is evaluated depends on which alternatives hold, so the schema becomes a choice of cases. In each case that is
known, and there the keywords are `additionalProperties` and `items` beside all names, patterns and first items that
the case evaluates. Of an `anyOf` the cases are its subsets; that other alternatives may hold as well needs no
exclusion, as then more is evaluated, which is a case of its own. Source: JSON Schema 2020-12 core, sections 11.2, 11.3
and 7.7.1; `contains` evaluates items since 2020-12.

The option `closed` is the same question: objects whose schemas declare keys, and say nothing of others, take no others.
It is decided for a place of a document, not for a schema object, as one place may be described by several (`allOf`,
`$ref`, `anyOf`, `if`): what each way of their alternatives declares is allowed there, which is what
`"unevaluatedProperties": false` at the outermost of them says. So documents are always valid for the schema as it is
written, too; only fewer are. A way stays as it is where it declares no key (`{"type": "object"}` is any object), where
it speaks of other keys (`additionalProperties`, `patternProperties`, `unevaluatedProperties`), or lists values.
What is negated (`not`, an `if` that fails) declares nothing.

In: a schema with one of the keywords and its place, or the schemas of a place. Out: schemas, and at least one of them
holds exactly where it does; schemas of the same place. Cost: about 10 us a case, a dictionary access for what was seen
before; `limits.max_schema_cases` bounds the product of the choices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.errors import LimitExceeded
from llmask.work import spend

from ..reading.keywords import ALL_OF, ANY_DRAFT, ANY_OF, DRAFT_2020, NOT, PREFIX, Shape
from ..reading.pointers import Path, pointer
from .array_layout import items_of
from .context import Context, circle
from .place import SchemaAt, members_of
from .synthetic import negated


class Case(NamedTuple):
    """Schemas that hold together, and what they evaluate.

    names, patterns : keys with a schema of their own; all_keys : every key has one.
    n_items : first items that have a schema; all_items : every item has one; contained : schemas of `contains`.
    declares : keys are declared, be it none.
    """

    schemas: tuple[SchemaAt, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    all_keys: bool = False
    n_items: int = 0
    all_items: bool = False
    contained: tuple[SchemaAt, ...] = ()
    declares: bool = False

    def and_(self, other: Case) -> Case:
        """Both hold."""
        return Case(
            self.schemas + other.schemas,
            self.names | other.names,
            self.patterns | other.patterns,
            self.all_keys or other.all_keys,
            max(self.n_items, other.n_items),
            self.all_items or other.all_items,
            self.contained + other.contained,
            self.declares or other.declares,
        )

    @property
    def evaluates(self) -> tuple[Any, ...]:
        """What is evaluated, to compare."""
        return (*self[1:6], frozenset(id(schema) for schema, _ in self.contained), self.declares)


NOTHING_HELD = Case()
VISIT_WORK = 8  # units for a schema, besides the units of its alternatives


def cases_of(context: Context, schema: dict[Any, Any], path: Path) -> list[SchemaAt]:
    """Schemas, and at least one of them holds exactly where `schema` does.

    Raises
    ------
    LimitExceeded
        When there are more than `limits.max_schema_cases`.
    """

    def make() -> list[SchemaAt]:
        return [({ALL_OF: list(case.schemas)}, path) for case in _Cases(context).of(schema, path)]

    return context.synthetic(("cases", context.identity(schema, path)), make)


def cases_of_all(context: Context, schemas: list[SchemaAt]) -> list[Case]:
    """The ways in which all of `schemas` hold together, and what each evaluates; errors as `cases_of` has them."""
    cases = _Cases(context)
    found = [NOTHING_HELD]
    for schema, path in schemas:
        found = cases.product(found, cases.of(schema, path), path)
    return found


def without_others(case: Case, member: Any, path: Path) -> Case:
    """The case in which keys that it does not evaluate must fulfil `member`."""
    rest = {
        "properties": dict.fromkeys(sorted(case.names), True),
        "patternProperties": dict.fromkeys(sorted(case.patterns), True),
        "additionalProperties": member,
    }
    return case._replace(schemas=(*case.schemas, (rest, path)))


class _Cases:
    """One expansion, with the schemas that it is inside of."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.open: list[Any] = []
        self.known: dict[Any, tuple[Any, list[Case]]] = {}  # a schema that is in several places, and its cases

    def of(self, schema: Any, path: Path) -> list[Case]:
        context = self.context
        if type(schema) is bool:
            return [NOTHING_HELD] if schema else []
        shape = context.shape(schema, path)
        identity = context.identity(schema, path)
        if identity in self.known:
            return self.known[identity][1]
        if identity in self.open:
            raise circle(path)
        spend(VISIT_WORK)
        self.open.append(identity)
        context.check_depth(len(self.open), path)
        cases = [self._own(schema, path, shape)]
        for keyword in shape.in_place:
            if keyword == "" or keyword in ("unevaluatedProperties", "unevaluatedItems"):
                continue
            for choice in self._choices(keyword, schema, path, shape):
                cases = self.product(cases, choice, path)
        self.open.pop()
        cases = [self._finished(case, schema, path, shape) for case in cases]
        self.known[identity] = schema, cases
        return cases

    def product(self, cases: list[Case], choice: list[Case], path: Path) -> list[Case]:
        """Every case of the one with every case of the other."""
        context = self.context
        if len(cases) * len(choice) > context.options.limits.max_schema_cases:
            raise LimitExceeded(
                "unevaluatedProperties or unevaluatedItems must tell apart more than "
                f"{context.options.limits.max_schema_cases} cases (limits.max_schema_cases)",
                pointer(path),
                "Use fewer alternatives in anyOf beside it, or additionalProperties in each of them.",
            )
        context.count_work(len(cases) * len(choice))
        spend(sum(len(case.schemas) + len(case.names) for case in cases) * len(choice) // 16)
        return [one.and_(other) for one in cases for other in choice]

    def _own(self, schema: dict[Any, Any], path: Path, shape: Shape) -> Case:
        context = self.context
        in_place = {*shape.in_place, "then", "else"}
        own = {check[0]: schema[check[0]] for check in shape.checks if check[0] not in in_place}
        kept = context.synthetic(("own", context.identity(schema, path)), lambda: own)
        prefix, _ = items_of(context, schema, path)
        has_others = "items" in own and type(own["items"]) is not list
        has_others = has_others or ("additionalItems" in own and type(own.get("items")) is list)
        contained: tuple[SchemaAt, ...] = ()
        if "contains" in own and shape.draft in (ANY_DRAFT, DRAFT_2020):
            contained = ((own["contains"], (path, "contains")),)
        return Case(
            ((kept, path),) if own else (),
            frozenset(own.get("properties", ())),
            frozenset(own.get("patternProperties", ())),
            "additionalProperties" in own,
            len(prefix),
            has_others,
            contained,
            "properties" in own,
        )

    def _choices(self, keyword: Any, schema: dict[Any, Any], path: Path, shape: Shape) -> list[list[Case]]:
        """What a keyword that applies other schemas in place adds: lists of cases, one case of each list holds."""
        context = self.context
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            return [self.of(*context.target(keyword, schema, path))]
        if keyword == "allOf" or keyword is ALL_OF:
            members = schema[ALL_OF] if keyword is ALL_OF else members_of(schema, path, "allOf")
            return [self.of(*member) for member in members]
        if keyword == "anyOf" or keyword is ANY_OF:
            return [self._any_of(schema[ANY_OF] if keyword is ANY_OF else members_of(schema, path, "anyOf"))]
        if keyword == "not" or keyword is NOT:
            refused = schema[NOT] if keyword is NOT else (schema["not"], (path, "not"))
            return [[Case((negated(context, *refused),))]]
        if keyword == "oneOf":
            return [self._one_of(members_of(schema, path, "oneOf"))]
        if keyword == "if":
            condition: SchemaAt = (schema["if"], (path, "if"))
            holds = self.of(*condition)
            then = self.of(schema.get("then", True), (path, "then"))
            otherwise = self.of(schema.get("else", True), (path, "else"))
            fails = Case((negated(context, *condition),))
            return [[*self.product(holds, then, path), *(fails.and_(case) for case in otherwise)]]
        choices = []
        for name, needed in schema[keyword].items():
            absent = Case((({"properties": {name: False}}, path),))
            there = Case((({"type": "object", "required": [name]}, path),))
            if type(needed) is list:
                choices.append([absent, there.and_(Case((({"required": needed}, path),)))])
            else:
                cases = self.of(needed, (path, keyword, name))
                choices.append([absent, *(there.and_(case) for case in cases)])
        return choices

    def _any_of(self, schemas: list[SchemaAt]) -> list[Case]:
        """Subsets of the alternatives that evaluate something, and one case in which none of them need hold."""
        cases: list[Case] = []
        members: list[set[int]] = []  # of each case the alternatives that hold
        silent: list[SchemaAt] = []
        overlaps = self._overlaps(schemas)
        for at, member in enumerate(schemas):
            own = self.of(*member)
            if all(case.evaluates == NOTHING_HELD.evaluates for case in own):
                silent.append(member)
                continue
            beside = [n for n, held in enumerate(members) if held <= overlaps[at]]
            self.product([cases[n] for n in beside], own, member[1])
            for n in beside:
                for other in own:
                    case = cases[n].and_(other)
                    # a larger subset that evaluates no more allows nothing new
                    if case.evaluates not in (cases[n].evaluates, other.evaluates):
                        cases.append(case)
                        members.append({*members[n], at})
            cases += own
            members += [{at}] * len(own)
        if silent:
            cases.append(Case((({ANY_OF: silent}, silent[0][1]),)))
        return cases

    def _one_of(self, schemas: list[SchemaAt]) -> list[Case]:
        overlaps = self._overlaps(schemas)
        cases = []
        for at, member in enumerate(schemas):
            alone = Case(tuple(negated(self.context, *schemas[other]) for other in sorted(overlaps[at])))
            cases += [case.and_(alone) for case in self.of(*member)]
        return cases

    def _overlaps(self, schemas: list[SchemaAt]) -> list[set[int]]:
        """For each alternative the others that may hold with it."""
        overlaps: list[set[int]] = [set() for _ in schemas]
        for one, other in self.context.overlapping(schemas):
            overlaps[one].add(other)
            overlaps[other].add(one)
        return overlaps

    def _finished(self, case: Case, schema: dict[Any, Any], path: Path, shape: Shape) -> Case:
        """The case with what its unevaluated keywords ask of the rest."""
        if "unevaluatedProperties" in shape.in_place:
            if not case.all_keys:
                case = without_others(case, schema["unevaluatedProperties"], path)
            case = case._replace(all_keys=True)
        if "unevaluatedItems" in shape.in_place:
            if not case.all_items:
                member: SchemaAt = (schema["unevaluatedItems"], (path, "unevaluatedItems"))
                if case.contained:
                    member = ({ANY_OF: [*case.contained, member]}, path)
                others: dict[Any, Any] = {PREFIX: [(True, path)] * case.n_items, "items": member[0]}
                case = case._replace(schemas=(*case.schemas, (others, path)))
            case = case._replace(all_items=True)
        return case


# --- closed

NO_OTHERS = {"additionalProperties": False}
SPEAK_OF_OTHERS = ("additionalProperties", "patternProperties", "unevaluatedProperties")


def closed(context: Context, schemas: list[SchemaAt]) -> list[SchemaAt]:
    """The schemas of a place with what `closed=True` adds; the same ones without that option.

    Raises
    ------
    LimitExceeded
        When their alternatives can hold in more than `limits.max_schema_cases` ways.
    """
    if not context.options.closed or not schemas:
        return schemas
    key = ("closed", *[context.identity(schema, path) for schema, path in schemas])
    # the schemas are kept beside what is made of them, as they are known by their identity
    kept, found = context.synthetic(key, lambda: (schemas, _closed(context, schemas)))
    return schemas if found is kept else found  # of those that stay nothing becomes a rule of its own


def _closed(context: Context, schemas: list[SchemaAt]) -> list[SchemaAt]:
    if len(schemas) == 1:
        schema, path = schemas[0]
        if type(schema) is bool:
            return schemas
        shape = context.shape(schema, path)
        if shape.in_place == ("$ref",):
            return _closed_target(context, schemas)
        if shape.is_plain:
            is_open = not shape.has_values and not any(word in schema for word in SPEAK_OF_OTHERS)
            return [({**schema, **NO_OTHERS}, path)] if "properties" in schema and is_open else schemas
    cases = cases_of_all(context, schemas)
    if not any(_declares_all(context, case) for case in cases):
        return schemas
    path = schemas[0][1]
    ways: list[list[SchemaAt]] = [
        list(without_others(case, False, path).schemas if _declares_all(context, case) else case.schemas)
        for case in cases
    ]
    return ways[0] if len(ways) == 1 else [({ANY_OF: [({ALL_OF: way}, path) for way in ways]}, path)]


def _closed_target(context: Context, schemas: list[SchemaAt]) -> list[SchemaAt]:
    """The same for a bare reference: what it leads to is taken from elsewhere, so it becomes a rule of its own."""
    schema, path = context.followed(*schemas[0])
    if type(schema) is dict and context.shape(schema, path).in_place == ("$ref",):
        return schemas  # nothing but references: the translation says so
    target = [(schema, path)]
    found = closed(context, target)
    if found is target:
        return schemas
    key = ("closed target", context.identity(schema, path))
    return [(context.synthetic(key, lambda: {ALL_OF: found}), schemas[0][1])]


def _declares_all(context: Context, case: Case) -> bool:
    """Whether the keys that a case declares are all that it is to take."""
    if not case.declares or case.all_keys or case.patterns:
        return False
    return not any(type(schema) is dict and context.shape(schema, path).has_values for schema, path in case.schemas)
