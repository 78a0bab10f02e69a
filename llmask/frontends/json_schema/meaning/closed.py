"""`closed=True`: objects whose schemas declare keys, and say nothing of others, take no others.

It is decided for a place of a document, not for a schema object, as one place may be described by several (`allOf`,
`$ref`, `anyOf`, `if`): what each way of their alternatives declares is allowed there, which is what
`"unevaluatedProperties": false` at the outermost of them says. So documents are always valid for the schema as it is
written, too; only fewer are. A way stays as it is where it declares no key (`{"type": "object"}` is any object), where
it speaks of other keys (`additionalProperties`, `patternProperties`, `unevaluatedProperties`), or lists values.
What is negated (`not`, an `if` that fails) declares nothing.

In: the schemas of a place. Out: schemas of the same place. Cost: a dictionary access for those that were seen before;
else that of `evaluated.py`, whose limit `max_schema_cases` holds.
"""

from __future__ import annotations

from typing import Any

from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.evaluated import Case, cases_of_all, without_others
from llmask.frontends.json_schema.meaning.place import SchemaAt
from llmask.frontends.json_schema.reading.keywords import ALL_OF, ANY_OF, Shape

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
            return [(closed_object(schema), path)] if _is_to_be_closed(schema, shape) else schemas
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


def closed_object(schema: dict[Any, Any]) -> dict[Any, Any]:
    """A schema object that takes only the keys that it declares."""
    return {**schema, "additionalProperties": False}


def _is_to_be_closed(schema: dict[Any, Any], shape: Shape) -> bool:
    return "properties" in schema and not shape.has_values and not any(word in schema for word in SPEAK_OF_OTHERS)


def _declares_all(context: Context, case: Case) -> bool:
    """Whether the keys that a case declares are all that it is to take."""
    if not case.declares or case.all_keys or case.patterns:
        return False
    return not any(type(schema) is dict and context.shape(schema, path).has_values for schema, path in case.schemas)
