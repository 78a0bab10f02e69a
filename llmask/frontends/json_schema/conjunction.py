"""Schemas that hold at one place together, flattened.

A place in a document is described by a list of schemas that must all hold there: one as written, several where
`allOf`, `$ref` with siblings, or the same property in two schemas meet. Flattening follows references and `allOf` and
gives *parts*, schema objects whose own keywords hold, and *choices*, the `anyOf` and `oneOf` lists that remain.
Nothing is copied or rewritten: a merge is a longer list, its members keep their place for messages, and each kind of
keyword combines the parts itself (the greatest minimum, the intersection of patterns, the product of property maps),
so the merge is exact where it exists.

In: schemas with their places. Out: parts and choices. Cost: a microsecond or two a schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import GrammarError
from llmask.frontends.json_schema.keywords import Shape
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.frontends.json_schema.unsupported import refuse_unenforced

if TYPE_CHECKING:
    from llmask.frontends.json_schema.translation import Translation

SchemaAt = tuple[Any, Path]
Part = tuple[dict[str, Any], Path, Shape]  # a schema object, its place, what its keys say


class Choice(NamedTuple):
    """One `anyOf` or `oneOf`: at least, or exactly, one of `schemas` holds.

    `position` is the place of their parts among the others, so that keys are written in the order of the text.
    """

    keyword: str
    path: Path
    schemas: list[SchemaAt]
    position: int


class Conjunction:
    """Parts and choices of one place; `false_at` is the place of a schema `false` among them."""

    __slots__ = ("choices", "false_at", "parts", "seen")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.choices: list[Choice] = []
        self.false_at: Path | None = None
        self.seen: set[int] = set()

    def copy(self) -> Conjunction:
        """The same parts and choices, free to grow apart."""
        other = Conjunction()
        other.parts, other.choices = list(self.parts), list(self.choices)
        other.false_at, other.seen = self.false_at, set(self.seen)
        return other


def conjunction_of(translation: Translation, schemas: list[SchemaAt]) -> Conjunction:
    """Flatten what holds at one place.

    Raises
    ------
    GrammarError
        When a reference leads to itself, or a keyword's value is malformed.
    UnsupportedSchema
        When a keyword of these schemas is not enforced.
    """
    conjunction = Conjunction()
    for schema, path in schemas:
        add_schema(translation, conjunction, schema, path)
    return conjunction


def is_false(schemas: list[SchemaAt]) -> bool:
    """Whether one of them is the schema `false`."""
    return any(schema is False for schema, _ in schemas)


def add_schema(translation: Translation, conjunction: Conjunction, schema: Any, path: Path) -> None:
    """Let one more schema hold."""
    _add(translation, conjunction, schema, path, ())


def with_alternative(
    translation: Translation, conjunction: Conjunction, choice: Choice, schema: Any, path: Path
) -> Conjunction:
    """The same, with one schema of a choice that was taken out of it."""
    chosen = Conjunction()
    chosen.seen = set(conjunction.seen)
    add_schema(translation, chosen, schema, path)
    at = choice.position
    chosen.parts = [*conjunction.parts[:at], *chosen.parts, *conjunction.parts[at:]]
    # those left stand before `choice`, so their places are as they were
    moved = [inner._replace(position=inner.position + at) for inner in chosen.choices]
    chosen.choices = [*conjunction.choices, *moved]
    if chosen.false_at is None:
        chosen.false_at = conjunction.false_at
    return chosen


def _add(
    translation: Translation, conjunction: Conjunction, schema: Any, path: Path, open_ids: tuple[int, ...]
) -> None:
    if schema is True:
        return
    if schema is False:
        conjunction.false_at = path
        return
    if id(schema) in open_ids:
        raise GrammarError("the schema refers to itself without describing anything", pointer(path))
    if id(schema) in conjunction.seen:
        return
    shape = translation.shape(schema, path)
    conjunction.seen.add(id(schema))
    if shape.is_open:
        return
    translation.check_depth(len(open_ids), path)
    for keyword in shape.in_place:
        if keyword == "":
            if "not" in shape.unenforced and (schema["not"] is True or schema["not"] == {}):
                conjunction.false_at = (path, "not")
                return
            if shape.unenforced:
                refuse_unenforced(translation, shape.unenforced, schema, path)
            conjunction.parts.append((schema, path, shape))
        elif keyword == "$ref":
            target, at = translation.references.resolve(schema["$ref"], path)
            _add(translation, conjunction, target, at, (*open_ids, id(schema)))
        elif keyword == "allOf":
            for index, member in enumerate(schema["allOf"]):
                _add(translation, conjunction, member, (path, "allOf", index), (*open_ids, id(schema)))
        else:
            members = [(member, (path, keyword, index)) for index, member in enumerate(schema[keyword])]
            conjunction.choices.append(Choice(keyword, path, members, len(conjunction.parts)))
