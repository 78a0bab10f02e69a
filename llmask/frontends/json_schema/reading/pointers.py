"""Places in a schema, kept as links and spelled out as JSON pointers only when somebody asks; their dynamic scopes.

A path is `()` for the root and `(path above, key)` or `(path above, keyword, key)` below it, so going one level
deeper costs one tuple and success never builds a string. What a reference leads to may lie in another document, and
its meaning may depend on the way there; its path then begins with a `Scope`, an empty tuple as well, so whoever climbs
a path with `while path:` ends there without knowing. Source: RFC 6901, section 6 (URI fragments).

A dynamic scope says which resource a dynamic anchor means on the way that led to a place. The way is the list of
resources entered, by references and by going down; of it only the outermost resource for each dynamic anchor ever
matters. So a scope keeps those, and two ways that bind the same are one scope: recursion comes back to a scope that
exists, and there are finitely many. They can still be very many (each subset of n resources), hence the limit. Source:
JSON Schema 2020-12 core, sections 7.1 and 8.2.3.2; 2019-09 core, section 8.2.4.2.

In: paths; a scope and the resource entered from it. Out: text; the scope there. Cost: O(depth), paid by errors and
warnings only; a dictionary access, the first time linear in the anchors bound.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from llmask.errors import LimitExceeded

from .keywords import ANY_DRAFT, DRAFT_2019

Path: TypeAlias = tuple[Any, ...]
ROOT: Path = ()
RECURSIVE = ""  # what `$recursiveAnchor` binds; no anchor has an empty name


class Resource:
    """A schema with a URI of its own, and the names that it gives to schemas in it.

    Attributes
    ----------
    contents : the schema.
    uri : what references in it are relative to.
    draft : the draft that it is read by.
    document, at : URI of the document that holds it, empty for the schema as given, and its place there.
    anchors : name -> schema and its place below `contents`.
    dynamic : the names that `$dynamicAnchor` gave, and RECURSIVE where `$recursiveAnchor` is true.
    has_inner : some schema in it has a URI of its own.
    """

    __slots__ = ("anchors", "at", "contents", "document", "draft", "dynamic", "has_inner", "uri")

    def __init__(self, contents: Any, uri: str, draft: int, document: str, at: Path) -> None:
        self.contents = contents
        self.uri = uri
        self.draft = draft
        self.document = document
        self.at = at
        self.anchors: dict[str, tuple[Any, Path]] = {}
        self.dynamic: set[str] = set()
        self.has_inner = False
        if draft in (DRAFT_2019, ANY_DRAFT) and type(contents) is dict and contents.get("$recursiveAnchor") is True:
            self.anchors[RECURSIVE] = (contents, ROOT)
            self.dynamic.add(RECURSIVE)


class Scope(tuple):  # type: ignore[type-arg]
    """Root of the paths in one resource, with the dynamic scope in which it was entered.

    Scopes are made once for equal contents and told apart by `number`; as empty tuples they are all equal.

    Attributes
    ----------
    number : 0 for the root of the schema as given.
    resource : the schema resource whose root this is.
    bindings : name of a dynamic anchor -> the outermost resource entered that defines it.
    """

    number: int
    resource: Resource
    bindings: dict[str, Resource]


def keys_of(path: Path) -> tuple[list[str | int], Path]:
    """Keys that lead to a place, the last first, and the root that they start from."""
    keys: list[str | int] = []
    while path:
        keys.extend(path[:0:-1])
        path = path[0]
    return keys, path


def joined(root: Path, at: Path) -> Path:
    """The place to which the keys of another one lead from a root."""
    for key in reversed(keys_of(at)[0]):
        root = (root, key)
    return root


def pointer(path: Path, *keys: str | int) -> str:
    """JSON pointer of a place, as a fragment: `#/properties/a~1b`, after the URI of a document that is not the schema.

    Examples
    --------
    >>> pointer(((), "properties", "a/b"), "type")
    '#/properties/a~1b/type'
    """
    if type(path) is tuple and not path and not keys:
        return "#"
    parts, root = keys_of(path)
    uri = ""
    if isinstance(root, Scope):
        parts += keys_of(root.resource.at)[0]
        uri = root.resource.document
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in (*reversed(parts), *keys))
    return uri + "#" + "".join("/" + part for part in escaped)


# --- dynamic scopes

Bindings: TypeAlias = dict[str, Resource]
MAX_BINDINGS = 2_000_000  # looked at while scopes are made, all together; meta-schemas have one or two


class Scopes:
    """The scopes of one schema; `root` is the one in which its evaluation begins."""

    def __init__(self, resource: Resource) -> None:
        self._scopes: dict[tuple[int, int], Scope] = {}
        self._entered: dict[tuple[int, int], Scope] = {}
        self._bindings: dict[frozenset[tuple[str, int]], Bindings] = {}
        self._n_bindings = 0
        self.root = self._scope(resource, {})

    def enter(self, scope: Scope, resource: Resource) -> Scope:
        """The scope after a resource is entered from `scope`.

        Raises
        ------
        LimitExceeded
            When there are too many ways to bind anchors.
        """
        if resource is scope.resource:
            return scope
        key = scope.number, id(resource)
        entered = self._entered.get(key)
        if entered is None:
            entered = self._entered[key] = self._scope(resource, scope.bindings)
        return entered

    def _scope(self, resource: Resource, outer: Bindings) -> Scope:
        self._n_bindings += len(resource.dynamic)
        new = [name for name in resource.dynamic if name not in outer]
        bindings = outer
        if new or not self._bindings:
            self._n_bindings += len(outer)
            bindings = {**outer, **dict.fromkeys(new, resource)}
            contents = frozenset((name, id(owner)) for name, owner in bindings.items())
            bindings = self._bindings.setdefault(contents, bindings)
        if self._n_bindings > MAX_BINDINGS:
            raise LimitExceeded(
                "the schema's dynamic anchors are bound in too many ways",
                pointer(resource.at),
                "Use fewer of them: $anchor and $ref where no extension is meant.",
            )
        key = id(resource), id(bindings)
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = Scope()
            scope.number, scope.resource, scope.bindings = len(self._scopes) - 1, resource, bindings
        return scope
