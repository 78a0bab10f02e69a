r"""Reads a JSON document while it is written: the value so far, and what is in progress, after any of its bytes.

    {"name": "Ad        {"name": "Ad"}     the value at /name is in progress
    {"name": "Ada", "t  {"name": "Ada"}    a key of the object at the root is in progress
    {"name": "Ada\ud83  {"name": "Ada"}    half an escape, or half a character, is left out
    [1, 2               [1]                2 may become 25: a number counts when it has ended

`JsonSoFar` never changes: after more bytes there is another one, which shares all but these. So one can be kept
for every token, sequences that were forked share theirs, and rolling back is taking an older one. Items of open arrays
and objects, and the text of an open string, are kept in chunks, and a short chunk is joined to what comes after it: at
most log2(n) chunks, and every item is copied log2(n) times.

The reader takes for granted that the text is JSON, as a grammar sees to it; of any other text it makes something.

In: bytes, in pieces of any length. Out: values as `json.loads` gives them. Cost: 2 us a piece, 1 us a value; a value so
far 10 ns an item of what is open.
"""

from __future__ import annotations

import json
import re
from codecs import utf_8_decode
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

NOTHING, KEY, STRING, NUMBER, LITERAL = range(5)  # what the last byte is in
MISSING: Any = object()  # no value yet; None is JSON's null

_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_LENIENT = json.JSONDecoder(strict=False)
_BETWEEN = re.compile(rb'[^"\[\]{}\-0-9tfn]*')  # commas and colons, too: that an object has a key at hand says enough
_NUMBER = re.compile(rb"[-+.0-9eE]*")
# Up to the end of a string, or to an escape that is not complete: the first half of a surrogate pair is complete when
# what comes after it is known to be no second half.
_STRING = re.compile(
    rb"""
    [^"\\]* (?: \\ (?:
        [^u]
      | u (?![dD][89abAB]) [0-9a-fA-F]{4}
      | u [dD][89abAB] [0-9a-fA-F]{2} (?:
            \\u [dD][c-fC-F] [0-9a-fA-F]{2}
          | (?= [^\\] | \\[^u] | \\u (?![dD][c-fC-F]) [0-9a-fA-F]{4} )
        )
    ) [^"\\]* )*
    """,
    re.VERBOSE,
)

Chunks = Any  # None, or (chunks before, a chunk); a chunk is a str or a tuple


class Open(NamedTuple):
    """An array or object that is open.

    outer      the one around it, or None
    depth      how many are open, this one included
    is_object  or an array
    begin      bytes of the document before it
    items      chunks of values, or of (key, value)
    n_items    how many are complete
    key        of the member whose value is awaited or in progress; None: a key is, or the object's end
    """

    outer: Open | None
    depth: int
    is_object: bool
    begin: int
    items: Chunks = None
    n_items: int = 0
    key: str | None = None

    def with_item(self, value: Any) -> Open:
        """The same with one more item that is complete."""
        item = (self.key, value) if self.is_object else value
        items = with_chunk(self.items, (item,))
        return Open(self.outer, self.depth, self.is_object, self.begin, items, self.n_items + 1)

    def value(self, last: Any = MISSING) -> Any:
        """What is there so far, with an item in progress."""
        items = joined(self.items, ())
        if not self.is_object:
            return [*items] if last is MISSING else [*items, last]
        found = dict(items)
        if last is not MISSING:
            found[self.key] = last
        return found


class Event(NamedTuple):
    """Something of a JSON document that is complete now.

    kind     "key": a key is; "value": the value of a member is; "item": one of an array; "end": the document
    pointer  JSON pointer of the member, the item or, "", the document
    value    the key, a text; else the value
    """

    kind: str
    pointer: str
    value: Any


class JsonSoFar(NamedTuple):
    """A document after some of its bytes; `JsonSoFar()` is one before the first.

    n_bytes    of the document so far
    innermost  the innermost array or object that is open, or None
    within     what the last byte is in: KEY, STRING, NUMBER, LITERAL, or NOTHING of these
    begin      bytes of the document before that
    chunks     of its text
    held       its last bytes, if they are half a character or escape
    root       the whole value once it is complete, else MISSING
    n_changes  how often the value so far has changed
    """

    n_bytes: int = 0
    innermost: Open | None = None
    within: int = NOTHING
    begin: int = 0
    chunks: Chunks = None
    held: bytes = b""
    root: Any = MISSING
    n_changes: int = 0

    def after(self, data: bytes) -> JsonSoFar:
        """The document after more bytes."""
        return _Reader(self).read(data) if data else self

    @property
    def is_number(self) -> bool:
        """Whether it is a number as a whole, which may go on."""
        return self.within == NUMBER and self.innermost is None

    def ended(self) -> JsonSoFar:
        """The document, a number, if no more bytes come."""
        return _Reader(self).ended()

    @property
    def depth(self) -> int:
        """How many arrays and objects are open."""
        return 0 if self.innermost is None else self.innermost.depth

    def value(self) -> Any:
        """The value so far, or MISSING; complete arrays and objects in it are the same objects from call to call."""
        found = joined(self.chunks, "") if self.within == STRING else self.root
        here = self.innermost
        while here is not None:
            found, here = here.value(found), here.outer
        return found

    def pointer(self) -> str:
        """JSON pointer of the value in progress: of the innermost that has begun, or of a member after its key."""
        return _pointer(self.innermost, self.within > KEY)

    def events(self, data: bytes, has_ended: bool = False) -> tuple[JsonSoFar, list[Event]]:
        """As `after`, or `ended` where nothing follows, and what has become complete, in the order of the text."""
        events: list[Event] = []
        found = _Reader(self, events).read(data)
        if has_ended and found.is_number:
            found = _Reader(found, events).ended()
        return found, events


