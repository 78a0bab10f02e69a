"""The language of the strings that fulfil schemas, in every spelling: for `propertyNames`, and to tell strings apart.

Unlike the lexeme of a string value, in which `const` and `enum` have one spelling, the node holds all spellings of
each string, so that complements and intersections speak about texts.

In: schemas. Out: a node. Cost: that of their patterns; a microsecond a value of `enum`.
"""

from __future__ import annotations

from llmask.frontends.json_schema.lexical.strings import any_spelling, spellings_of
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.place import Conjunction, SchemaAt, types_of
from llmask.frontends.json_schema.meaning.string_keywords import string_node


def name_language(context: Context, schemas: list[SchemaAt], is_most: bool = False) -> int:
    """Node of every spelling of every string that fulfils `schemas`; with `is_most` of others, too (`string_node`)."""
    conjunction = conjunction_of(context, schemas)  # keeps the schemas, which are known by their identity
    key = ("strings", context.place_key(schemas), is_most)
    found: int = context.synthetic(key, lambda: strings_of(context, conjunction, is_most))
    return found


def strings_of(context: Context, conjunction: Conjunction, is_most: bool = False) -> int:
    """Node of every spelling of every string that fulfils all parts and choices; `is_most` as in `string_node`."""
    nodes = context.nodes
    parts = conjunction.parts
    if conjunction.false_at is not None or "string" not in types_of(parts):
        return nodes.EMPTY
    context.count_work()
    members = [string_node(context, parts, is_most)]
    for schema, _, shape in parts:
        if "enum" in schema:
            texts = [value for value in schema["enum"] if type(value) is str]
            members.append(spellings_of(nodes, texts))
        if shape.has_const:
            constant = schema["const"]
            members.append(any_spelling(nodes, constant) if type(constant) is str else nodes.EMPTY)
    for keyword, _, schemas, _ in conjunction.choices:
        languages = [name_language(context, [schema], is_most) for schema in schemas]
        if keyword == "anyOf":
            members.append(nodes.union(languages))
        else:
            others = [name_language(context, [schema], not is_most) for schema in schemas]
            members.append(exactly_one(context, languages, others))
    node = nodes.intersect(members)
    context.check_nodes()
    return nodes.EMPTY if nodes.is_empty(node) else node


def exactly_one(context: Context, languages: list[int], refused: list[int]) -> int:
    """Node of the strings that belong to one of `languages` and to none of `refused` at another place."""
    nodes = context.nodes
    alone = []
    for at, language in enumerate(languages):
        alone.append(nodes.without(language, [*refused[:at], *refused[at + 1 :]]))
    return nodes.union(alone)
