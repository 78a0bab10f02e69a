"""What the parts of a place already decide about its choices, before a union of alternatives is written.

Alternatives that the parts exclude by their marks (`marks.py`) are taken out; a choice of which one
alternative is left becomes parts, which may decide the next one; a choice of which an alternative holds anyway is
dropped. The negation of a schema is a choice between many alternatives, most of which end here: beside
`"required": ["a"]`, of `not {"required": ["a", "b"]}` only the absence of `b` is left. (Unit propagation, as in
M. Davis, G. Logemann, D. Loveland, "A machine program for theorem-proving", CACM 5, 1962.)

In: a conjunction. Out: one with the same values and fewer choices. Cost: a microsecond an
alternative, 20 us for its marks.
"""

from __future__ import annotations

from typing import Any

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of, with_alternative
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.instances import allowed_values, equality_key, fulfilling
from llmask.frontends.json_schema.meaning.marks import Marks, exclude_each_other, listed_under, marks_of, marks_of_parts
from llmask.frontends.json_schema.meaning.names import name_language
from llmask.frontends.json_schema.meaning.place import Conjunction, Part, SchemaAt
from llmask.frontends.json_schema.meaning.string_keywords import string_node
from llmask.frontends.json_schema.reading.pointers import Path
from llmask.work import spend

IMPLICATION_WORK = 8  # units to compare an alternative with what holds


def settle(context: Context, conjunction: Conjunction) -> Conjunction:
    """The same with every choice taken that is decided; `false_at` is set when one has no alternative left."""
    index = 0
    marks: Marks | None = None
    while index < len(conjunction.choices) and conjunction.false_at is None:
        choice = conjunction.choices[index]
        if marks is None:
            marks = marks_of_parts(context, conjunction.parts)
        context.count_work(len(choice.schemas))
        if choice.keyword == "anyOf" and any(
            _is_implied(context, conjunction.parts, marks, member) for member in choice.schemas
        ):
            conjunction = conjunction.copy()
            del conjunction.choices[index]
            continue
        left = [member for member in choice.schemas if not exclude_each_other(marks, marks_of(context, *member))]
        if len(left) > 1:
            if len(left) < len(choice.schemas):
                conjunction = conjunction.copy()
                conjunction.choices[index] = choice._replace(schemas=left)
            index += 1
            continue
        if left:
            conjunction = with_alternative(context, conjunction, index, left)
            marks, index = None, 0
        else:
            conjunction = conjunction.copy()
            conjunction.false_at = choice.path
    return conjunction


def settle_strings(context: Context, conjunction: Conjunction) -> Conjunction:
    """The same of a place that holds strings only, decided by their languages: exact, and dearer than marks."""
    nodes = context.nodes
    here = string_node(context, conjunction.parts)
    most = string_node(context, conjunction.parts, is_most=True)
    kept = []
    for choice in conjunction.choices:
        left: dict[int, SchemaAt] = {}
        is_implied = False
        for member in choice.schemas if choice.keyword == "anyOf" else ():
            language = name_language(context, [member])
            if not _is_empty(context, [here, language]):
                left.setdefault(language, member)
            is_implied = is_implied or _is_empty(context, [most, nodes.complement(language)])
        if choice.keyword != "anyOf":
            kept.append(choice)
        elif not is_implied:
            kept.append(choice._replace(schemas=list(left.values())))
    settled = conjunction.copy()
    settled.choices = kept
    return settled


def _is_empty(context: Context, languages: list[int]) -> bool:
    """Whether no string is in all of `languages`; False also where that is too dear to find out."""
    nodes = context.nodes
    context.check_nodes()
    try:
        return nodes.is_empty(nodes.intersect(languages))
    except LimitExceeded:
        spend(0)  # where all work is spent nothing else can be tried
        return False


def _is_implied(context: Context, parts: list[Part], marks: Marks, member: SchemaAt) -> bool:
    """Whether everything that fulfils `parts` fulfils an alternative, as far as types and keys tell."""
    if type(member[0]) is bool:
        return member[0]
    alternative = conjunction_of(context, [member])
    if alternative.false_at is not None or alternative.choices:
        return False
    return all(_part_is_implied(context, marks, part) for part in alternative.parts)


def _part_is_implied(context: Context, marks: Marks, part: Part) -> bool:
    schema, _, shape = part
    spend(IMPLICATION_WORK)
    for keyword, _, _ in shape.checks:
        value = schema[keyword]
        if keyword == "type":
            # "integer" is no mark: numbers may be either
            if not marks.types <= ({value} if type(value) is str else set(value)):
                return False
        elif shape.has_object and keyword in ("required", "properties"):
            if "object" not in marks.types:
                continue
            if keyword == "required" and not marks.required.issuperset(value):
                return False
            if keyword == "properties" and not all(
                _property_is_implied(context, marks, name, member, part[1]) for name, member in value.items()
            ):
                return False
        else:
            return False
    return True


def _property_is_implied(context: Context, marks: Marks, name: str, member: Any, path: Path) -> bool:
    if member is True or _is_absent(marks, name):
        return True
    if member is False or name not in marks.under:
        return False
    here, at = marks.under[name], (path, "properties", name)
    shape = context.shape(member, at)
    if not shape.has_values:
        refused = listed_under(context, member, at)[1] if len(member) == 1 else frozenset()
        return bool(refused) and not here & refused
    part = (member, at, shape)
    # its other keywords may refuse some of the values that it lists
    values = fulfilling(context, allowed_values(part) or [], [part]) if shape.is_plain else []
    return here <= {equality_key(value, at) for value in values}


def _is_absent(marks: Marks, name: str) -> bool:
    return name in marks.forbidden or (marks.allowed is not None and name not in marks.allowed)
