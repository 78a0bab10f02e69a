"""Random JSON schemas of the supported core, each with a way to draw documents that it accepts.

A schema and its documents are drawn together, so valid ones need no search; `jsonschema` then judges both.
Objects list their keys in the order of the schema, free keys last, which is the order that masks allow. Left out on
purpose, because the two sides differ by design: integral numbers written with a fraction, raw DEL in strings.

In: a random number generator. Out: `Drawn`. Cost: microseconds.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker

from tests.generators.judge import Judge

Schema = Any
Maker = Callable[[random.Random], Any]


class Drawn(NamedTuple):
    """A schema and a function that draws a valid document."""

    schema: Schema
    make: Maker


KEYS = ("name", "age", "a", "a b", "é", 'quo"te', "back\\slash", "", "nested", "items", "naïve", "日本", "na", "nam")
TEXTS = (
    "",
    "x",
    "hello world",
    'say "hi"',
    "back\\slash",
    "tab\there",
    "line\nbreak",
    "é",
    "日本語",
    "😀",
    "\u0001",
    "/",
)
PATTERNS: tuple[tuple[str, Maker], ...] = (
    (r"^[a-z]{2,4}$", lambda rng: "".join(rng.choices("abcxyz", k=rng.randint(2, 4)))),
    (r"^\d{3}-\d{4}$", lambda rng: f"{rng.randrange(1000):03}-{rng.randrange(10000):04}"),
    (r"^(foo|bar)+$", lambda rng: "".join(rng.choices(("foo", "bar"), k=rng.randint(1, 3)))),
    (r"[0-9]", lambda rng: rng.choice(("a1", "22", 'quoted "7"', "é9\n"))),
    (r"^a", lambda rng: "a" + rng.choice(TEXTS)),
    (r"z$", lambda rng: rng.choice(("z", "jazz", "\\z", "😀z"))),
    (r"^[^x]*$", lambda rng: rng.choice(("", "yyy", 'a "b"', "\\"))),
    (r"^.{1,3}$", lambda rng: rng.choice(("é", "日本", "ab\\", '"""'))),
    (r"^\S+@\S+$", lambda rng: rng.choice(("me@here", "a\\b@c"))),
)
FORMATS: dict[str, tuple[str, ...]] = {
    "date": ("2024-02-29", "1999-12-31"),
    "time": ("10:20:30Z", "23:59:59.25+01:00"),
    "date-time": ("2024-02-29T10:20:30Z", "2020-01-01T00:00:00-08:00"),
    "ipv4": ("127.0.0.1", "255.249.199.0"),
    "ipv6": ("::1", "2001:db8::ff00:42:8329"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
    "email": ("a@example.com", "first.last@sub.example.org"),
    "hostname": ("example.com", "a-b.c"),
    "duration": ("P3D", "PT5M", "P1Y2M3DT4H5M6S"),
    "uri": ("https://example.com/a?b=c#d", "urn:isbn:1"),
}


class Drawer:
    """Draws one schema; `$defs` are collected while it does."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.definitions: dict[str, Schema] = {}

    def document(self) -> Drawn:
        """A whole schema with its definitions."""
        schema, make = self.schema(3)
        if self.definitions:
            schema = {"$defs": self.definitions, **schema} if isinstance(schema, dict) else schema
        return Drawn(schema, make)

    def schema(self, depth: int) -> Drawn:
        leaves = (self.null, self.boolean, self.integer, self.number, self.string, self.string, self.enum, self.const)
        inner = (
            self.array,
            self.array,
            self.object,
            self.object,
            self.object,
            self.any_of,
            self.one_of,
            self.reference,
        )
        return self.rng.choice(leaves if depth == 0 else (*leaves, *inner, *inner))(depth)

    def null(self, depth: int) -> Drawn:
        return Drawn({"type": "null"}, lambda rng: None)

    def boolean(self, depth: int) -> Drawn:
        return Drawn({"type": "boolean"}, lambda rng: rng.random() < 0.5)

    def integer(self, depth: int) -> Drawn:
        rng = self.rng
        schema: dict[str, Any] = {"type": "integer"}
        low, high = sorted((rng.randint(-300, 300), rng.randint(-300, 300)))
        high += 10
        step = 1
        if rng.random() < 0.3:
            step = rng.choice((2, 3, 5, 7, 10))
            schema["multipleOf"] = step
        if rng.random() < 0.5:
            schema["minimum"] = low
        elif rng.random() < 0.5:
            schema["exclusiveMinimum"] = low - 1
        if rng.random() < 0.5:
            schema["maximum"] = high
        elif rng.random() < 0.5:
            schema["exclusiveMaximum"] = high + 1
        return Drawn(schema, lambda rng: -(-rng.randint(low, high - 10) // step) * step)

    def number(self, depth: int) -> Drawn:
        rng = self.rng
        schema: dict[str, Any] = {"type": "number"}
        low = rng.choice((-10, -2.5, -0.25, 0, 0.1, 3))
        high = low + rng.choice((1, 2.75, 100))
        if rng.random() < 0.5:
            schema[rng.choice(("minimum", "exclusiveMinimum"))] = low
        if rng.random() < 0.5:
            schema[rng.choice(("maximum", "exclusiveMaximum"))] = high
        return Drawn(schema, lambda rng: low + rng.choice((0.125, 0.5, 0.0625, 0.7265625)))

    def string(self, depth: int) -> Drawn:
        rng = self.rng
        kind = rng.random()
        if kind < 0.25:
            pattern, make = rng.choice(PATTERNS)
            return Drawn({"type": "string", "pattern": pattern}, make)
        if kind < 0.45:
            name = rng.choice(sorted(FORMATS))
            return Drawn({"type": "string", "format": name}, lambda rng: rng.choice(FORMATS[name]))
        if kind < 0.7:
            low = rng.randint(0, 3)
            high = low + rng.randint(0, 4)
            schema = {"type": "string", "minLength": low, "maxLength": high}
            if rng.random() < 0.3:
                schema.pop(rng.choice(("minLength", "maxLength")))
            return Drawn(schema, lambda rng: "".join(rng.choices('ab"\\é😀 \n', k=rng.randint(low, high))))
        return Drawn({"type": "string"}, lambda rng: rng.choice(TEXTS))

    def enum(self, depth: int) -> Drawn:
        values = self.rng.sample(
            ["red", "re", 'a"b', "é", "", 1, -20, 0.5, True, None, "green\n", 12], k=self.rng.randint(1, 5)
        )
        return Drawn({"enum": values}, lambda rng: rng.choice(values))

    def const(self, depth: int) -> Drawn:
        value = self.rng.choice(["x", "é\\", 0, -7, 2.5, False, None, [], [1, "a"], {"k": [None]}])
        return Drawn({"const": value}, lambda rng: value)

    def array(self, depth: int) -> Drawn:
        rng = self.rng
        item = self.schema(depth - 1)
        schema: dict[str, Any] = {"type": "array", "items": item.schema}
        low, high = 0, 3
        if rng.random() < 0.5:
            low = schema["minItems"] = rng.randint(0, 3)
        if rng.random() < 0.5:
            high = schema["maxItems"] = low + rng.randint(0, 3)
        first: list[Drawn] = []
        if rng.random() < 0.3:
            first = [self.schema(depth - 1) for _ in range(rng.randint(1, 2))]
            schema["prefixItems"] = [entry.schema for entry in first]

        def make(rng: random.Random) -> list[Any]:
            n = rng.randint(low, max(low, high))
            return [(first[place] if place < len(first) else item).make(rng) for place in range(n)]

        return Drawn(schema, make)

    def object(self, depth: int) -> Drawn:
        rng = self.rng
        names = rng.sample(KEYS, k=rng.randint(0, 4))
        members = {name: self.schema(depth - 1) for name in names}
        required = [name for name in names if rng.random() < 0.5]
        schema: dict[str, Any] = {"type": "object", "properties": {name: m.schema for name, m in members.items()}}
        if required:
            schema["required"] = required
        free: Drawn | None = None
        kind = rng.random()
        if kind < 0.4:
            schema["additionalProperties"] = False
        elif kind < 0.7:
            free = self.schema(0)
            schema["additionalProperties"] = free.schema
        marked: Drawn | None = None
        if rng.random() < 0.25:
            marked = self.schema(0)
            schema["patternProperties"] = {"^x-": marked.schema}

        def make(rng: random.Random) -> dict[str, Any]:
            document = {name: m.make(rng) for name, m in members.items() if name in required or rng.random() < 0.6}
            if marked is not None and rng.random() < 0.5:
                document["x-" + rng.choice(("a", 'é"', "1"))] = marked.make(rng)
            if free is not None:
                for name in rng.sample(("k1", "nameless", "n", "agé"), k=rng.randint(0, 2)):
                    document[name] = free.make(rng)
            return document

        return Drawn(schema, make)

    def any_of(self, depth: int) -> Drawn:
        choices = [self.schema(depth - 1) for _ in range(self.rng.randint(1, 3))]
        return Drawn({"anyOf": [choice.schema for choice in choices]}, lambda rng: rng.choice(choices).make(rng))

    def one_of(self, depth: int) -> Drawn:
        kinds = self.rng.sample((self.boolean, self.integer, self.string, self.array, self.object, self.null), k=2)
        choices = [kind(depth - 1 if depth > 1 else 1) for kind in kinds]
        return Drawn({"oneOf": [choice.schema for choice in choices]}, lambda rng: rng.choice(choices).make(rng))

    def reference(self, depth: int) -> Drawn:
        kind = self.rng.choice(("list", "tree", "plain"))
        name = f"{kind}{len(self.definitions)}"
        pointer = {"$ref": f"#/$defs/{name}"}
        if kind == "plain":
            self.definitions[name] = {}
            target = self.schema(depth - 1)
            self.definitions[name] = target.schema
            return Drawn(pointer, target.make)
        label = "next" if kind == "list" else "children"
        below = pointer if kind == "list" else {"type": "array", "items": pointer, "maxItems": 2}
        self.definitions[name] = {
            "type": "object",
            "properties": {"value": {"type": "integer"}, label: below},
            "required": ["value"],
            "additionalProperties": False,
        }

        def make(rng: random.Random, left: int = 3) -> dict[str, Any]:
            document: dict[str, Any] = {"value": rng.randint(-5, 1000)}
            if left and rng.random() < 0.6:
                if kind == "list":
                    document[label] = make(rng, left - 1)
                else:
                    document[label] = [make(rng, left - 1) for _ in range(rng.randint(0, 2))]
            return document

        return Drawn(pointer, make)


def draw(rng: random.Random) -> Drawn:
    """A random schema of the supported core."""
    return Drawer(rng).document()


def written(rng: random.Random, document: Any) -> str:
    """The document as JSON text, with white space as common programs write it."""
    separators, indent = rng.choice((((",", ":"), None), ((", ", ": "), None), ((",", ": "), 2)))
    return json.dumps(document, ensure_ascii=False, separators=separators, indent=indent)


def spelled(rng: random.Random, data: bytes, ids_by_bytes: dict[bytes, int], longest: int = 12) -> list[int]:
    """Random tokens whose bytes are `data`: any spelling, not the tokenizer's own."""
    ids: list[int] = []
    place = 0
    while place < len(data):
        pieces = [data[place : place + n] for n in range(1, longest + 1)]
        usable = sorted({piece for piece in pieces if piece in ids_by_bytes})
        piece = rng.choice(usable)
        ids.append(ids_by_bytes[piece])
        place += len(piece)
    return ids


def ids_by_bytes(tokenizer: Any) -> dict[bytes, int]:
    """The token of every byte string that is one; special tokens are left out."""
    special = {*tokenizer.special_ids, *tokenizer.eos_ids}
    return {
        tokenizer.token_bytes(t): t
        for t in range(tokenizer.vocab_size)
        if t not in special and tokenizer.token_bytes(t)
    }


# To `jsonschema` any text with @ is an address. What the tests draw and alter is one when it has this form.
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+|" + r'"(\\.|[^"\\])*"@\S+')


@cache
def _formats() -> FormatChecker:
    """The checkers of `jsonschema`; of an address all is looked at."""
    formats = FormatChecker(formats=())
    formats.checkers = dict(Draft202012Validator.FORMAT_CHECKER.checkers)
    formats.checks("email")(lambda value: not isinstance(value, str) or ADDRESS.fullmatch(value) is not None)
    return formats


def formats_without_judge() -> list[str]:
    """Formats that `jsonschema` takes for valid whatever the string, as an optional package is not installed."""
    return sorted(FORMATS.keys() - _formats().checkers.keys())


def is_valid(schema: Schema, text: str | bytes) -> bool:
    """What `jsonschema` says of a document; numbers are read exactly, formats are asserted."""
    return Judge(schema, _formats()).is_valid(text)
