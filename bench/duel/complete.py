r"""Documents that begin with a text: what a judge is asked to accept as a witness.

They come from no engine: the rest of the document at hand, as far as the text agrees with it; values of the schema
(`enum`, `const`, `default`, declared names) and of the document in the place that is open; short ends of a string, a
number, an escape. What is open around it is closed at once, or after the members and items that the document at hand
has there.

In: text, schema, the document at hand. Out: documents, the likeliest first. Cost: 10 us each.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from bench.duel.partial import (
    AFTER,
    COLON,
    END,
    FIRST_ITEM,
    FIRST_KEY,
    KEY,
    KEY_OPEN,
    LITERALS,
    VALUE,
    Frame,
    OpenLiteral,
    OpenNumber,
    OpenText,
    Partial,
)

MOST_DOCUMENTS = 120  # of one text
PLAIN: tuple[Any, ...] = (None, 0, "", True, [], {}, "a", 1, False, 1.5, -1, [0], [""], [{}], "1", {"a": 0})
ENDS = ("", "a", "1", "A", "-", "aa", "11", "aaa", "aaaaa", "aaaaaaaaaa", "a" * 30, "a" * 100, "a@a.aa", "://a.aa")
NUMBER_ENDS = (
    *("", "0", "1", "5", "9", "00", "000", ".0", ".5"),
    *("e0", "e1", "e2", "e5", "e-1", "e-2", "0e1", "0e-1", ".5e1"),
)
HOME = (", ", ": ")  # separators of the documents


def dumps(value: Any) -> str:
    """A value as the documents are written; exact numbers as they are."""
    if isinstance(value, dict):
        return "{" + HOME[0].join(f"{dumps(name)}{HOME[1]}{dumps(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + HOME[0].join(map(dumps, value)) + "]"
    if value is None or isinstance(value, (bool, str, int, float)):
        return json.dumps(value, ensure_ascii=False)
    whole = value.to_integral_value() if abs(value.adjusted()) < 30 else None
    if whole is not None and whole == value:
        return str(int(value))
    return str(value.normalize()).replace("E", "e")


class Donors:
    """What the schema and the document at hand lend.

    Parameters
    ----------
    schema, document : of the row.
    """

    def __init__(self, schema: Any, document: Any) -> None:
        self.document = document
        self.text = dumps(document).encode("utf-8", "replace")
        names: dict[str, None] = {}
        values: dict[str, Any] = {}
        self._by_key: dict[str, dict[str, Any]] = {}
        _collect(schema, names, values)
        self._lend(document)
        self.names = list(names)
        self.values = list(values.values())[:40]

    def _lend(self, value: Any) -> None:
        for name, member in value.items() if isinstance(value, dict) else ():
            self._by_key.setdefault(name, {})[dumps(member)] = member
            self._lend(member)
        for item in value if isinstance(value, list) else ():
            self._lend(item)

    def at(self, path: tuple[str | int, ...]) -> Any:
        """What the document has there, or None."""
        found = self.document
        for step in path:
            if isinstance(step, str):
                found = found.get(step) if isinstance(found, dict) else None
            else:
                found = found[step] if isinstance(found, list) and step < len(found) else None
        return found

    def for_place(self, path: tuple[str | int, ...]) -> list[Any]:
        """Values that may be valid at a path."""
        found = [self.at(path)] if self.at(path) is not None else []
        if path and isinstance(path[-1], str):
            found += self._by_key.get(path[-1], {}).values()
        if path and isinstance(path[-1], int):
            siblings = self.at(path[:-1])
            found += siblings[:2] if isinstance(siblings, list) else []
        return found


def _collect(schema: Any, names: dict[str, None], values: dict[str, Any]) -> None:
    """Names and values that a schema mentions."""
    if isinstance(schema, dict):
        for keyword, value in schema.items():
            if keyword in ("properties", "required") and isinstance(value, (dict, list)):
                names.update(dict.fromkeys(name for name in value if isinstance(name, str)))
            if keyword in ("enum", "examples") and isinstance(value, list):
                values.update({dumps(member): member for member in value})
            elif keyword in ("const", "default", "example", "minimum", "maximum"):
                values[dumps(value)] = value
            else:
                _collect(value, names, values)
    elif isinstance(schema, list):
        for member in schema:
            _collect(member, names, values)


def documents(text: bytes, partial: Partial, donors: Donors) -> Iterator[bytes]:
    """Documents that begin with the text, each once, MOST_DOCUMENTS at most."""
    seen = set()
    for document in itertools.islice(_all(text, partial, donors), MOST_DOCUMENTS):
        if document not in seen:
            seen.add(document)
            yield document


def _all(text: bytes, partial: Partial, donors: Donors) -> Iterator[bytes]:
    if donors.text.startswith(text):
        yield donors.text
    for lexeme, frames in _continued(partial, donors):
        for close in _closings(frames, partial, donors):
            yield text + lexeme + close.encode()


def _continued(partial: Partial, donors: Donors) -> Iterator[tuple[bytes, list[Frame]]]:
    """What may follow up to the end of a value, and the frames that are open after it."""
    frames, path, opened = partial.frames, partial.path(), partial.open
    if partial.state in (AFTER, END):
        yield b"", frames
    elif isinstance(opened, OpenLiteral):
        for literal in LITERALS:
            if literal.startswith(opened.raw):
                yield literal[len(opened.raw) :].encode(), _with_value(frames)
    elif isinstance(opened, OpenNumber):
        yield from ((end, _with_value(frames)) for end in _number_ends(opened.raw, donors, path))
    elif partial.state == KEY_OPEN and isinstance(opened, OpenText):
        for name, end in _string_ends(partial, opened, _names(frames, donors, opened.text)):
            yield from _members(name, end, frames, donors)
    elif isinstance(opened, OpenText):
        known = [value for value in (*donors.for_place(path), *donors.values) if isinstance(value, str)]
        for _, end in _string_ends(partial, opened, known):
            yield end, _with_value(frames)
    elif partial.state in (VALUE, FIRST_ITEM):
        if partial.state == FIRST_ITEM:
            yield b"", frames
        for value in (*donors.for_place(path), *PLAIN, *donors.values):
            yield dumps(value).encode(), _with_value(frames)
    elif partial.state == COLON:
        yield from _members(frames[-1].key or "", b"", frames, donors)
    elif partial.state in (KEY, FIRST_KEY):
        if partial.state == FIRST_KEY:
            yield b"", frames
        for name in [*_names(frames, donors, ""), "a", "x1"]:
            yield from _members(name, dumps(name).encode(), frames, donors)


def _names(frames: list[Frame], donors: Donors, opened: str) -> list[str]:
    """Keys that may be meant, those of the document at hand first."""
    place = donors.at(tuple(step for frame in frames[:-1] if (step := frame.step()) is not None))
    own = list(place) if isinstance(place, dict) else []
    names = dict.fromkeys([*own, *donors.names])
    return [name for name in names if name.startswith(opened) and name not in frames[-1].members][:12]


def _members(name: str, end: bytes, frames: list[Frame], donors: Donors) -> Iterator[tuple[bytes, list[Frame]]]:
    """The end of a key, and values."""
    opened = [*frames[:-1], Frame(True, [], frames[-1].members, name)]
    path = tuple(step for frame in opened if (step := frame.step()) is not None)
    for value in [*donors.for_place(path)[:3], *PLAIN[:9]]:
        yield end + HOME[1].encode() + dumps(value).encode(), _with_value(opened)


def _string_ends(partial: Partial, opened: OpenText, known: list[str]) -> Iterator[tuple[str, bytes]]:
    """The whole string, and the bytes that complete it."""
    middle, written = _finished(partial, opened)
    for text in dict.fromkeys([*known, *(written + end for end in ENDS)]):
        if text.startswith(written):
            yield text, middle + dumps(text[len(written) :]).encode()[1:]


def _finished(partial: Partial, opened: OpenText) -> tuple[bytes, str]:
    """Bytes that end an escape or a character that is begun, and the text up to there."""
    if partial.pending:
        for n_more in range(1, 4):
            for byte in (0x80, 0xA0, 0x90):
                rest = bytes([byte]) + b"\x80" * (n_more - 1)
                try:
                    return rest, opened.text + (partial.pending + rest).decode()
                except UnicodeDecodeError:
                    continue
    if opened.rest:
        more = {"\\": "n", "\\u": "0041"}.get(opened.rest, "0041"[len(opened.rest) - 2 :])
        whole = opened.rest + more
        character = json.loads(f'"{whole}"')
        if "\ud800" <= character <= "\udbff":
            return f"{more}\\udc00".encode(), opened.text + json.loads(f'"{whole}\\udc00"')
        return more.encode(), opened.text + character
    if opened.text[-1:] and "\ud800" <= opened.text[-1] <= "\udbff":
        return b"\\udc00", opened.text[:-1] + chr(0x10000 + ((ord(opened.text[-1]) - 0xD800) << 10))
    return b"", opened.text


def _number_ends(raw: str, donors: Donors, path: tuple[str | int, ...]) -> Iterator[bytes]:
    known = [dumps(value) for value in (*donors.for_place(path), *donors.values)]
    for end in [*(text[len(raw) :] for text in known if text.startswith(raw)), *NUMBER_ENDS]:
        if re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", raw + end):
            yield end.encode()


def _with_value(frames: list[Frame]) -> list[Frame]:
    """The frames after the value that was open."""
    if not frames:
        return frames
    last = frames[-1]
    if last.is_object:
        return [*frames[:-1], Frame(True, [], {**last.members, last.key or "": None})]
    return [*frames[:-1], Frame(False, [*last.items, None])]


def _closings(frames: list[Frame], partial: Partial, donors: Donors) -> Iterator[str]:
    """Ends of all that is open: with what the document at hand has besides, and without."""
    full, short = "", ""
    for depth in range(len(frames) - 1, -1, -1):
        frame = frames[depth]
        path = tuple(step for outer in partial.frames[:depth] if (step := outer.step()) is not None)
        lent = donors.at(path)
        more, is_first = [], True
        if frame.is_object:
            written = {*frame.members, *([] if frame.key is None or depth == len(frames) - 1 else [frame.key])}
            is_first = not written
            if isinstance(lent, dict):
                more = [f"{dumps(name)}{HOME[1]}{dumps(lent[name])}" for name in lent if name not in written]
        else:
            n_items = len(frame.items) + (depth < len(frames) - 1)
            is_first = not n_items
            if isinstance(lent, list):
                more = [dumps(item) for item in lent[n_items:]]
        end = "}" if frame.is_object else "]"
        added = HOME[0].join(more)
        full += (HOME[0] if added and not is_first else "") + added + end
        short += end
    yield full
    if short != full:
        yield short
