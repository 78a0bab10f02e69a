"""Schemas that hold at one place together, flattened; the language of the strings that fulfil them.

A place in a document is described by a list of schemas that must all hold there: one as written, several where
`allOf`, `$ref` with siblings, or the same property in two schemas meet. Flattening follows references and `allOf` and
gives *parts*, schema objects whose own keywords hold, and *choices*, the `anyOf` and `oneOf` lists that remain.
Nothing is copied or rewritten: a merge is a longer list, its members keep their place for messages, and each kind of
keyword combines the parts itself (the greatest minimum, the intersection of patterns, the product of property maps),
so the merge is exact where it exists.

Unlike the lexeme of a string value, in which `const` and `enum` have one spelling, the language holds all spellings of
each string, so that complements and intersections speak about texts: of keys, and to tell strings apart.

In: schemas with their places. Out: parts and choices; a node. Cost: a microsecond or two a schema; that of patterns.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from llmask.errors import GrammarError
from llmask.work import spend

from ..lexical.strings import any_spelling, free_string, spellings_of
from ..reading.hints import REMEDIES
from ..reading.keywords import ALL_OF, ANY_OF, NOT, REFERENCES
from ..reading.pointers import Path, pointer
from .context import Context, circle
from .evaluated import cases_of
from .negation import negations
from .place import Choice, Conjunction, SchemaAt, members_of, types_of
from .scalars import string_node
from .synthetic import all_of, negated

MERGE_WORK = 10  # an alternative merged with what is beside it, besides the schemas in it: they are looked at again


def conjunction_of(context: Context, schemas: list[SchemaAt]) -> Conjunction:
    """Flatten what holds at one place.

    Raises
    ------
    GrammarError
        When a reference leads to itself, or a keyword's value is malformed.
    """
    conjunction = Conjunction()
    for schema, path in schemas:
        add_schema(context, conjunction, schema, path)
    return conjunction


def is_false(schemas: list[SchemaAt]) -> bool:
    """Whether one of them is the schema `false`."""
    return any(schema is False for schema, _ in schemas)


def with_alternative(context: Context, conjunction: Conjunction, index: int, schemas: list[SchemaAt]) -> Conjunction:
    """The same, with `schemas` in place of the choice number `index`."""
    context.count_work(MERGE_WORK + len(conjunction.parts) // 4)
    spend((len(conjunction.choices) + len(conjunction.seen) // 8) // 4)
    choice = conjunction.choices[index]
    chosen = Conjunction()
    chosen.seen = set(conjunction.seen)
    for schema, path in schemas:
        add_schema(context, chosen, schema, path)
    at, added = choice.position, len(chosen.parts)
    chosen.parts = [*conjunction.parts[:at], *chosen.parts, *conjunction.parts[at:]]
    inner = [one._replace(position=one.position + at) for one in chosen.choices]
    later = [one._replace(position=one.position + added) for one in conjunction.choices[index + 1 :]]
    chosen.choices = [*conjunction.choices[:index], *inner, *later]
    if chosen.false_at is None:
        chosen.false_at = conjunction.false_at
    return chosen


def add_schema(
    context: Context, conjunction: Conjunction, schema: Any, path: Path, open_ids: tuple[Hashable, ...] = ()
) -> None:
    """Let one more schema hold; `open_ids` are those that lead to it in the same place."""
    if schema is True:
        return
    if schema is False:
        conjunction.false_at = path
        return
    context.count_work()
    spend(2)
    identity = context.identity(schema, path)
    if identity in open_ids:
        raise circle(path)
    if identity in conjunction.seen:
        return
    shape = context.shape(schema, path)
    conjunction.seen.add(identity)
    if shape.is_open:
        return
    context.check_depth(len(open_ids), path)
    open_ids = (*open_ids, identity)
    if shape.has_unevaluated:
        _add_any(context, conjunction, cases_of(context, schema, path), path, open_ids)
        return
    for keyword in shape.in_place:
        if keyword == "":
            conjunction.parts.append((schema, path, shape))
        elif keyword in REFERENCES:
            add_schema(context, conjunction, *context.target(keyword, schema, path), open_ids)
        elif keyword == "allOf":
            for member, at in members_of(schema, path, "allOf"):
                add_schema(context, conjunction, member, at, open_ids)
        elif keyword is ALL_OF:
            for member, at in schema[ALL_OF]:
                add_schema(context, conjunction, member, at, open_ids)
        elif keyword == "anyOf" or keyword == "oneOf":
            members = members_of(schema, path, keyword)
            conjunction.choices.append(Choice(keyword, path, members, len(conjunction.parts)))
        elif keyword is ANY_OF:
            _add_any(context, conjunction, schema[ANY_OF], path, open_ids)
        elif keyword == "not":
            _add_negation(context, conjunction, schema["not"], (path, "not"), open_ids)
        elif keyword is NOT:
            refused, at = schema[NOT]
            _add_negation(context, conjunction, refused, at, open_ids)
        elif keyword == "if":
            _add_condition(context, conjunction, schema, path, open_ids)
        else:
            _add_dependent(context, conjunction, keyword, schema[keyword], path, open_ids)


def _add_any(
    context: Context, conjunction: Conjunction, schemas: list[SchemaAt], path: Path, open_ids: tuple[Hashable, ...]
) -> None:
    """Let at least one of `schemas` hold."""
    schemas = [member for member in schemas if member[0] is not False]
    if not schemas:
        conjunction.false_at = path
    elif len(schemas) == 1:
        add_schema(context, conjunction, *schemas[0], open_ids)
    elif not any(schema is True for schema, _ in schemas):
        conjunction.choices.append(Choice("anyOf", path, schemas, len(conjunction.parts)))


def _add_negation(
    context: Context, conjunction: Conjunction, schema: Any, path: Path, open_ids: tuple[Hashable, ...]
) -> None:
    if schema is True:
        conjunction.false_at = path
    elif schema is not False:
        identity = ("not", context.identity(schema, path))
        if identity in open_ids:
            raise GrammarError(
                "the schema negates itself without describing anything", pointer(path), "let it negate another schema"
            )
        alternatives = negations(context, schema, path, conjunction.seen)
        _add_any(context, conjunction, alternatives, path, (*open_ids, identity))


def _add_condition(
    context: Context, conjunction: Conjunction, schema: dict[str, Any], path: Path, open_ids: tuple[Hashable, ...]
) -> None:
    """`if`, `then` and `else`: both hold, or the condition does not and the other one holds."""
    condition: SchemaAt = (schema["if"], (path, "if"))
    alternatives: list[SchemaAt] = []
    for keyword, held in (("then", condition), ("else", negated(context, *condition))):
        if held[0] is False:
            continue
        if keyword not in schema:
            alternatives.append(held)
        elif schema[keyword] is not False:
            alternatives.append(all_of(context, [held, (schema[keyword], (path, keyword))], path))
    if "then" in schema or "else" in schema:
        _add_any(context, conjunction, alternatives, path, open_ids)


def _add_dependent(
    context: Context,
    conjunction: Conjunction,
    keyword: str,
    needed_by: dict[str, Any],
    path: Path,
    open_ids: tuple[Hashable, ...],
) -> None:
    """`dependentSchemas`, `dependentRequired`, `dependencies`: a name is absent, or what it needs holds."""
    for name, needed in needed_by.items():
        if needed is True or needed in ({}, []):
            continue
        at = (path, keyword, name)
        if type(needed) is list:
            needed = {"required": needed}
        elif type(needed) is not dict and type(needed) is not bool:
            raise GrammarError(
                f'"{keyword}" must hold schemas or lists of names', pointer(at), REMEDIES["dependencies"]
            )
        _add_any(context, conjunction, [({"properties": {name: False}}, at), (needed, at)], path, open_ids)


# --- the language of strings


def name_language(context: Context, schemas: list[SchemaAt], is_most: bool = False) -> int:
    """Node of every spelling of every string that fulfils `schemas`; with `is_most` of others, too (`string_node`)."""
    conjunction = conjunction_of(context, schemas)  # keeps the schemas, which are known by their identity
    key = ("strings", context.place_key(schemas), is_most)
    return context.synthetic(key, lambda: strings_of(context, conjunction, is_most))


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
            members += [] if free_string(nodes) in languages else [nodes.union(languages)]
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
