"""Scalars: the lexeme of each type, with all that the schemas of a place say of it.

In: a type and parts. Out: a node, `nodes.EMPTY` when no such value fulfils them. Cost: that of strings and numbers.
"""

from __future__ import annotations

from llmask.frontends.json_schema.lexical.numbers import number_node
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.place import Part
from llmask.frontends.json_schema.meaning.ranges import range_of
from llmask.frontends.json_schema.meaning.string_keywords import written_string
from llmask.frontends.json_schema.reading.keywords import EXCEPT


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
