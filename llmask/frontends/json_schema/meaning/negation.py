"""`not`: what must hold instead of a schema, keyword by keyword.

A schema is the conjunction of its keywords, so its negation is a choice: one alternative for each keyword that may
fail. Each alternative is written as a schema again, with internal keywords where JSON Schema has none
(`keywords.Internal`), so negation is closed: what is made here is flattened, merged and negated like what was read.

    not {"type": "string", "minLength": 3}  =  any of  {"type": every other type}, {"type": "string", "maxLength": 2}
    not {"properties": {"a": S}}            =  {"type": "object", "required": ["a"], "properties": {"a": not S}}
    not {"additionalProperties": S}         =  some key that is not declared has a value that S does not allow
    not {"anyOf": [S, T]}                   =  all of  not S, not T

Subschemas are negated when they are reached, and once each, so recursion costs nothing. Source: M. A. Baazizi,
D. Colazzo, G. Ghelli, C. Sartiani, S. Scherzinger, "Negation-closure for JSON Schema", arXiv 2202.13434.

In: a schema and its place. Out: schemas, and at least one of them holds exactly where the given one does not.
Cost: a microsecond or two a keyword, once for each schema.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Set
from typing import Any

from llmask.work import spend

from ..reading.keywords import (
    ALL_OF,
    ANY_OF,
    COUNTED,
    EVERY_KEY,
    EXCEPT,
    FOLLOWED,
    NO_FORMAT,
    NO_INTEGER,
    NO_MULTIPLE,
    NO_PATTERN,
    NOT,
    NOT_UNIQUE,
    PREFIX,
    SOME_KEY,
    SPELLED,
    Internal,
    Shape,
)
from ..reading.pointers import Path
from .array_layout import counted_of, items_of
from .context import Context
from .evaluated import cases_of
from .place import ALL_TYPES, Part, SchemaAt, members_of, required_by
from .scalars import format_of
from .synthetic import KeySet, all_of, negated, schema_of_value

GATHERED_WORK = 10  # units for each schema that one takes in, the first two left aside
Negation = Callable[[Context, dict[Any, Any], Path, Shape], Iterator[SchemaAt]]


def negations(context: Context, schema: dict[Any, Any], path: Path, held: Set[Hashable]) -> list[SchemaAt]:
    """Schemas, and at least one of them holds exactly where `schema` does not; none when it always holds.

    `held` are the identities of schemas that hold anyway: what `schema` takes in of them cannot fail.
    """
    identity = context.identity(schema, path)
    together = context.synthetic(("gathered", identity), lambda: gathered(context, schema, path))
    left = [(one, at, shape) for one, at, shape in together if context.identity(one, at) not in held]
    key: Hashable = ("negations", identity)
    if len(left) < len(together):
        key = ("negations of", *(context.identity(one, at) for one, at, _ in left))
    return context.synthetic(key, lambda: _negations(context, left, path))


def _negations(context: Context, together: list[Part], path: Path) -> list[SchemaAt]:
    if len(together) == 1 and together[0][2].has_unevaluated:
        schema, at, _ = together[0]
        return [_none_of(context, cases_of(context, schema, at), path)]
    found, told = _told_apart(context, together)
    others: list[SchemaAt] = []
    for one, at, shape in together:
        makers: dict[Negation, None] = {}  # keywords that belong together are negated together
        for keyword, _, _ in shape.checks:
            maker = NEGATIONS.get(keyword)
            if maker is None and keyword not in WITHOUT_NEGATION:
                assert type(keyword) is str, f"{keyword} is written by this translation, which cannot negate it"
                context.refuse(keyword, at, f'the negation of "{keyword}" is not known')
            if maker is not None and maker not in makers:
                makers[maker] = None
                context.count_work()
                others.extend(maker(context, one, at, shape))
    others.extend(_properties(context, together, told))
    if found:
        others = [all_of(context, [member, (told, path)], path) for member in others]
    return found + others


def gathered(context: Context, schema: dict[Any, Any], path: Path) -> list[Part]:
    """A schema, and all that it takes in by `$ref` and `allOf`: they fail where one of them does."""
    found: list[Part] = []
    seen: set[Hashable] = set()
    waiting: list[SchemaAt] = [(schema, path)]
    while waiting:
        one, at = waiting.pop()
        if type(one) is bool:
            if not one:
                found.append(({ANY_OF: []}, at, context.shape({ANY_OF: []}, at)))
            continue
        identity = context.identity(one, at)
        if identity in seen:
            continue
        seen.add(identity)
        shape = context.shape(one, at)
        if shape.has_unevaluated and found:
            whole = {ALL_OF: [(one, at)]}
            found.append((whole, at, context.shape(whole, at)))
            continue
        found.append((one, at, shape))
        if shape.has_unevaluated:
            break  # its cases hold what it takes in
        waiting += context.targets(one, at, shape)
        if "allOf" in shape.in_place:
            waiting += members_of(one, at, "allOf")
    spend(GATHERED_WORK * max(len(found) - 2, 0))
    return found


def _told_apart(context: Context, together: list[Part]) -> tuple[list[SchemaAt], dict[Any, Any]]:
    """Properties with listed values, which tell alternatives apart: how they fail, and the schema that they hold.

    What follows is written beside that schema: so each alternative says which of the listed values is there, and
    beside another one of those it is known at once to allow nothing.
    """
    required = required_by(together)
    kept: dict[str, Any] = {}
    failing: list[SchemaAt] = []
    for one, path, shape in together:
        for name, member in one.get("properties", {}).items() if shape.has_object else ():
            if name in kept or type(member) is not dict:
                continue
            at = (path, "properties", name)
            listed = context.shape(member, at)
            if listed.has_values and listed.is_plain:
                wrong = _wrong(context, name, member, at, name in required)
                spend(len(kept) // 8)
                told = {"required": [other for other in kept if other in required], "properties": dict(kept)}
                failing.append(all_of(context, [wrong, (told, path)], path) if kept else wrong)
                kept[name] = member
    return failing, {"required": [name for name in kept if name in required], "properties": kept}


def _wrong(context: Context, name: str, member: Any, at: Path, is_required: bool) -> SchemaAt:
    """A property has a wrong value; when it is required, its absence is part of the same alternative."""
    value, _ = negated(context, member, at)
    if is_required:
        return {"type": "object", "properties": {name: value}}, at
    return {"type": "object", "required": [name], "properties": {name: value}}, at


def _one(make: Callable[[Context, dict[Any, Any], Path], SchemaAt]) -> Negation:
    """Negates a keyword by one schema."""
    return lambda context, schema, path, shape: iter((make(context, schema, path),))


def _opposite(kind: str, keyword: Any, opposite: Any) -> Negation:
    """Negates a keyword of one type by another one that asks the contrary of the same value."""
    return _one(lambda context, schema, path: ({"type": kind, opposite: schema[keyword]}, path))


def _opposite_keys(keyword: Internal, opposite: Internal) -> Negation:
    """Negates what is said of a set of keys."""

    def make(context: Context, schema: dict[Any, Any], path: Path) -> SchemaAt:
        keys, member = schema[keyword]
        return {"type": "object", opposite: (keys, negated(context, *member))}, path

    return _one(make)


def _none_of(context: Context, schemas: list[SchemaAt], path: Path) -> SchemaAt:
    return {ALL_OF: [negated(context, *member) for member in schemas]}, path


def _counts(kind: str, least: str, greatest: str) -> Negation:
    """Negates bounds of a number of parts."""

    def negation(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
        if schema.get(least, 0) > 0:
            yield {"type": kind, greatest: int(schema[least]) - 1}, path
        if greatest in schema:
            yield {"type": kind, least: int(schema[greatest]) + 1}, path

    return negation


_LENGTHS = _counts("string", "minLength", "maxLength")
_NUMBERS_OF_ITEMS = _counts("array", "minItems", "maxItems")
_NUMBERS_OF_KEYS = _counts("object", "minProperties", "maxProperties")


# --- any type


def _type(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    named = [schema["type"]] if type(schema["type"]) is str else schema["type"]
    others = [name for name in ALL_TYPES if name not in named]
    if "integer" in named and "number" not in named:
        others.remove("number")
        yield {"type": "number", NO_INTEGER: True}, path
    if others:
        yield {"type": others}, path


def _values(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    for keyword in ("enum", "const"):
        if (keyword == "const" and not shape.has_const) or keyword not in schema:
            continue
        values = schema[keyword] if keyword == "enum" else [schema[keyword]]
        at = (path, keyword)
        # objects in any order are told apart by their members, one by one, as arrays are
        divided = (dict, list) if context.options.property_order != "schema" else (list,)
        excepted = [value for value in values if type(value) not in divided]
        others: list[SchemaAt] = [({EXCEPT: excepted}, at)] if excepted else []
        structures = [schema_of_value(context, value, at) for value in values if type(value) in divided]
        others += [negated(context, structure, at) for structure in structures]
        if len(others) == 1:
            yield others[0]
        else:
            yield {ALL_OF: others}, at


def _except(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    yield ({EXCEPT: [schema[SPELLED]]} if SPELLED in schema else {"enum": schema[EXCEPT]}), path


# --- other schemas of the same value


def _one_of(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    schemas = members_of(schema, path, "oneOf")
    yield _none_of(context, schemas, path)
    for one, other in context.overlapping(schemas):
        yield {ALL_OF: [schemas[one], schemas[other]]}, path


def _if(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    condition: SchemaAt = (schema["if"], (path, "if"))
    if "then" in schema:
        yield {ALL_OF: [condition, negated(context, schema["then"], (path, "then"))]}, path
    if "else" in schema:
        otherwise = negated(context, schema["else"], (path, "else"))
        yield {ALL_OF: [negated(context, *condition), otherwise]}, path


def _dependent(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    for keyword in ("dependentSchemas", "dependentRequired", "dependencies"):
        if keyword not in shape.in_place:
            continue
        for name, needed in schema[keyword].items():
            if type(needed) is list:
                for other in needed:
                    yield {"type": "object", "required": [name], "properties": {other: False}}, (path, keyword, name)
            else:
                there: SchemaAt = ({"type": "object", "required": [name]}, path)
                yield {ALL_OF: [there, negated(context, needed, (path, keyword, name))]}, path


# --- strings


def _format(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    name = format_of(context, schema, path)
    if name is not None:
        yield {"type": "string", NO_FORMAT: name}, path


# --- numbers


def _bounds(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    for bound, open_bound, beyond, open_beyond in (
        ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"),
        ("maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    ):
        exclusive = schema.get(open_bound)
        if bound in schema:
            is_open = exclusive is True  # as in draft 4
            yield {"type": "number", beyond if is_open else open_beyond: schema[bound]}, path
        if exclusive is not None and type(exclusive) is not bool:
            yield {"type": "number", beyond: exclusive}, path


# --- arrays


def _items(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    prefix, other = items_of(context, schema, path)
    anything: SchemaAt = (True, path)
    for index, (member, at) in enumerate(prefix):
        if member is not True:
            first = [anything] * index
            spend(index // 8)
            yield {"type": "array", "minItems": index + 1, PREFIX: [*first, negated(context, member, at)]}, path
    if other[0] is not True:
        yield {"type": "array", COUNTED: (len(prefix), negated(context, *other), 1, None)}, path


def _counted(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    for first, member, least, greatest in counted_of(context, schema, path, shape):
        if least > 0:
            yield {"type": "array", COUNTED: (first, member, 0, least - 1)}, path
        if greatest is not None:
            yield {"type": "array", COUNTED: (first, member, greatest + 1, None)}, path


def _unique(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    if schema["uniqueItems"]:
        yield {"type": "array", NOT_UNIQUE: True}, path


# --- objects


def _properties(context: Context, together: list[Part], told: dict[Any, Any]) -> Iterator[SchemaAt]:
    """Declared properties that have a wrong value, required ones that are absent."""
    listed = told["properties"]
    required = required_by(together)
    covered = set(listed)  # names whose absence is part of an alternative, where it matters
    for one, path, shape in together:
        for name, member in one.get("properties", {}).items() if shape.has_object else ():
            if member is not True and member is not listed.get(name):
                covered.add(name)
                yield _wrong(context, name, member, (path, "properties", name), name in required)
    for one, path, shape in together:
        for name in one.get("required", ()) if shape.has_object else ():
            if name not in covered:
                yield {"type": "object", "properties": {name: False}}, path


def _other_keys(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    patterns = schema.get("patternProperties", {})
    for pattern, member in patterns.items():
        if member is not True:
            at = (path, "patternProperties", pattern)
            yield {"type": "object", SOME_KEY: (KeySet(path, pattern=pattern), negated(context, member, at))}, path
    if schema.get("additionalProperties", True) is not True:
        others = KeySet(path, tuple(schema.get("properties", ())), tuple(patterns))
        member_at = negated(context, schema["additionalProperties"], (path, "additionalProperties"))
        yield {"type": "object", SOME_KEY: (others, member_at)}, path


def _names(context: Context, schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[SchemaAt]:
    refused = KeySet(path, refused_by=(schema["propertyNames"], (path, "propertyNames")))
    yield {"type": "object", SOME_KEY: (refused, (True, path))}, path


NEGATIONS: dict[Any, Negation] = {
    "type": _type, "enum": _values, "const": _values, EXCEPT: _except, SPELLED: _except,
    "anyOf": _one(lambda context, schema, path: _none_of(context, members_of(schema, path, "anyOf"), path)),
    ANY_OF: _one(lambda context, schema, path: _none_of(context, schema[ANY_OF], path)),
    ALL_OF: lambda context, schema, path, shape: (negated(context, *member) for member in schema[ALL_OF]),
    "oneOf": _one_of, "if": _if,
    "not": _one(lambda context, schema, path: (schema["not"], (path, "not"))),
    NOT: _one(lambda context, schema, path: schema[NOT]),
    "dependentSchemas": _dependent, "dependentRequired": _dependent, "dependencies": _dependent,
    "minLength": _LENGTHS, "maxLength": _LENGTHS,
    "pattern": _opposite("string", "pattern", NO_PATTERN), NO_PATTERN: _opposite("string", NO_PATTERN, "pattern"),
    "format": _format, NO_FORMAT: _opposite("string", NO_FORMAT, "format"),
    "minimum": _bounds, "maximum": _bounds, "exclusiveMinimum": _bounds, "exclusiveMaximum": _bounds,
    "multipleOf": _opposite("number", "multipleOf", NO_MULTIPLE),
    NO_MULTIPLE: _opposite("number", NO_MULTIPLE, "multipleOf"),
    NO_INTEGER: _one(lambda context, schema, path: ({"type": "integer"}, path)),
    "items": _items, "additionalItems": _items, "prefixItems": _items, PREFIX: _items,
    "minItems": _NUMBERS_OF_ITEMS, "maxItems": _NUMBERS_OF_ITEMS, "contains": _counted, COUNTED: _counted,
    "uniqueItems": _unique, NOT_UNIQUE: _opposite("array", NOT_UNIQUE, "uniqueItems"),
    "patternProperties": _other_keys, "additionalProperties": _other_keys, "propertyNames": _names,
    "minProperties": _NUMBERS_OF_KEYS, "maxProperties": _NUMBERS_OF_KEYS,
    SOME_KEY: _opposite_keys(SOME_KEY, EVERY_KEY), EVERY_KEY: _opposite_keys(EVERY_KEY, SOME_KEY),
}  # fmt: skip

_TAKEN_IN = "`gathered` takes in what it names or lists, which is negated beside the schema"
_OF_OBJECTS = "`_properties` negates it, for all schemas that hold together"
_OF_CASES = "the cases of such a schema are negated, which hold it (`evaluated.cases_of`)"
# Keywords without an entry above, and why. Any other keyword is refused where it is negated.
WITHOUT_NEGATION: dict[Any, str] = {
    "$ref": _TAKEN_IN, "$dynamicRef": _TAKEN_IN, "$recursiveRef": _TAKEN_IN, "allOf": _TAKEN_IN,
    "properties": _OF_OBJECTS, "required": _OF_OBJECTS,
    "unevaluatedProperties": _OF_CASES, "unevaluatedItems": _OF_CASES,
    "then": '"if" negates it, and without it asserts nothing',
    "else": '"if" negates it, and without it asserts nothing',
    "minContains": '"contains" negates it, and without it asserts nothing',
    "maxContains": '"contains" negates it, and without it asserts nothing',
    "$defs": "it asserts nothing", "definitions": "it asserts nothing", FOLLOWED: "it asserts nothing",
}  # fmt: skip
