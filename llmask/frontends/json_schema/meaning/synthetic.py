"""Schemas that the translation writes itself, as the negation of a schema or the schema of a value; which are alike.

They are made once each, so that a place that needs the same one again is known as the same place, and kept as long as
the translation, as places are known by the identity of their schemas.

In: a schema or a value. Out: a schema with internal keywords; something that schemas which allow the same share.
Cost: a microsecond; two a keyword for what a schema says, once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from llmask.work import spend

from ..reading.keywords import ALL_OF, ANY_OF, NOT, PREFIX, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP, SCHEMAS_IN_VALUE
from ..reading.pointers import Path
from .context import Context
from .place import SchemaAt


class KeySet(NamedTuple):
    """Keys of objects that fulfil everything that is said here.

    path : of the schema, for messages.
    without, without_patterns : none of these names, found by none of these patterns.
    pattern : found by it.
    refused_by : a schema that the key, as a string, does not fulfil.
    """

    path: Path
    without: tuple[str, ...] = ()
    without_patterns: tuple[str, ...] = ()
    pattern: str | None = None
    refused_by: SchemaAt | None = None


def negated(context: Context, schema: Any, path: Path) -> SchemaAt:
    """The schema that holds exactly where `schema` does not."""
    schema, path = context.followed(schema, path)
    if type(schema) is bool:
        return not schema, path
    if type(schema) is not dict:
        context.shape(schema, path)  # says what is wrong
    if len(schema) == 1 and NOT in schema:
        found: SchemaAt = schema[NOT]
        return found
    made = context.synthetic(("not", context.identity(schema, path)), lambda: {NOT: (schema, path)})
    return made, path


def all_of(context: Context, schemas: list[SchemaAt], path: Path) -> SchemaAt:
    """The schema that holds where all of `schemas` do."""
    key = ("all", *[context.identity(*schema) for schema in schemas])
    return context.synthetic(key, lambda: {ALL_OF: schemas}), path


def any_of(context: Context, schemas: list[SchemaAt], path: Path) -> SchemaAt:
    """The schema that holds where at least one of `schemas` does."""
    key = ("any", *[context.identity(*schema) for schema in schemas])
    return context.synthetic(key, lambda: {ANY_OF: schemas}), path


def of_types(context: Context, kinds: Sequence[str], path: Path) -> SchemaAt:
    """The schema of all values of some types."""
    return context.synthetic(("types", *kinds), lambda: {"type": list(kinds)}), path


def schema_of_value(context: Context, value: Any, path: Path) -> dict[Any, Any]:
    """The schema of an array or an object that allows nothing but this value: member by member."""

    def make() -> tuple[Any, dict[Any, Any]]:
        if type(value) is list:
            members = [({"enum": [member]}, path) for member in value]
            n = len(members)
            return value, {"type": "array", PREFIX: members, "minItems": n, "maxItems": n}
        properties = {name: {"enum": [member]} for name, member in value.items()}
        schema = {"properties": properties, "required": list(properties), "additionalProperties": False}
        return value, {"type": "object", **schema}

    # the value is kept beside its schema, as it is known by its identity
    return context.synthetic(("value", id(value)), make)[1]


# --- which allow the same

MAX_SPELLED = 500  # characters of a value that is compared by its text
MAX_DEPTH = 16  # schemas within schemas that are compared by what they say


def same_schema(context: Context, schema: Any, path: Path, depth: int = 0) -> Hashable:
    """Something that two schemas share only if they allow the same: they are compared by what they say."""
    schema, path = context.followed(schema, path)
    if type(schema) is bool:
        return schema
    if type(schema) is dict and len(schema) == 1 and NOT in schema:
        refused, at = schema[NOT]
        return NOT, same_schema(context, refused, at, depth)
    identity = context.identity(schema, path)
    known: dict[Hashable, Hashable] = context.synthetic(("same",), dict)
    if identity not in known and depth < MAX_DEPTH:
        known[identity] = identity  # where it leads back to itself
        said = _said(context, schema, path, depth + 1)
        if said is not None:
            known[identity] = known.setdefault(("said", *said), ("same", len(known)))
    return known.get(identity, identity)


def _said(context: Context, schema: dict[Any, Any], path: Path, depth: int) -> tuple[Hashable, ...] | None:
    """All that a schema says, its subschemas as `same_schema` tells them; None where that is not compared."""
    shape = context.shape(schema, path)
    if not shape.compared:
        return None
    said: list[Hashable] = [shape.draft]
    for keyword in shape.compared:
        value: Any = schema[keyword]
        members: list[tuple[Any, Any, Path]] = []
        if type(value) is list and keyword in SCHEMAS_IN_LIST:
            members = [(at, member, (path, keyword, at)) for at, member in enumerate(value)]
        elif type(value) is dict and keyword in SCHEMAS_IN_MAP:
            members = [(name, member, (path, keyword, name)) for name, member in value.items()]
        elif type(value) is dict and keyword in SCHEMAS_IN_VALUE:
            members = [("", value, (path, keyword))]
        spend(len(members))
        for name, member, at in members or [("", None, path)]:
            if type(member) is dict:
                said.append((keyword, name, same_schema(context, member, at, depth)))
                continue
            text = repr(member if members else value)
            if len(text) > MAX_SPELLED:
                return None
            said.append((keyword, name, text))
    return tuple(said)