def _pointer(innermost: Open | None, is_inside: bool) -> str:
    """JSON pointer of what is in progress in an array or object; `is_inside`: of its item, if it is an array."""
    parts, here = [], innermost
    while here is not None:
        if here.is_object and here.key is not None:
            parts.append(here.key.replace("~", "~0").replace("/", "~1"))
        elif not here.is_object and is_inside:
            parts.append(str(here.n_items))
        is_inside, here = True, here.outer
    return "".join("/" + part for part in reversed(parts))


class _Reader:
    """Reads one piece: the fields of `JsonSoFar`, which change meanwhile, and events, if they are wanted."""

    def __init__(self, before: JsonSoFar, events: list[Event] | None = None) -> None:
        self._events = events
        self._n_bytes, self._innermost, self._within, self._begin = before[:4]
        self._chunks, self._held, self._root, self._n_changes = before[4:]

    def _state(self, n_bytes: int) -> JsonSoFar:
        return JsonSoFar(
            *(n_bytes, self._innermost, self._within, self._begin),
            *(self._chunks, self._held, self._root, self._n_changes),
        )

    def read(self, data: bytes) -> JsonSoFar:
        n_bytes = self._n_bytes + len(data)
        if self._held:
            data = self._held + data
            self._n_bytes -= len(self._held)
            self._held = b""
        at = 0
        while at < len(data):
            at = self._STEPS[self._within](self, data, at)
        return self._state(n_bytes)

    def ended(self) -> JsonSoFar:
        self._take_scalar(_number(joined(self._chunks, "")))
        return self._state(self._n_bytes)

    def _take_scalar(self, value: Any) -> None:
        """Take a value that comes as a whole: nothing of it was there before."""
        self._n_changes += 1
        self._take(value)

    def _take(self, value: Any) -> None:
        """Take a value that is complete."""
        self._within, self._chunks = NOTHING, None
        here = self._innermost
        if self._events is not None:
            kind = "end" if here is None else "value" if here.is_object else "item"
            self._events.append(Event(kind, _pointer(here, True), value))
        if here is None:
            self._root = value
        else:
            self._innermost = here.with_item(value)

    def _enter(self, within: int, at: int, text: str = "") -> None:
        self._within, self._begin = within, self._n_bytes + at
        self._chunks = (None, text) if text else None

    def _between(self, data: bytes, at: int) -> int:
        found = _BETWEEN.match(data, at)
        assert found is not None
        at = found.end()
        first = data[at : at + 1]
        here = self._innermost
        if first == b'"':
            is_key = here is not None and here.is_object and here.key is None
            self._enter(KEY if is_key else STRING, at)
            self._n_changes += not is_key
        elif first in (b"{", b"["):
            depth = 1 if here is None else here.depth + 1
            self._innermost = Open(here, depth, first == b"{", self._n_bytes + at)
            self._n_changes += 1
        elif first in (b"}", b"]"):
            if here is not None:
                self._innermost = here.outer
                self._take(here.value())
        elif first:
            within = LITERAL if first in b"tfn" else NUMBER
            self._enter(within, at, first.decode())
        return at + 1

    def _string(self, data: bytes, at: int) -> int:
        """The text of a string or key, as far as its characters are complete."""
        found = _STRING.match(data, at)
        assert found is not None
        end = found.end()
        is_closed = data[end : end + 1] == b'"'
        text, n_read = utf_8_decode(data[at:end], "replace", is_closed)
        if "\\" in text:
            with suppress(ValueError):  # no JSON: as it is
                text = _LENIENT.decode(f'"{text}"')
        if not is_closed:
            self._held = data[at + n_read :]
        if text:
            self._chunks = with_chunk(self._chunks, text)
            self._n_changes += self._within == STRING
        if not is_closed:
            return len(data)
        whole = joined(self._chunks, "")
        if self._within == STRING:
            self._take(whole)
        else:
            assert self._innermost is not None
            self._innermost = self._innermost._replace(key=whole)
            self._within, self._chunks = NOTHING, None
            if self._events is not None:
                self._events.append(Event("key", _pointer(self._innermost, False), whole))
        return end + 1

    def _number(self, data: bytes, at: int) -> int:
        found = _NUMBER.match(data, at)
        assert found is not None
        if found.end() > at:
            self._chunks = with_chunk(self._chunks, found.group().decode())
        if found.end() < len(data):
            self._take_scalar(_number(joined(self._chunks, "")))
        return found.end()

    def _literal(self, data: bytes, at: int) -> int:
        so_far = joined(self._chunks, "")
        word, value = _LITERALS[so_far[0]]
        end = min(at + len(word) - len(so_far), len(data))
        self._chunks = (None, so_far + data[at:end].decode("latin-1"))
        if len(so_far) + end - at == len(word):
            self._take_scalar(value)
        return end

    _STEPS = (_between, _string, _string, _number, _literal)


def _number(text: str) -> Any:
    """A number as `json.loads` reads it; as a `Decimal` if it has more digits than Python makes an int of."""
    try:
        return float(text) if any(sign in text for sign in ".eE") else int(text)
    except ValueError:
        try:
            return Decimal(text)
        except InvalidOperation:  # no JSON
            return text


def with_chunk(chunks: Chunks, chunk: Any) -> Chunks:
    """One more chunk; those before it that are not longer are joined to it."""
    while chunks is not None and len(chunks[1]) <= len(chunk):
        chunks, before = chunks
        chunk = before + chunk
    return chunks, chunk


def joined(chunks: Chunks, nothing: Any) -> Any:
    """All chunks as one, `nothing` without any."""
    found = nothing
    while chunks is not None:
        chunks, chunk = chunks
        found = chunk + found
    return found
