"""Scalars: the lexeme of each type, with all that the schemas of a place say of it, the negated keywords included.

In: a type and parts. Out: a node, `nodes.EMPTY` when no such value fulfils them; a `NumberRange`. Cost: that of strings
and numbers.
"""

from __future__ import annotations

from llmask.frontends.json_schema.lexical.number_machines import MAY, MUST, NEVER
from llmask.frontends.json_schema.lexical.numbers import NumberRange, number_node, number_range
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.place import Part
from llmask.frontends.json_schema.meaning.string_keywords import written_string
from llmask.frontends.json_schema.reading.keywords import EXCEPT, NO_INTEGER, NO_MULTIPLE, WITHOUT_CONTAINS, is_number


def fraction_of(parts: list[Part], kind: str) -> str | None:
    """Whether a number is written with a fraction, on which draft 4 lets its type depend; None where both hold."""
    fraction: str | None = MAY
    if any(shape.draft in WITHOUT_CONTAINS for _, _, shape in parts):
        if kind == "integer":
            fraction = NEVER
        if any(NO_INTEGER in schema and shape.draft in WITHOUT_CONTAINS for schema, _, shape in parts):
            fraction = MUST if fraction == MAY else None
    return fraction


def range_of(context: Context, parts: list[Part], kind: str) -> NumberRange | None:
    """What a number ("integer" or "number" as `kind`) must fulfil; None when any number of the kind does."""
    is_plain = context.options.numbers == "plain"
    fraction = fraction_of(parts, kind)
    if fraction == MAY and not any(shape.has_number or shape.has_except for _, _, shape in parts):
        return None
    subjects = [schema for schema, _, shape in parts if shape.has_number]
    divisors = [schema[NO_MULTIPLE] for schema in subjects if NO_MULTIPLE in schema]
    excluded = [value for schema, _, shape in parts if shape.has_except for value in schema[EXCEPT] if is_number(value)]
    later = [schema for schema, _, shape in parts if shape.draft not in WITHOUT_CONTAINS]
    if fraction is None or any(NO_INTEGER in schema for schema in later):
        divisors.append(1)
    if kind == "integer" and context.options.numbers != "json":
        fraction = NEVER
    return number_range(subjects, kind == "integer", divisors, excluded, fraction or MAY, not is_plain)


def scalar_node(context: Context, kind: str, parts: list[Part]) -> int:
    """Node of every value of a scalar type that fulfils all `parts`, `const` and `enum` aside."""
    if kind == "string":
        return written_string(context, parts)
    if kind == "null" or kind == "boolean":
        return _constants(context, kind, parts)
    wanted = range_of(context, parts, kind)
    return context.lexeme_of_type[kind] if wanted is None else number_node(context.nodes, wanted)


def _constants(context: Context, kind: str, parts: list[Part]) -> int:
    """Lexeme of `null`, or of those booleans that are not excepted."""
    nodes, lexemes = context.nodes, context.punctuation
    excepted = [value for schema, _, shape in parts if shape.has_except for value in schema[EXCEPT]]
    if kind == "null":
        return nodes.EMPTY if any(value is None for value in excepted) else lexemes.null
    left = [value for value in (True, False) if not any(value is other for other in excepted)]
    if len(left) == 2:
        return lexemes.boolean
    return nodes.union([nodes.literal(b"true" if value else b"false") for value in left])
