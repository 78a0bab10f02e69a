"""Text that begins a document: is it a prefix of JSON at all, what is written, and what is open?

The grammar is RFC 8259's, without Python's `NaN`. A number at the end of the text is open, since digits may follow.

In: bytes. Out: `Partial`, or `NotJson`. Cost: about a microsecond a byte.

    {"a": [1, {"b": "x      ->      Frames: object a:   array 1,   object b:        open: the string x
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.generators.judge import exact

BLANKS = " \t\r\n"
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
OPEN_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:(?:\.[0-9]+)?[eE][+-]?[0-9]*|(?:\.[0-9]*)?))?")
STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)')
OPEN_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
LITERALS = {"true": True, "false": False, "null": None}

# what may come next
VALUE, FIRST_ITEM, AFTER, END = "value", "first item", "after", "end"
FIRST_KEY, KEY, COLON = "first key", "key", "colon"
STRING_OPEN, KEY_OPEN, NUMBER_OPEN, LITERAL_OPEN = "string", "open key", "number", "literal"


class NotJson(ValueError):
    """No JSON text begins like this."""


class Nothing(NamedTuple):
    """A value that is expected and not begun."""


class OpenText(NamedTuple):
    """A string of which this is written, decoded; `rest` is an escape that is not finished."""

    text: str
    rest: str


class OpenNumber(NamedTuple):
    """A number of which this is written."""

    raw: str


class OpenLiteral(NamedTuple):
    """The beginning of true, false or null."""

    raw: str


@dataclass
class Frame:
    """An array or object that is not closed.

    items    of an array, those that are complete
    members  of an object, those that are complete
    key      of the member that is being written, or None
    """

    is_object: bool
    items: list[Any] = field(default_factory=list)
    members: dict[str, Any] = field(default_factory=dict)
    key: str | None = None

    def step(self) -> str | int | None:
        """How the path of the document leads from here to what is being written."""
        return self.key if self.is_object else len(self.items)


@dataclass
class Partial:
    """What a text has written.

    state    what may come next, one of the names above
    frames   arrays and objects that are open, the outermost first
    open     the lexeme at the end: OpenText (of a value or key), OpenNumber, OpenLiteral, or Nothing
    pending  bytes of a character that is not complete
    value    the document where it is complete (state END)
    repeated keys that an object has twice
    begin    byte where the open lexeme begins; the text's length where there is none
    before   the state there
    """

    state: str = VALUE
    frames: list[Frame] = field(default_factory=list)
    open: OpenText | OpenNumber | OpenLiteral | Nothing = field(default_factory=Nothing)
    pending: bytes = b""
    value: Any = None
    repeated: list[str] = field(default_factory=list)
    begin: int = 0
    before: str = VALUE

    def copy(self) -> Partial:
        """The same without the open lexeme."""
        frames = [Frame(one.is_object, [*one.items], dict(one.members), one.key) for one in self.frames]
        return Partial(self.before, frames, value=self.value, repeated=[*self.repeated])

    def path(self) -> tuple[str | int, ...]:
        """From the document to what is being written."""
        return tuple(step for frame in self.frames if (step := frame.step()) is not None)

    def is_inside_string(self) -> bool:
        return self.state in (STRING_OPEN, KEY_OPEN)


def read(data: bytes, base: Partial | None = None) -> Partial:
    """Read a text; `base` is what a beginning of it has written, so that only the rest is looked at.

    Raises
    ------
    NotJson : it is no prefix of a JSON text.
    """
    start = base.begin if base is not None else 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data[start:])
    except UnicodeDecodeError as error:
        raise NotJson(f"no UTF-8: {error}") from None
    pending = decoder.getstate()[0]
    reader = _Reader(text, pending, Partial() if base is None else base.copy())
    found = reader.partial
    found.pending = pending
    if pending and not found.is_inside_string():
        raise NotJson("a character outside strings")
    found.begin = start + len(text[: reader.begin].encode("utf-8", "surrogatepass"))
    return found


def decoded(raw: str) -> str:
    """The characters of a string's text, without its quotes."""
    return str(json.loads(f'"{raw}"')) if "\\" in raw else raw


