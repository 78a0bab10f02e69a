"""Where a reference leads: JSON pointers, anchors, identifiers, other documents, and the dynamic scope.

Most schemas name nothing but `#/$defs/x`, which is found by walking the pointer from the root. Identifiers between the
root and the reference, or on the way to the target, change what it is relative to; only then, and for anchors and
URIs, the whole schema is searched, once (`documents.py`).

`$dynamicRef` and `$recursiveRef` depend on the resources that were entered on the way, the outermost first. A path
carries that: what is reached in another resource gets a path that begins with a `Scope`, and the resources that lie
between a scope's and the place were entered by going down. A scope keeps no way, only what is bound: for each dynamic
anchor the outermost resource. So there are finitely many, and a schema with a scope is what recursion comes back to:
`identity`. Source: JSON Schema 2020-12 core, sections 7.1, 8.2 and 9; 2019-09 core, section 8.2.4.2.

In: the text of a reference and the place that holds it. Out: the schema it names and that schema's place.
Cost: O(depth) a reference, half a microsecond in the common case; one walk over each document with identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias
from urllib.parse import unquote

from llmask.errors import GrammarError, LlmaskError, UnsupportedSchema

from .documents import Documents, join
from .keywords import ANY_DRAFT, DRAFT_4, OPENAPI_3, draft_of
from .pointers import RECURSIVE, ROOT, Path, Resource, Scope, Scopes, joined, keys_of, pointer
from .registries import Taken, check_registry

SchemaAt: TypeAlias = tuple[Any, Path]
HELP_LOCAL = "Name a place of this schema, such as #/$defs/name."
OTHER_DEFINITIONS = {"definitions": "$defs", "$defs": "definitions"}  # of later drafts, and of earlier ones
HELP_REGISTER = "Register it with registry=, or name a place of this schema, such as #/$defs/name."


class References:
    """Resolver of all references in reach of one schema.

    Parameters
    ----------
    root : the whole schema.
    registry : documents that it may refer to, a `referencing.Registry`; None for none but the published meta-schemas.
    is_openapi : the schema is one of OpenAPI 3.0, whatever it declares.

    Attributes
    ----------
    root : the schema, without what its meta-schema leaves out.
    draft : the draft of the schema, of `keywords`.
    id_key : keyword of identifiers; where a schema has none and nothing `is_read` yet, it is read by `draft`.
    is_read : other drafts and identifiers may be in reach.
    is_scoped : what a schema means may depend on the way to it, so `id()` does not tell places apart.
    """

    def __init__(self, root: Any, registry: Any = None, is_openapi: bool = False) -> None:
        self.root = root
        self.registry = registry
        self._is_openapi = is_openapi
        self.is_read = False
        self.is_scoped = False
        self._documents: Documents | None = None
        self._found: dict[Any, SchemaAt] = {}  # by reference; by scope, keyword and reference once documents are read
        self._scopes: Scopes
        self.draft = OPENAPI_3 if is_openapi else draft_of(root)
        self.id_key = "id" if self.draft == DRAFT_4 else "$id"
        if registry is not None:
            check_registry(registry)
            if self.draft == ANY_DRAFT and type(root) is dict and "$schema" in root:
                documents = self._read()  # its `$schema` may name a meta-schema of the caller
                self.draft, self.root = documents.draft, documents.root.contents

    @property
    def taken(self) -> list[Taken]:
        """Documents taken from the caller's registry."""
        return [] if self._documents is None else self._documents.taken

    # --- places

    def identity(self, schema: Any, path: Path) -> int | tuple[int, int]:
        """Something that two places share when the same schema means the same there."""
        if not self.is_scoped:
            return id(schema)
        return id(schema), self.scope_of(path).number

    def draft_at(self, schema: dict[str, Any], path: Path) -> int:
        """The draft that a schema is read by.

        Whoever goes down asks for each schema on the way: one with a URI of its own is noticed here, before anything
        below it is compared with what is elsewhere.
        """
        documents = self._documents
        if documents is None:
            if not path or not _is_base(schema.get(self.id_key)):
                return self.draft
            documents = self._read()
        return self.scope_of(path).resource.draft if documents.has_drafts else self.draft

    def scope_of(self, path: Path) -> Scope:
        """The resource of a place, and what is bound there."""
        documents = self._read()
        keys, root = keys_of(path)
        scope = root if isinstance(root, Scope) else self._scopes.root
        if scope.resource.has_inner:
            here = scope.resource.contents
            for key in reversed(keys):
                try:
                    here = here[key]
                except (KeyError, IndexError, TypeError):  # a place of the translation's own making
                    break
                resource = documents.of_root.get(id(here))
                if resource is not None:
                    scope = self._scopes.enter(scope, resource)
        return scope

    # --- references

    def resolve(self, reference: str, path: Path, keyword: str = "$ref") -> SchemaAt:
        """Schema that `reference`, written at `path`, names.

        Raises
        ------
        GrammarError
            When there is nothing. UnsupportedSchema when it names a document that nobody has. LimitExceeded when
            dynamic anchors combine in too many ways.
        """
        if self._documents is None:
            if (reference == "#" or reference.startswith("#/")) and not (path and self._has_id_above(path)):
                found = self._found.get(reference) or self._walk_from_root(reference, path, keyword)
                if found is not None:
                    return found
            self._read()
        scope = self.scope_of(path)
        key = scope.number, reference
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._resolve(scope, reference, path, keyword)
        return found

    def resolve_dynamic(self, reference: str, path: Path) -> SchemaAt:
        """Schema that the `$dynamicRef` at `path` names: the anchor's outermost owner in the dynamic scope decides.

        Raises
        ------
        GrammarError, UnsupportedSchema, LimitExceeded
            As `resolve` does.
        """
        scope = self.scope_of(path)
        resource, name = self._named(scope, reference, path, "$dynamicRef")
        if name not in resource.dynamic or name == RECURSIVE:
            return self.resolve(reference, path, "$dynamicRef")
        return self._anchored(scope, scope.bindings.get(name, resource), name)

    def resolve_recursive(self, reference: str, path: Path) -> SchemaAt:
        """Schema that the `$recursiveRef` at `path` names: the outermost root with `$recursiveAnchor` decides.

        Raises
        ------
        GrammarError, UnsupportedSchema, LimitExceeded
            As `resolve` does; GrammarError when the reference is not "#", the only one that there is.
        """
        if reference != "#":
            raise GrammarError(
                '"$recursiveRef" must be "#"', pointer(path, "$recursiveRef"), 'write "$ref" to refer to other places'
            )
        scope = self.scope_of(path)
        if RECURSIVE not in scope.resource.dynamic:
            return self.resolve(reference, path, "$recursiveRef")
        return self._anchored(scope, scope.bindings[RECURSIVE], RECURSIVE)

    def _has_id_above(self, path: Path) -> bool:
        """Whether a schema between the root and `path` has a URI of its own, so that pointers start there."""
        keys, _ = keys_of(path)
        here, id_key = self.root, self.id_key
        for key in reversed(keys):
            try:
                here = here[key]
            except (KeyError, IndexError, TypeError):
                return True  # a place of the translation's own making: the documents know
            if type(here) is dict and id_key in here and _is_base(here[id_key]):
                return True
        return False

    def _walk_from_root(self, reference: str, path: Path, keyword: str) -> SchemaAt | None:
        """Follow a pointer in the schema as given; None where an identifier lies on the way."""
        here, at, id_key = self.root, ROOT, self.id_key
        key: str | int
        for token in _decoded(reference[1:], path, keyword).split("/")[1:]:
            if type(here) is dict and token in here and "~" not in token:
                here, key = here[token], token
            else:
                here, key = self._step(here, token, reference, path, keyword)
            at = (at, key)
            if type(here) is dict and id_key in here and _is_base(here[id_key]):
                return None
        self._check_schema(here, reference, path, keyword)
        found = self._found[reference] = here, at
        return found

    def _resolve(self, scope: Scope, reference: str, path: Path, keyword: str) -> SchemaAt:
        resource, fragment = self._named(scope, reference, path, keyword)
        if not fragment or fragment.startswith("/"):
            return self._walk(scope, resource, fragment, reference, path, keyword)
        if fragment not in resource.anchors:
            raise self._nothing_there(reference, path, keyword, resource.anchors, fragment)
        return self._anchored(scope, resource, fragment)

    def _named(self, scope: Scope, reference: str, path: Path, keyword: str) -> tuple[Resource, str]:
        """Resource that a reference names, and the fragment: a pointer or a name."""
        uri, fragment = join(scope.resource.uri, reference)
        resource = scope.resource
        if uri != resource.uri:
            try:
                found = self._read().find(uri)
            except LlmaskError as error:
                raise type(error)(error.message, pointer(path, keyword), error.help) from error
            if found is None:
                raise UnsupportedSchema(
                    f'"{keyword}" names the document {uri}, which is not part of the schema',
                    pointer(path, keyword),
                    f'did you mean "#{reference}"?' if reference.startswith("/") else HELP_REGISTER,
                )
            resource = found
            self._note_scopes()
        return resource, _decoded(fragment, path, keyword)

    def _walk(
        self, scope: Scope, resource: Resource, tokens: str, reference: str, path: Path, keyword: str
    ) -> SchemaAt:
        """Follow a pointer through a resource and those that lie in it."""
        documents = self._read()
        here, at = resource.contents, ROOT
        for token in tokens.split("/")[1:]:
            here, key = self._step(here, token, reference, path, keyword)
            at = (at, key)
            inner = documents.of_root.get(id(here))
            if inner is not None:
                resource, at = inner, ROOT
        self._check_schema(here, reference, path, keyword)
        if type(here) is dict and id(here) not in documents.of_schema:  # under a keyword that no draft knows
            documents.walk(resource, here, at, False)
            self._note_scopes()
            if id(here) in documents.of_root:
                resource, at = documents.of_root[id(here)], ROOT
        return here, joined(self._scopes.enter(scope, resource), at)

    def _anchored(self, scope: Scope, resource: Resource, name: str) -> SchemaAt:
        schema, at = resource.anchors[name]
        return schema, joined(self._scopes.enter(scope, resource), at)

    def _step(self, here: Any, token: str, reference: str, path: Path, keyword: str) -> tuple[Any, str | int]:
        """One level down by one token of a JSON pointer."""
        if type(here) is dict:
            key = token.replace("~1", "/").replace("~0", "~") if "~" in token else token
            if key in here:
                return here[key], key
        elif type(here) is list and token.isdecimal() and token.isascii() and len(token) < 10:
            index = int(token)
            if index < len(here) and (token[0] != "0" or token == "0"):
                return here[index], index
        raise self._nothing_there(reference, path, keyword, here if type(here) is dict else {}, token)

    def _check_schema(self, here: Any, reference: str, path: Path, keyword: str) -> None:
        if type(here) is not dict and type(here) is not bool:
            raise GrammarError(
                f'"{keyword}" names {reference}, which is no schema (an object or a boolean)',
                pointer(path, keyword),
                HELP_LOCAL,
            )

    @staticmethod
    def _nothing_there(reference: str, path: Path, keyword: str, here: Iterable[str], token: str) -> GrammarError:
        """The error for a reference that ends before its `token`: it differs from all names `here`."""
        names = [name for name in here if type(name) is str and name and (name == "$defs" or not name.startswith("$"))]
        swapped = OTHER_DEFINITIONS.get(token)
        from llmask.frontends.places import nearest  # late: errors only

        near = swapped if swapped in names else nearest(token, names)
        help = HELP_LOCAL
        if near and reference.count(token) == 1:
            help = f'did you mean "{reference.replace(token, near.replace("~", "~0").replace("/", "~1"))}"?'
        return GrammarError(f'"{keyword}" names {reference}, and nothing is there', pointer(path, keyword), help)

    # --- documents and scopes

    def _read(self) -> Documents:
        """Walk over the schema, once, for its identifiers and anchors."""
        if self._documents is None:
            self._documents = Documents(self.root, self.registry, self._is_openapi)
            self.is_read = True
            self._found.clear()
            self._scopes = Scopes(self._documents.root)
            self._note_scopes()
        return self._documents

    def _note_scopes(self) -> None:
        self.is_scoped = self._documents is not None and self._documents.has_dynamic


def _is_base(named: Any) -> bool:
    """Whether an identifier changes what references are relative to; a fragment alone does not."""
    return type(named) is str and not named.startswith("#")


def _decoded(fragment: str, path: Path, keyword: str) -> str:
    try:
        return unquote(fragment, errors="strict")
    except UnicodeDecodeError:
        raise GrammarError(
            f'"{keyword}" names #{fragment}, which is no UTF-8',
            pointer(path, keyword),
            "write the characters themselves, or %XX for each of their bytes",
        ) from None
