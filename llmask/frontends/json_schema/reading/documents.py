"""Documents and the schema resources in them: who has which URI, which anchors, which draft.

A document is what one URI names: the schema as given, or what the caller's registry or the published
meta-schemas hold. A resource is a document, or a schema in it with an identifier (`$id`, `id` in draft 4) of its own.
Identifiers and anchors count where the drafts have schemas; in `enum`, `const` and unknown keywords they are
data. Nothing is looked at before a reference needs it. This package opens no connection; a registry whose `retrieve`
does is the caller's choice. Source: JSON Schema 2020-12 core, sections 8.2 and 9; draft 7 core, section 8.2.

`urllib.parse.urljoin` joins only the schemes that it knows and raises errors for odd hosts; identifiers of schemas have
any scheme, so the algorithm of the standard is written out: RFC 3986, sections 5.2.2 to 5.2.4 and appendix B.

In: contents and their URI; a base URI and a reference. Out: `Resource`; URI and fragment. Cost: one walk over a
document that is looked at, under a microsecond a key.
"""

from __future__ import annotations

import re
from typing import Any

from llmask.errors import GrammarError, LimitExceeded, UnsupportedSchema, how_to_install

from .inputs import digest_of
from .keywords import (
    ANY_DRAFT,
    DRAFT_4,
    DRAFT_2019,
    OPENAPI_3,
    REF_ALONE,
    SCHEMAS_IN_LIST,
    SCHEMAS_IN_MAP,
    SCHEMAS_IN_VALUE,
    draft_of,
    left_out,
    without,
)
from .owned import Copies, owned
from .pointers import ROOT, Path, Resource, joined, pointer
from .registries import Taken, registered_draft

