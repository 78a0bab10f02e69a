"""Schemas that the translation writes itself, as the negation of a schema or the schema of a value; which are alike.

They are made once each, so that a place that needs the same one again is known as the same place, and kept as long as
the translation, as places are known by the identity of their schemas.

In: a schema or a value. Out: a schema with internal keywords; something that schemas which allow the same share.
Cost: a microsecond.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from ..reading.keywords import ALL_OF, ANY_OF, NOT, PREFIX
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

MAX_SPELLED = 500  # characters of schemas that are compared by their text


def same_schema(context: Context, schema: Any, path: Path) -> Hashable:
    """Something that two schemas share only if they allow the same: small ones are compared by what they say."""
    schema, path = context.followed(schema, path)
    if type(schema) is bool:
        return schema
    if type(schema) is dict and len(schema) == 1 and NOT in schema:
        return NOT, same_schema(context, *schema[NOT])
    identity = context.identity(schema, path)
    return context.synthetic(("same", identity), lambda: _spelled(context, schema, path)) or identity


def _spelled(context: Context, schema: dict[Any, Any], path: Path) -> str:
    """The text of a schema that applies no others, without annotations; "" for other schemas, and for long ones."""
    shape = context.shape(schema, path)
    if not shape.is_plain or shape.has_object or shape.has_array:
        return ""
    text = repr(sorted((str(keyword), schema[keyword]) for keyword, _, _ in shape.checks))
    return text if len(text) <= MAX_SPELLED else ""
