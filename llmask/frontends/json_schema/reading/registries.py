"""Registries of other documents: checked, what was taken from one, and one made of that again.

What was taken is a list of resources by URI. One may be part of another one, and is the same Python object then,
by which references know it; a description keeps that.

In: a `referencing.Registry`. Out: what was taken, in JSON's types; a registry of it. Cost: a walk over the documents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from llmask.errors import GrammarError, LlmaskError, how_to_install

from .inputs import CONTAINERS, digest_of
from .keywords import ANY_DRAFT, DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020

SPECIFICATIONS = {
    "DRAFT4": DRAFT_4,
    "DRAFT6": DRAFT_6,
    "DRAFT7": DRAFT_7,
    "DRAFT201909": DRAFT_2019,
    "DRAFT202012": DRAFT_2020,
}  # names in referencing.jsonschema
OPAQUE = ""  # any other
SAVE_AGAIN = "the saved grammar is damaged: save it again"


class Taken(NamedTuple):
    """A resource of a registry that a schema needs.

    uri       what was asked for
    resource  the `referencing.Resource`
    digest    of its contents, when they were copied
    """

    uri: str
    resource: Any
    digest: Hashable

    def is_unchanged(self) -> bool:
        """Whether its contents still say the same."""
        return digest_of(self.resource.contents) == self.digest


class Described(NamedTuple):
    """A resource in JSON's types: its contents, or, where it is part of an earlier one, the way to it there."""

    uri: str
    specification: str
    contents: Any
    inside: int | None
    way: list[str | int]


def check_registry(registry: Any) -> None:
    """Refuse what is no registry.

    Raises
    ------
    GrammarError
        When it is no `referencing.Registry`.
    """
    try:
        from referencing import Registry
    except ImportError:
        is_registry = False
    else:
        is_registry = isinstance(registry, Registry)
    if not is_registry:
        raise GrammarError(
            f"the option registry must be a referencing.Registry, not {type(registry).__name__}",
            None,
            "Registry().with_contents([(uri, schema), ...]) makes one.",
        )


def _specification(resource: Any) -> str:
    """The name of the specification that a `referencing.Resource` was made with, which it does not tell."""
    from referencing import jsonschema

    contents = resource.contents
    for name in SPECIFICATIONS:
        if getattr(jsonschema, name).create_resource(contents) == resource:  # contents are one object: compared at once
            return name
    return OPAQUE


def registered_draft(resource: Any) -> int:
    """The draft of a `referencing.Resource`."""
    return SPECIFICATIONS.get(_specification(resource), ANY_DRAFT)


def described(taken: Iterable[Taken]) -> list[Described]:
    """What was taken from a registry, each URI once, those that hold others before these.

    Raises
    ------
    LlmaskError
        When a document has changed since.
    """
    once = {one.uri: one for one in taken}
    changed = next((uri for uri, one in once.items() if not one.is_unchanged()), None)
    if changed is not None:
        raise LlmaskError(
            f"the document {changed} of the registry has changed since the schema was compiled",
            help="compile the schema again, and leave the document as it is",
        )
    ways = [_ways(one.resource.contents) for one in once.values()]
    found: list[Described] = []
    places: dict[int, tuple[int, list[str | int]]] = {}  # of each container in what is described so far
    for inside, one in sorted(zip(ways, once.values(), strict=True), key=lambda pair: -len(pair[0])):
        contents, specification = one.resource.contents, _specification(one.resource)
        place = places.get(id(contents))
        if place is not None:
            found.append(Described(one.uri, specification, None, *place))
            continue
        for identity, way in inside.items():
            places.setdefault(identity, (len(found), way))
        found.append(Described(one.uri, specification, contents, None, []))
    return found


def _ways(document: Any) -> dict[int, list[str | int]]:
    """The way to each container in a document, by its identity."""
    found: dict[int, list[str | int]] = {}
    waiting: list[tuple[Any, list[str | int]]] = [(document, [])]
    while waiting:
        here, way = waiting.pop()
        if type(here) in CONTAINERS and id(here) not in found:
            found[id(here)] = way
            members = here.items() if type(here) is dict else enumerate(here)
            waiting += [(member, [*way, key]) for key, member in members if type(member) in CONTAINERS]
    return found


def registry_of(documents: Iterable[Described]) -> Any:
    """A registry that has what was described.

    Raises
    ------
    GrammarError
        When no such description was written.
    LlmaskError
        When referencing is not installed.
    """
    try:
        from referencing import Registry, Specification, jsonschema
    except ImportError:
        raise LlmaskError(
            "the schema refers to other documents, which needs referencing", help=how_to_install("schema")
        ) from None
    resources: list[tuple[str, Any]] = []
    for one in documents:
        if one.specification not in (OPAQUE, *SPECIFICATIONS):
            raise GrammarError(f"there is no specification {one.specification!r}", help=SAVE_AGAIN)
        specification = getattr(jsonschema, one.specification) if one.specification else Specification.OPAQUE
        contents = one.contents
        try:
            if one.inside is not None:
                contents = resources[one.inside][1].contents
                for key in one.way:
                    contents = contents[key]
        except (LookupError, TypeError):
            raise GrammarError(f"there is no document {one.uri}, where one was written", help=SAVE_AGAIN) from None
        resources.append((one.uri, specification.create_resource(contents)))
    return Registry().with_resources(resources)
