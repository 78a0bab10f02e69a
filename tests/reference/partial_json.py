"""What a beginning of a JSON document says so far, read from its first byte on: the twin of matching/json_reader.py.

In: a beginning. Out: `SoFar`. Cost: quadratic for a whole document, byte by byte.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

NO_VALUE: Any = object()
_HALF = re.compile(rb"(\\(u[0-9a-fA-F]{0,3})?)?\Z")  # what may still become the second half of a surrogate pair


class SoFar(NamedTuple):
    """The value, NO_VALUE if there is none, and what is in progress: as `Matcher.position` has it."""

    value: Any
    pointer: str
    kind: str
    n_bytes: int
    depth: int


class _End(Exception):
    pass


def text_of(body: bytes) -> str:
    """The characters of a beginning of a string that are complete."""
    for length in range(len(body), -1, -1):
        try:
            text = str(json.loads('"' + body[:length].decode() + '"'))
        except ValueError:
            continue
        if not ("\ud800" <= text[-1:] <= "\udbff" and _HALF.fullmatch(body[length:])):
            return text
    raise AssertionError


class _Twin:
    def __init__(self, data: bytes, has_ended: bool) -> None:
        self.data, self.at, self.has_ended = data, 0, has_ended
        self.root: Any = NO_VALUE
        self.path: list[str] = []
        self.depth = 0
        self.where = ("between", 0, "")

    def stop(self, kind: str, begin: int) -> _End:
        self.where = (kind, len(self.data) - begin, "".join("/" + part for part in self.path))
        return _End()

    def blank(self, begin: int | None) -> str:
        """The next byte that is no white space."""
        while self.at < len(self.data) and self.data[self.at] in b" \t\n\r":
            self.at += 1
        if self.at == len(self.data):
            raise self.stop("between", len(self.data) if begin is None else begin)
        return chr(self.data[self.at])

    def string(self, kind: str, put: Any) -> str:
        begin = self.at
        found = re.compile(rb'"((?:[^"\\]|\\.)*)"').match(self.data, begin)
        if found is None:
            put(text_of(self.data[begin + 1 :]))
            raise self.stop(kind, begin)
        self.at = found.end()
        text = str(json.loads(found.group()))
        put(text)
        return text

    def value(self, put: Any) -> None:
        first = self.blank(None)
        begin = self.at
        if first == '"':
            self.string("value", put)
        elif first in "{[":
            self.depth += 1
            self.at += 1
            found: Any = {} if first == "{" else []
            put(found)
            (self.members if first == "{" else self.items)(found, begin)
            self.depth -= 1
        else:
            while self.at < len(self.data) and self.data[self.at] not in b" \t\n\r,]}":
                self.at += 1
            word = self.data[begin : self.at].decode()
            is_cut = self.at == len(self.data) and not (self.has_ended and not self.depth)
            if is_cut and word not in ("true", "false", "null"):
                raise self.stop("value", begin)
            put(json.loads(word))

    def members(self, found: dict[str, Any], begin: int) -> None:
        while self.blank(begin) != "}":
            if self.data[self.at] == ord(","):
                self.at += 1
                self.blank(begin)
            key = self.string("key", lambda text: None)
            self.path.append(key.replace("~", "~0").replace("/", "~1"))
            self.blank(None)  # a colon
            self.at += 1
            self.value(lambda value, key=key: found.__setitem__(key, value))  # type: ignore[misc]
            self.path.pop()
        self.at += 1

    def items(self, found: list[Any], begin: int) -> None:
        while self.blank(begin) != "]":
            if self.data[self.at] == ord(","):
                self.at += 1
                self.blank(begin)
            self.path.append(str(n := len(found)))
            self.value(lambda value, n=n: found.__setitem__(slice(n, None), [value]))  # type: ignore[misc]
            self.path.pop()
        self.at += 1

    def put(self, value: Any) -> None:
        self.root = value


def so_far(data: bytes, has_ended: bool = False) -> SoFar:
    """What a beginning of a JSON document says; `has_ended`: it is all of it, so that a number at the root counts."""
    twin = _Twin(data, has_ended)
    try:
        twin.value(twin.put)
    except _End:
        kind, n_bytes, pointer = twin.where
        return SoFar(twin.root, pointer, kind, n_bytes, twin.depth)
    return SoFar(twin.root, "", "end", 0, 0)
