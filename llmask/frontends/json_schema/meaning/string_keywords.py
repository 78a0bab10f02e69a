"""Strings by their keywords: from lengths, patterns and formats to the regular expression of a whole string.

Free strings may use every JSON escape; lengths count code points and patterns search the unescaped text, both by
working on nodes whose letters are the spellings of one code point (`llmask.frontends.regex.machines`). What holds
together is intersected; a string language that became empty is `nodes.EMPTY`, decided exactly, so that no such string
is ever begun.

In: the string keywords of all schemas that hold at one place. Out: nodes. Cost: one look-up for what was seen before; a
new pattern costs its compilation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import LlmaskError
from llmask.frontends.json_schema.formats import AT_MOST, FORMATS, PREPARED
from llmask.frontends.json_schema.lexical.strings import (
    QUOTE,
    any_spelling,
    free_string,
    quoted,
    spellings_of,
    usual_string,
)
from llmask.frontends.json_schema.meaning.counts import count_range
from llmask.frontends.json_schema.reading.keywords import EXCEPT, NO_FORMAT, NO_PATTERN, SPELLED
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import json_string_body, spell_json, style_of

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.context import Context
    from llmask.frontends.json_schema.meaning.place import Part


def pattern_string(context: Context, pattern: str, where: Path, keyword: str, is_negated: bool = False) -> int:
    """Node of every JSON string whose text `pattern` is found in, or with `is_negated` of every other.

    Raises
    ------
    GrammarError
        When the pattern is malformed or cannot be supported, with the place of the keyword.
    """
    nodes = context.nodes
    key = (__name__, "pattern", pattern, is_negated)
    found = nodes.memo.get(key)
    if found is None:
        try:
            body = compile_pattern(nodes, pattern, dialect="ecma", json_string=True, is_negated=is_negated)
        except LlmaskError as error:
            at = pointer(where, keyword) + (f", {error.where}" if error.where else "")
            raise type(error)(f'"{keyword}": {error.message}', at, error.help) from None
        found = nodes.memo[key] = quoted(nodes, body)
    return int(found)


def matches_pattern(context: Context, pattern: int, text: str) -> bool:
    """Whether `text` is one of the strings of a node made here."""
    quote = b"" if style_of(context.nodes).is_raw else QUOTE
    return context.nodes.matches(pattern, quote + spell_json(context.nodes, text) + quote)


def string_node(context: Context, parts: list[Part], is_most: bool = False) -> int:
    """Node of every string that fulfils all of `parts`; `nodes.EMPTY` when there is none.

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
    """Name of the format that a schema asserts; None when there is none, or it is an annotation."""
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
