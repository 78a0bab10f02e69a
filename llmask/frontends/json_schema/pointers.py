"""Places in a schema, kept as links and spelled out as JSON pointers only when somebody asks.

A path is `()` for the root and `(path above, key)` or `(path above, keyword, key)` below it, so going one level
deeper costs one tuple and success never builds a string. Source: RFC 6901, section 6 (URI fragments).

In: paths. Out: text. Cost: O(depth), paid by errors and warnings only.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Path: TypeAlias = tuple[Any, ...]
ROOT: Path = ()


def pointer(path: Path, *keys: str | int) -> str:
    """JSON pointer of a place, as a fragment: `#/properties/a~1b`.

    Examples
    --------
    >>> pointer(((), "properties", "a/b"), "type")
    '#/properties/a~1b/type'
    """
    parts = list(reversed(keys))
    while path:
        above, *below = path
        parts.extend(reversed(below))
        path = above
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in reversed(parts))
    return "#" + "".join("/" + part for part in escaped)
