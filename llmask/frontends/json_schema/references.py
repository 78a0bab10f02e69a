"""Where a `$ref` leads, inside one document: JSON pointers, anchors, and embedded `$id` (`id` in draft 4).

Most schemas name nothing but `#/$defs/x`, which is found by walking the pointer from the root. Identifiers between the
root and the reference change what it is relative to; only then, and for anchors, the whole schema is searched, once.
References to other documents are `UnsupportedSchema`: the network is never touched. Source: JSON Schema 2020-12 core,
section 8.2; RFC 3986, section 5 (`urllib.parse.urljoin`).

In: the text of a reference and the place that holds it. Out: the schema it names and that schema's place.
Cost: O(depth) a reference; one walk over the schema for identifiers and anchors.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from llmask.errors import GrammarError, UnsupportedSchema
from llmask.frontends.json_schema.keywords import DRAFT_4, DRAFT_6, DRAFT_7
from llmask.frontends.json_schema.pointers import ROOT, Path, pointer

SchemaAt = tuple[Any, Path]
HELP_LOCAL = "Name a place of this schema, such as #/$defs/name."
# Under these keys stand values and not schemas; what looks like an identifier there is data.
VALUES = frozenset(("enum", "const", "default", "examples", "example", "required"))


class References:
    """Resolver of one document.

    Parameters
    ----------
    root : the whole schema.
    draft : the draft that it declares, of `keywords`.
    """

    def __init__(self, root: Any, draft: int) -> None:
        self.root = root
        self.id_key = "id" if draft == DRAFT_4 else "$id"
        self.has_anchors = draft not in (DRAFT_4, DRAFT_6, DRAFT_7)
        self.ref_hides_id = not self.has_anchors  # beside `$ref` these drafts ignore everything
        self._found: dict[str, SchemaAt] = {}
        self._bases: dict[int, str] | None = None  # id() of a schema that names itself -> its URI
        self._resources: dict[str, SchemaAt] = {}  # URI, with its anchor if any -> schema
        self._has_inner_ids = False

    def resolve(self, reference: str, path: Path) -> SchemaAt:
        """Schema that `reference`, written at `path`, names.

        Raises
        ------
        GrammarError
            When nothing stands there. UnsupportedSchema when it names another document.
        """
        if self._bases is None:
            if (reference == "#" or reference.startswith("#/")) and not self._has_id_above(path):
                found = self._found.get(reference)
                if found is None:
                    found = self._found[reference] = self._walk(
                        (self.root, ROOT), unquote(reference[1:]), reference, path
                    )
                return found
            self._index()
            self._found.clear()
        if not self._has_inner_ids:
            found = self._found.get(reference)
            if found is None:
                found = self._found[reference] = self._resolve(reference, path)
            return found
        return self._resolve(reference, path)

    def _resolve(self, reference: str, path: Path) -> SchemaAt:
        base = self._base(path)
        uri, fragment = _joined(base, reference, path, "$ref")
        resource = self._resources.get(uri) if uri != base else self._resources[base]
        if resource is None:
            raise UnsupportedSchema(
                f'"$ref" names the document {uri}, which is not part of the schema', pointer(path, "$ref"), HELP_LOCAL
            )
        if not fragment or fragment.startswith("/"):
            return self._walk(resource, unquote(fragment), reference, path)
        named = self._resources.get(f"{uri}#{unquote(fragment)}")
        if named is None:
            raise self._nothing_there(reference, path)
        return named

    def _walk(self, start: SchemaAt, tokens: str, reference: str, path: Path) -> SchemaAt:
        here, at = start
        for token in tokens.split("/")[1:]:
            key: str | int = token.replace("~1", "/").replace("~0", "~")
            if type(here) is list and token.isdecimal() and len(token) < 10 and int(token) < len(here):
                key = int(token)
            elif type(here) is not dict or key not in here:
                raise self._nothing_there(reference, path)
            here = here[key]
            at = (at, key)
        if type(here) is not dict and type(here) is not bool:
            raise GrammarError(
                f'"$ref" names {reference}, which is no schema (an object or a boolean)', pointer(path, "$ref")
            )
        return here, at

    def _nothing_there(self, reference: str, path: Path) -> GrammarError:
        return GrammarError(f'"$ref" names {reference}, and nothing stands there', pointer(path, "$ref"), HELP_LOCAL)

    def _base(self, path: Path) -> str:
        """URI of the innermost resource that holds `path`."""
        if not self._has_inner_ids:
            return self._root_uri
        keys: list[str | int] = []
        while path:
            path, *below = path
            keys.extend(reversed(below))
        here, base = self.root, self._root_uri
        for key in reversed(keys):
            here = here[key]
            base = self._bases.get(id(here), base) if self._bases is not None else base
        return base

    def _has_id_above(self, path: Path) -> bool:
        """Whether a schema between the root and `path` names itself, so that pointers start there."""
        keys: list[str | int] = []
        while path:
            path, *below = path
            keys.extend(reversed(below))
        here = self.root
        for key in reversed(keys):
            here = here[key]
            if type(here) is dict and type(here.get(self.id_key)) is str:
                return True
        return False

    def _index(self) -> None:
        """Note every identifier and anchor of the document."""
        self._bases = {}
        root_id = self.root.get(self.id_key) if type(self.root) is dict else None
        self._root_uri = _joined("", root_id, ROOT, self.id_key)[0] if type(root_id) is str else ""
        self._resources[self._root_uri] = self._resources[""] = (self.root, ROOT)
        waiting: list[tuple[Any, Path, str]] = [(self.root, ROOT, self._root_uri)]
        seen: set[int] = set()
        while waiting:
            here, at, base = waiting.pop()
            if type(here) is list:
                waiting += [(member, (at, index), base) for index, member in enumerate(here)]
                continue
            if type(here) is not dict or id(here) in seen:
                continue
            seen.add(id(here))
            is_schema = not at or at[-1] not in ("properties", "patternProperties", "definitions", "$defs")
            if is_schema and at:
                named = here.get(self.id_key)
                if type(named) is str and not (self.ref_hides_id and "$ref" in here):
                    base = self._note(named, here, at, base)
            if is_schema and self.has_anchors:
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if type(here.get(keyword)) is str:
                        self._resources[f"{base}#{here[keyword]}"] = (here, at)
            for key, value in here.items():
                if (type(value) is dict or type(value) is list) and not (is_schema and key in VALUES):
                    waiting.append((value, (at, key), base))

    def _note(self, named: str, here: Any, at: Path, base: str) -> str:
        """Record an identifier below the root; gives the base of what stands under it."""
        uri, fragment = _joined(base, named, at, self.id_key)
        if fragment:
            self._resources.setdefault(f"{base}#{fragment}", (here, at))
            return base
        if uri != base and self._bases is not None:
            self._has_inner_ids = True
            self._bases[id(here)] = uri
            self._resources.setdefault(uri, (here, at))
        return uri


def _joined(base: str, reference: str, path: Path, keyword: str) -> tuple[str, str]:
    """URI, without its fragment, that a reference names from `base`; and the fragment."""
    try:
        uri, fragment = urldefrag(base + reference if reference.startswith("#") else urljoin(base, reference))
    except ValueError:
        raise GrammarError(f'"{keyword}" is no URI: {reference}', pointer(path, keyword)) from None
    return uri, fragment
