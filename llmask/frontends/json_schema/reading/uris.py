"""URI references: what a relative one means at its base.

`urllib.parse.urljoin` joins only the schemes that it knows and raises errors for odd hosts; identifiers of schemas have
any scheme, so the algorithm of the standard is written out. Source: RFC 3986, sections 5.2.2 to 5.2.4 and appendix B.

In: a base URI and a reference. Out: URI and fragment. Cost: linear in their length.
"""

from __future__ import annotations

import re

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
    *inner, last = path.split("/")
    for segment in inner:
        if segment == "..":
            if segments and segments != [""]:
                segments.pop()
        elif segment != ".":
            segments.append(segment)
    if last == "..":
        if segments and segments != [""]:
            segments.pop()
        last = ""
    elif last == ".":
        last = ""
    return "/".join([*segments, last])