# scheme, authority, path, query; every text without "#" matches
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?(//[^/?]*)?([^?]*)(\?.*)?", re.DOTALL)


def join(base: str, reference: str) -> tuple[str, str]:
    """URI, without its fragment, that `reference` names from `base`; and the fragment.

    Examples
    --------
    >>> join("http://example.com/a/b.json", "../c.json#/d")
    ('http://example.com/c.json', '/d')
    """
    uri, _, fragment = reference.partition("#")
    if not uri:
        return base, fragment
    scheme, authority, path, query = _split(uri)
    if not scheme:
        scheme, base_authority, base_path, base_query = _split(base)
        if not authority:
            authority = base_authority
            if not path:
                path, query = base_path, query or base_query
            elif not path.startswith("/"):
                above = base_path.rpartition("/")[0]
                path = f"{above}/{path}" if above or base_path.startswith("/") or authority else path
    return scheme + authority + _without_dots(path) + query, fragment


def _split(uri: str) -> tuple[str, str, str, str]:
    parts = _PARTS.fullmatch(uri)
    assert parts is not None, uri
    scheme, authority, path, query = parts.groups(default="")
    return scheme, authority, path, query


def _without_dots(path: str) -> str:
    """Take out the segments "." and "..", which lead nowhere and one level up."""
    if "./" not in path and not path.endswith("."):
        return path
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if segments and segments != [""]:
                segments.pop()
        elif segment != ".":
            segments.append(segment)
    if segment in (".", ".."):
        segments.append("")
    return "/".join(segments)


MAX_META_SCHEMAS = 8  # on the way from a schema to a draft that is known
MAX_URI_CHARACTERS = 2**25  # of all resources: identifiers that nest add up to long ones


class Documents:
    """All documents in reach of one schema.

    Parameters
    ----------
    root : the schema as given.
    registry : documents of the caller, a `referencing.Registry`, or None.
    is_openapi : all documents that do not declare a draft are of OpenAPI 3.0, the root whatever it declares.

    Attributes
    ----------
    draft : what the schema is read by, ANY_DRAFT if it does not say.
    root : its resource.
    of_schema : id() of each schema walked over -> the resource that holds it.
    of_root : id() of a schema with a URI -> its resource.
    has_dynamic : some resource has dynamic anchors, or the same Python object is in two resources, so that what
        a schema means depends on the way to it.
    has_drafts : some resource is of another draft than the schema as given.
    taken : what was taken from the caller's registry.
    """

    def __init__(self, root: Any, registry: Any = None, is_openapi: bool = False) -> None:
        self.registry = registry
        self._is_openapi = is_openapi
        self.of_uri: dict[str, Resource] = {}
        self.of_schema: dict[int, Resource] = {}
        self.of_root: dict[int, Resource] = {}
        self._n_characters = 0
        self._copied: list[Any] = []  # documents that must live on, as they are known by identity
        self._copies: Copies = {id(root): (root, root)}  # of what the registry's owner may change; the root is one
        self.taken: list[Taken] = []
        self.has_dynamic = False
        self.has_drafts = False
        self.draft, keywords = (OPENAPI_3, frozenset[str]()) if is_openapi else self._dialect(root, ANY_DRAFT)
        if keywords:
            root = self._without(root, keywords)
        # an identifier that a `$ref` of draft 7 hides is taken as the base all the same: the choice is the program's
        named = root.get(_id_key(self.draft)) if type(root) is dict else None
        self.root = self._add(root, named if type(named) is str else "", self.draft, "")

    def find(self, uri: str) -> Resource | None:
        """The resource of a URI, or None when nobody has it.

        Raises
        ------
        UnsupportedSchema
            When it is a published meta-schema and the package that holds them is missing. GrammarError when the
            registry fails.
        """
        resource = self.of_uri.get(uri)
        if resource is not None:
            return resource
        found = self._retrieved(uri)
        if found is None:
            return None
        own = contents = owned(found.contents, self._copies)
        resource = self.of_root.get(id(own))
        if resource is None:
            registered = ANY_DRAFT if self._is_openapi else registered_draft(found)
            draft, keywords = self._dialect(contents, registered or self.draft)
            if keywords:
                contents = self._without(contents, keywords)
            base = uri
            named = identifier(contents, draft)
            # what a registry found inside a document has its final URI already, `named` may be relative to the document
            if named is not None and not uri.endswith("/" + named.lstrip("./")):
                base = named
            resource = self._add(contents, base, draft, uri)
            self.of_root[id(own)] = resource
        self.of_uri[uri] = resource
        return resource

    def _without(self, contents: Any, keywords: frozenset[str]) -> Any:
        self._copied.append(contents)
        return without(contents, keywords)

    def _add(self, contents: Any, named: str, draft: int, document: str) -> Resource:
        """Make a document known and walk over it."""
        uri, fragment = join(document, named)
        resource = Resource(contents, uri, draft, document, ROOT)
        self._note(resource)
        self.of_uri.setdefault(document, resource)
        if fragment:
            resource.anchors[fragment] = (contents, ROOT)
        self.walk(resource, contents, ROOT, True)
        return resource

    def _note(self, resource: Resource) -> None:
        self._n_characters += len(resource.uri)
        if self._n_characters > MAX_URI_CHARACTERS:
            raise LimitExceeded(
                f"the identifiers of the schema are longer than {MAX_URI_CHARACTERS} characters together",
                pointer(resource.at),
                "Use absolute identifiers where schemas with identifiers nest.",
            )
        self.of_uri.setdefault(resource.uri, resource)
        self.of_root[id(resource.contents)] = resource
        self.has_dynamic = self.has_dynamic or bool(resource.dynamic)
        self.has_drafts = self.has_drafts or resource.draft != self.draft

    def walk(self, resource: Resource, schema: Any, at: Path, is_named: bool) -> None:
        """Note every identifier and anchor at and below a schema of `resource`.

        `is_named` : whether anchors count for `resource`; they do not where a draft expects no schema.
        """
        waiting = [(schema, at, resource, is_named)]
        while waiting:
            here, at, resource, is_named = waiting.pop()
            if type(here) is not dict:
                continue
            known = self.of_schema.get(id(here))
            if known is not None:
                if id(here) in self.of_root:
                    resource.has_inner = True
                elif known is not resource:
                    self.has_dynamic = True  # one Python object in two resources
                continue
            if here is not resource.contents:
                inner = self._embedded(here, at, resource)
                if inner is not resource:
                    resource, at, is_named = inner, ROOT, True
            self.of_schema[id(here)] = resource
            if is_named:
                self._note_anchors(here, at, resource)
            below: list[tuple[Any, Path, Resource, bool]] = []
            for key, value in here.items():
                if type(value) is dict:
                    if key in SCHEMAS_IN_VALUE:
                        below.append((value, (at, key), resource, is_named))
                    elif key in SCHEMAS_IN_MAP:
                        below += [(member, (at, key, name), resource, is_named) for name, member in value.items()]
                elif type(value) is list and key in SCHEMAS_IN_LIST:
                    below += [(member, (at, key, index), resource, is_named) for index, member in enumerate(value)]
            waiting += reversed(below)

    def _embedded(self, here: dict[str, Any], at: Path, resource: Resource) -> Resource:
        """The resource that begins at a schema, or the one that holds it."""
        named = identifier(here, resource.draft)  # `$schema` counts beside an identifier of the document's own draft
        if named is None:
            return resource
        uri, fragment = join(resource.uri, named)
        if uri != resource.uri:
            resource.has_inner = True
            place = joined(resource.at, at)
            draft, keywords = self._dialect(here, resource.draft)
            if keywords:
                raise UnsupportedSchema(
                    f"{here['$schema']} leaves out vocabularies, which a meta-schema may do for whole documents only",
                    pointer(place, "$schema"),
                    "Move the schema to a document of its own and register that with registry=.",
                )
            resource = Resource(here, uri, draft, resource.document, place)
            self._note(resource)
            at = ROOT
        if fragment:
            resource.anchors.setdefault(fragment, (here, at))
        return resource

    def _note_anchors(self, here: dict[str, Any], at: Path, resource: Resource) -> None:
        if resource.draft in REF_ALONE:
            return
        name = here.get("$anchor")
        if type(name) is str:
            resource.anchors.setdefault(name, (here, at))
        name = here.get("$dynamicAnchor")
        if type(name) is str and name and resource.draft != DRAFT_2019:
            resource.anchors.setdefault(name, (here, at))
            resource.dynamic.add(name)
            self.has_dynamic = True

    def _dialect(self, contents: Any, otherwise: int) -> tuple[int, frozenset[str]]:
        """The draft that `$schema` declares, through meta-schemas of the caller, and the keywords these leave out."""
        declared, keywords, n_seen = draft_of(contents), frozenset[str](), 0
        while not declared and self.registry is not None and type(contents) is dict:
            uri = contents.get("$schema")
            if type(uri) is not str or n_seen >= MAX_META_SCHEMAS:
                break
            found = self._retrieved(uri.rstrip("#"))
            contents = None if found is None else found.contents
            if n_seen == 0 and type(contents) is dict and "$vocabulary" in contents:
                keywords = left_out(contents["$vocabulary"], uri)
            n_seen += 1
            declared = draft_of(contents)
        return declared or otherwise, keywords

    def _retrieved(self, uri: str) -> Any:
        """What the caller's registry, or else the published meta-schemas, have there: a `referencing.Resource`."""
        if self.registry is not None:
            from referencing import Resource as Registered
            from referencing.exceptions import NoSuchResource, Unretrievable

            try:
                retrieved = self.registry.get_or_retrieve(uri)
            except (NoSuchResource, Unretrievable):
                pass
            except Exception as error:  # its `retrieve`, or contents that it cannot read
                raise GrammarError(
                    f"the registry fails at {uri}: {error!r}",
                    help="look at its `retrieve` function, and at what is in the document",
                ) from error
            else:
                if not isinstance(retrieved.value, Registered):
                    raise GrammarError(
                        f"the registry has a {type(retrieved.value).__name__} at {uri}, where a referencing.Resource "
                        "belongs",
                        help="Resource.from_contents(schema, default_specification=DRAFT202012) makes one",
                    )
                self.registry = retrieved.registry
                self.taken.append(Taken(uri, retrieved.value, digest_of(retrieved.value.contents)))
                return retrieved.value
        if "://json-schema.org/" not in uri:
            return None
        try:
            from jsonschema_specifications import REGISTRY
        except ImportError:
            raise UnsupportedSchema(
                f"the meta-schema {uri} is part of the package jsonschema-specifications, which is not installed",
                None,
                f"install it with: {how_to_install('schema')}",
            ) from None
        return REGISTRY.get(uri)


def _id_key(draft: int) -> str:
    return "id" if draft == DRAFT_4 else "$id"


def identifier(schema: Any, draft: int) -> str | None:
    """What a schema calls itself, if it does."""
    if type(schema) is not dict or (draft in REF_ALONE and "$ref" in schema):
        return None
    named = schema.get(_id_key(draft))
    return named if type(named) is str else None
