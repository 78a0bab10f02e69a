"""Places in a schema, kept as links and spelled out as JSON pointers only when somebody asks.

A path is `()` for the root and `(path above, key)` or `(path above, keyword, key)` below it, so going one level
deeper costs one tuple and success never builds a string. What a reference leads to may lie in another document, and
its meaning may depend on the way there; its path then begins with a `Scope`, an empty tuple as well, so whoever climbs
a path with `while path:` ends there without knowing. Source: RFC 6901, section 6 (URI fragments).

In: paths. Out: text. Cost: O(depth), paid by errors and warnings only.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, DRAFT_2019

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
    dynamic : those of the names that `$dynamicAnchor` gave, and RECURSIVE where `$recursiveAnchor` is true.
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
