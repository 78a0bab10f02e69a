"""Places in a schema, kept as links and spelled out as JSON pointers only when somebody asks.

A path is `()` for the root and `(path above, key)` or `(path above, keyword, key)` below it, so going one level
deeper costs one tuple and success never builds a string. What a reference leads to may lie in another document, and
its meaning may depend on the way there; its path then begins with a `Scope`, an empty tuple as well, so whoever climbs
a path with `while path:` ends there without knowing. Source: RFC 6901, section 6 (URI fragments).

In: paths. Out: text. Cost: O(depth), paid by errors and warnings only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from llmask.frontends.json_schema.reading.documents import Resource

Path: TypeAlias = tuple[Any, ...]
ROOT: Path = ()


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
    parts, root = keys_of(path)
    uri = ""
    if isinstance(root, Scope):
        parts += keys_of(root.resource.at)[0]
        uri = root.resource.document
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in (*reversed(parts), *keys))
    return uri + "#" + "".join("/" + part for part in escaped)
