"""Scalars by their keywords: the lexeme of each type, with all that the schemas of a place say of it.

Free strings may use every JSON escape; lengths count code points and patterns search the unescaped text, both by
working on nodes whose letters are the spellings of one code point (`llmask.frontends.regex.json_strings`). What holds
together is intersected; a string language that became empty is `nodes.EMPTY`, decided exactly, so that no such string
is ever begun.

In: a type, the keywords of all schemas that hold at one place, the negated ones included. Out: a node, `nodes.EMPTY`
when no such value fulfils them; a `NumberRange`. Cost: one look-up for what was seen before; a new pattern costs its
compilation.
"""

from __future__ import annotations

from typing import Any

from llmask.errors import LlmaskError
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import json_string_body, spell_json, style_of

from ..formats import AT_MOST, FORMATS, PREPARED
from ..lexical.number_machines import MAY, MUST, NEVER
from ..lexical.numbers import NumberRange, number_node, number_range
from ..lexical.strings import QUOTE, any_spelling, free_string, once, quoted, spellings_of, usual_string
from ..reading.keywords import (
    EXCEPT,
    NO_FORMAT,
    NO_INTEGER,
    NO_MULTIPLE,
    NO_PATTERN,
    SPELLED,
    WITHOUT_CONTAINS,
    is_number,
)
from ..reading.pointers import Path, pointer
from .context import Context
from .place import Part, count_range


def pattern_string(
    context: Context, pattern: str | tuple[str, ...], where: Path, keyword: str, is_negated: bool = False
) -> int:
    """Node of every JSON string whose text `pattern` is found in (one of several), or with `is_negated` of every other.

    Raises
    ------
    GrammarError
        When the pattern is malformed or cannot be supported, with the place of the keyword.
    """
    nodes = context.nodes

    def make() -> int:
        try:
            body = compile_pattern(nodes, pattern, dialect="ecma", json_string=True, is_negated=is_negated)
        except LlmaskError as error:
            at = pointer(where, keyword) + (f", {error.where}" if error.where else "")
            raise type(error)(f'"{keyword}": {error.message}', at, error.help) from None
        return quoted(nodes, body)

    return once(nodes, (__name__, "pattern", pattern, is_negated), make)


def matches_pattern(context: Context, pattern: int, text: str) -> bool:
    """Whether `text` is one of the strings of a node made here."""
    quote = b"" if style_of(context.nodes).is_raw else QUOTE
    return context.nodes.matches(pattern, quote + spell_json(context.nodes, text) + quote)


def string_node(context: Context, parts: list[Part], is_most: bool = False) -> int:
    """Node of every string that fulfils all of `parts`; `nodes.EMPTY` when no string does.

    Some formats are no regular languages: a node holds part of their texts, and with `is_most` all of them and others.
    """
    nodes = context.nodes
    asked = tuple(
        (
            schema.get("minLength"),
            schema.get("maxLength"),
            schema.get("pattern"),
            format_of(context, schema, path),
            schema.get(SPELLED),
            schema.get(NO_PATTERN),
            schema.get(NO_FORMAT),
            tuple(texts_except(schema)) if shape.has_except else (),
        )
        for schema, path, shape in parts
        if shape.has_string or shape.has_except
    )
    if not asked:
        return free_string(nodes)
    key = (__name__, asked, context.format_key, is_most)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _string_node(context, parts, is_most)
        context.check_nodes()
    return int(found)


def written_string(context: Context, parts: list[Part]) -> int:
    r"""Node of the strings that fulfil all of `parts`, in the spellings that a document may have.

    Where a pattern or a format holds, no character is escaped that no program escapes: a model that may not write the
    text that it means goes on with an escape, as in "3\\u0030" for a date (docs/measured/quality.md).
    """
    node = string_node(context, parts)
    if context.options.escapes != "free" or style_of(context.nodes).is_raw:
        return node
    for schema, path, shape in parts:
        if shape.has_string and ("pattern" in schema or format_of(context, schema, path) is not None):
            return context.nodes.intersect([node, usual_string(context.nodes)])
    return node


def texts_except(schema: dict[Any, Any]) -> list[str]:
    """Strings that a value must differ from."""
    return [value for value in schema[EXCEPT] if type(value) is str]


def _string_node(context: Context, parts: list[Part], is_most: bool) -> int:
    nodes = context.nodes
    low, high = count_range(parts, "minLength", "maxLength")
    required: set[int] = set()
    excepted: set[int] = set()  # complements, which hold more than strings
    for schema, path, shape in parts:
        if shape.has_except:
            texts = texts_except(schema)
            if texts:
                excepted.add(nodes.complement(spellings_of(nodes, texts)))
        if not shape.has_string:
            continue
        if "pattern" in schema:
            required.add(pattern_string(context, schema["pattern"], path, "pattern"))
        if SPELLED in schema:
            required.add(any_spelling(nodes, schema[SPELLED]))
        if NO_PATTERN in schema:
            required.add(pattern_string(context, schema[NO_PATTERN], path, "pattern", is_negated=True))
        name = format_of(context, schema, path)
        if name is not None:
            required.add(_format_node(context, name, path, is_most))
        if NO_FORMAT in schema:
            required.add(_format_node(context, schema[NO_FORMAT], path, not is_most, is_negated=True))
    if high is not None and low > high:
        return nodes.EMPTY
    if low > 0 or high is not None:
        required.add(quoted(nodes, json_string_body(nodes, low, high)))
    node = nodes.intersect(sorted((required or {free_string(nodes)}) | excepted))
    if nodes.is_empty(node):
        return nodes.EMPTY
    for pieces in filter(None, (PREPARED.get(schema.get("format", "")) for schema, _, _ in parts)):
        nodes.prepare(node, pieces)
    return node


def _format_node(context: Context, name: str, path: Path, is_most: bool, is_negated: bool = False) -> int:
    found = context.format_patterns[name]
    if is_most and name not in context.options.formats:
        found = AT_MOST.get(name, found)
    if isinstance(found, str):
        return pattern_string(context, found, path, "format", is_negated)
    nodes = context.nodes
    node = quoted(nodes, found(nodes))
    return nodes.without(free_string(nodes), [node]) if is_negated else node


def format_of(context: Context, schema: dict[str, Any], path: Path) -> str | None:
    """Name of the format that a schema asserts; None when it has no format, or its format is an annotation."""
    name = schema.get("format")
    if name is None:
        return None
    if name in context.options.formats:
        return str(name)
    if context.options.format == "annotate":
        return None
    if name in FORMATS:
        return str(name)
    where = pointer(path, "format")
    context.ignore("format", where, f'the format "{name}" is unknown, so it is an annotation')
    return None


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
    nodes, lexemes = context.nodes, context.lexeme_of_type
    excepted = [value for schema, _, shape in parts if shape.has_except for value in schema[EXCEPT]]
    if kind == "null":
        return nodes.EMPTY if any(value is None for value in excepted) else lexemes["null"]
    left = [value for value in (True, False) if not any(value is other for other in excepted)]
    if len(left) == 2:
        return lexemes["boolean"]
    return nodes.union([nodes.literal(b"true" if value else b"false") for value in left])