class _Reader:
    def __init__(self, text: str, pending: bytes, partial: Partial) -> None:
        self.text, self.place, self.pending, self.partial = text, 0, pending, partial
        self.begin = len(text)
        while self.place < len(text):
            char = text[self.place]
            if char in BLANKS:
                self.place += 1
            elif self.partial.state in (VALUE, FIRST_ITEM):
                self._value(char)
            elif self.partial.state in (KEY, FIRST_KEY):
                self._key(char)
            elif self.partial.state == COLON:
                self._take(":", char, VALUE)
            elif self.partial.state == AFTER:
                self._after(char)
            else:
                raise NotJson(f"{char!r} after the document")
        if self.begin == len(text):
            partial.before = partial.state

    def _opened(self, state: str, opened: OpenText | OpenNumber | OpenLiteral) -> None:
        """The text ends in a lexeme."""
        self.partial.before, self.begin = self.partial.state, self.place
        self.partial.state, self.partial.open = state, opened
        self.place = len(self.text)

    def _take(self, wanted: str, char: str, state: str) -> None:
        if char != wanted:
            raise NotJson(f"{char!r} where {wanted!r} is expected")
        self.place += 1
        self.partial.state = state

    def _value(self, char: str) -> None:
        if char == "]" and self.partial.state == FIRST_ITEM:
            self._close()
        elif char in "{[":
            self.place += 1
            self.partial.frames.append(Frame(char == "{"))
            self.partial.state = FIRST_KEY if char == "{" else FIRST_ITEM
        elif char == '"':
            text = self._string(STRING_OPEN)
            if text is not None:
                self._put(text)
        elif char in "-0123456789":
            self._number()
        else:
            self._literal()

    def _key(self, char: str) -> None:
        if char == "}" and self.partial.state == FIRST_KEY:
            self._close()
            return
        if char != '"':
            raise NotJson(f"{char!r} where a key is expected")
        text = self._string(KEY_OPEN)
        if text is not None:
            frame = self.partial.frames[-1]
            if text in frame.members:
                self.partial.repeated.append(text)
            frame.key, self.partial.state = text, COLON

    def _after(self, char: str) -> None:
        frame = self.partial.frames[-1]
        if char == ",":
            self.place += 1
            self.partial.state = KEY if frame.is_object else VALUE
        elif char == ("}" if frame.is_object else "]"):
            self._close()
        else:
            raise NotJson(f"{char!r} after a value")

    def _close(self) -> None:
        self.place += 1
        frame = self.partial.frames.pop()
        self._put(frame.members if frame.is_object else frame.items)

    def _put(self, value: Any) -> None:
        """A value is complete."""
        if not self.partial.frames:
            self.partial.value, self.partial.state = value, END
            return
        frame = self.partial.frames[-1]
        if frame.is_object:
            assert frame.key is not None
            frame.members[frame.key], frame.key = value, None
        else:
            frame.items.append(value)
        self.partial.state = AFTER

    def _string(self, state: str) -> str | None:
        """A string, or None where the text ends in it."""
        found = STRING.match(self.text, self.place)
        assert found is not None
        end = found.end()
        if end < len(self.text) and self.text[end] == '"':
            self.place = end + 1
            return decoded(found[1])
        rest = OPEN_ESCAPE.fullmatch(self.text, end)
        if end < len(self.text) and (rest is None or self.pending):
            raise NotJson(f"{self.text[end]!r} in a string")
        self._opened(state, OpenText(decoded(found[1]), rest[0] if rest else ""))
        return None

    def _number(self) -> None:
        found = OPEN_NUMBER.match(self.text, self.place)
        assert found is not None
        if found.end() == len(self.text):
            self._opened(NUMBER_OPEN, OpenNumber(found[0]))
            return
        if not NUMBER.fullmatch(found[0]):
            raise NotJson(f"{self.text[found.end()]!r} in a number")
        self._put(number(found[0]))
        self.place = found.end()

    def _literal(self) -> None:
        for literal, value in LITERALS.items():
            if self.text.startswith(literal, self.place):
                self.place += len(literal)
                self._put(value)
                return
            if literal.startswith(self.text[self.place :]):
                self._opened(LITERAL_OPEN, OpenLiteral(self.text[self.place :]))
                return
        raise NotJson(f"{self.text[self.place]!r} where a value is expected")


def number(raw: str) -> Any:
    """A number exactly."""
    return exact(raw) if re.search(r"[.eE]", raw) else int(raw) if len(raw) < 4000 else exact(raw)


def whole(data: bytes) -> Any:
    """The value of a complete document without repeated keys, with exact numbers.

    Raises
    ------
    NotJson : it is not one.
    """
    try:
        return json.loads(data.decode(), parse_float=exact, parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _refuse(name: str) -> None:
    raise NotJson(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotJson("a key is repeated")
    return found
