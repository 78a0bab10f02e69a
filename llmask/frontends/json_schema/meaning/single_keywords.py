"""A schema taken apart: each of its keywords as a schema of its own, and the schemas that hold at a place below.

Whether one keyword refuses a text is asked of a grammar of that keyword alone. So a keyword goes with what gives it a
meaning (`if` with `then` and `else`, `additionalProperties: false` with the names that are declared), and without what
is asked at another place: the members of an object and the items of an array are places of their own, where the
schemas under `properties`, `items` and their like are asked.

    {"type": "object", "required": ["a"], "properties": {"a": {"minimum": 1}}, "additionalProperties": false}

    at ""      {"type": "object"}
               {"required": ["a"]}
               {"patternProperties": {"^(?:a)$": {}}, "additionalProperties": false}
    at "/a"    {"minimum": 1}

In: schemas that hold at a place. Out: `Single`s; the schemas that hold below. Cost: 1 us a keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..reading.keywords import ARRAY, KEYWORDS, NUMERIC, OBJECT, REF_ALONE, REFERENCES, STRING
from ..reading.pointers import Path, keys_of
from .array_layout import items_of
from .context import Context
from .place import SchemaAt, members_of
from .scalars import matches_pattern, pattern_string

SYNTAX = re.compile(r"[\\^$.*+?()[\]{}|/]")  # characters that mean something in a pattern
VALUE, KEY = "value", "key"  # what the narrower schemas of a keyword speak about
# The first bytes of the values that a keyword speaks about; others fulfil it.
FIRST_BYTES = {STRING: b'"', NUMERIC: b"-0123456789", ARRAY: b"[", OBJECT: b"{"}
# What is asked with another keyword, or at another place only.
WITH_OTHERS = frozenset(("then", "else", "minContains", "maxContains", "allOf", *REFERENCES))

# A schema `false` under these is asked with the object or array, as its key or item cannot even begin.
OF_CONTAINERS = frozenset(("additionalProperties", "unevaluatedProperties", "items", "additionalItems"))
BY_NAME = frozenset(("properties", "patternProperties", "prefixItems", "items"))


class Single(NamedTuple):
    """One keyword of a schema, as a schema of its own.

    keyword   its name, "" for a schema `false`
    path      where it is written, the keyword included
    value     what is written there
    schema    what it asks, to be compiled at `at`
    at        where the schema is that has it
    narrower  schemas under it; one of them may say more of why a value is refused
    subject   what these speak about: VALUE or KEY
    member    key of the member that it refuses, where it is no other one
    without   the schema without the keyword, where that is asked with all others: it refuses what these take
    """

    keyword: str
    path: Path
    value: Any
    schema: Any
    at: Path
    narrower: tuple[SchemaAt, ...] = ()
    subject: str = VALUE
    member: str | None = None
    without: Any = None


def all_in_place(context: Context, schemas: list[SchemaAt]) -> list[SchemaAt]:
    """The schemas of a place, and all that hold there because of these: by `$ref` and its like, and by `allOf`."""
    found: list[SchemaAt] = []
    seen: set[Any] = set()
    waiting = list(reversed(schemas))
    while waiting:
        schema, path = waiting.pop()
        if schema is True:
            continue
        if schema is not False:
            identity = context.identity(schema, path)
            if identity in seen:
                continue
            seen.add(identity)
            context.count_work()
            shape = context.shape(schema, path)
            others = context.targets(schema, path, shape)
            if "allOf" in shape.in_place:
                others += members_of(schema, path, "allOf")
            waiting += reversed(others)
        found.append((schema, path))
    return found


def alternatives(context: Context, schema: Any, path: Path) -> Iterator[tuple[list[SchemaAt], bool]]:
    """Schemas that may hold beside one, at the same place, by keyword; whether one of them must.

    Which branch of an `if` holds is another question.
    """
    in_place = context.shape(schema, path).in_place if type(schema) is dict else ()
    for keyword in ("anyOf", "oneOf"):
        if keyword in in_place:
            yield members_of(schema, path, keyword), True
    for keyword in ("dependentSchemas", "dependencies"):
        needed = schema[keyword].items() if keyword in in_place else ()
        yield [(member, (path, keyword, name)) for name, member in needed if type(member) is not list], False


def below(context: Context, schemas: list[SchemaAt], key: str | int) -> list[SchemaAt]:
    """The schemas that hold for a member of an object, or an item of an array, as the schemas of its place say."""
    found: list[SchemaAt] = []
    for schema, path in all_in_place(context, schemas):
        if schema is False or ("$ref" in schema and context.shape(schema, path).draft in REF_ALONE):
            continue
        if type(key) is str:
            found += _of_member(context, schema, path, key)
        else:
            prefix, other = items_of(context, schema, path)
            assert type(key) is int
            found.append(prefix[key] if key < len(prefix) else other)
    return [one for one in found if one[0] is not True]


def _of_member(context: Context, schema: dict[str, Any], path: Path, key: str) -> Iterator[SchemaAt]:
    is_declared = False
    if key in schema.get("properties", ()):
        is_declared = True
        yield schema["properties"][key], (path, "properties", key)
    for pattern, member in schema.get("patternProperties", {}).items():
        if matches_pattern(context, pattern_string(context, pattern, path, "patternProperties"), key):
            is_declared = True
            yield member, (path, "patternProperties", pattern)
    if not is_declared and "additionalProperties" in schema:
        yield schema["additionalProperties"], (path, "additionalProperties")


def single_keywords(context: Context, schema: Any, path: Path, first_byte: int) -> Iterator[Single]:
    """The keywords of a schema that speak about a value that begins with a byte, each by itself."""
    if schema is False:
        keys = keys_of(path)[0]
        if not keys or (keys[0] not in OF_CONTAINERS and (len(keys) < 2 or keys[1] not in BY_NAME)):
            yield Single("", path, False, False, path)
        return
    unevaluated = []
    keywords = [keyword for keyword, _, _ in context.shape(schema, path).checks]
    for keyword in sorted(keywords, key="type".__ne__):
        subject, value = KEYWORDS[keyword][0], schema[keyword]
        if keyword in WITH_OTHERS or first_byte not in FIRST_BYTES.get(subject, bytes([first_byte])):
            continue
        if keyword in ("unevaluatedProperties", "unevaluatedItems"):
            unevaluated.append(keyword)
            continue
        if keyword == "properties":
            for name in [name for name, member in value.items() if member is False]:
                alone = {keyword: {name: False}}
                yield Single("", (path, keyword, name), False, alone, path, member=name)
            continue
        for alone, narrower, about in _alone(context, keyword, value, schema, path):
            name, at = keyword, (path, keyword)
            if keyword == "contains":
                name = "maxContains" if "maxContains" in alone else "minContains" if "minContains" in alone else name
                at = (path, name)
            if subject == NUMERIC and "type" in keywords:  # 6 may become 6e-5, an integer may not
                alone["type"] = schema["type"]
            yield Single(name, at, schema[name], alone, path, narrower, about)
    for keyword in unevaluated:  # they ask what all others have looked at
        rest = {key: value for key, value in schema.items() if key not in unevaluated}
        alone = {**rest, keyword: schema[keyword]}
        yield Single(keyword, (path, keyword), schema[keyword], alone, path, without=rest)


Alone = tuple[dict[str, Any], tuple[SchemaAt, ...], str]


def _alone(context: Context, keyword: str, value: Any, schema: dict[str, Any], path: Path) -> Iterator[Alone]:
    """What a keyword asks of a value by itself; several schemas where it asks several things."""
    at = (path, keyword)
    if keyword in ("anyOf", "oneOf"):
        yield {keyword: value}, tuple(members_of(schema, path, keyword)), VALUE
    elif keyword == "if":
        yield {name: schema[name] for name in ("if", "then", "else") if name in schema}, ((value, at),), VALUE
    elif keyword in ("dependentSchemas", "dependencies"):
        for name, needed in value.items():
            inner: SchemaAt = (needed, (path, keyword, name))
            yield {keyword: {name: needed}}, () if type(needed) is list else (inner,), VALUE
    elif keyword == "contains":
        least, most = schema.get("minContains"), schema.get("maxContains")
        if least is None:
            yield {keyword: value}, (), VALUE
        else:
            yield {keyword: value, "minContains": least}, (), VALUE
        if most is not None:
            yield {keyword: value, "minContains": 0, "maxContains": most}, (), VALUE
    elif keyword in ("minimum", "maximum"):
        exclusive = "exclusive" + keyword.capitalize()
        is_pair = type(schema.get(exclusive)) is bool  # as draft 4 has it
        yield {keyword: value, exclusive: schema[exclusive]} if is_pair else {keyword: value}, (), VALUE
    elif keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        if type(value) is not bool:
            yield {keyword: value}, (), VALUE
    elif keyword == "propertyNames":
        yield {keyword: value}, ((value, at),), KEY
    elif keyword == "patternProperties":
        refused = {name: member for name, member in value.items() if member is False}
        if refused:
            yield {keyword: refused}, (), VALUE
    elif keyword == "additionalProperties":
        if value is False:
            yield _declared_only(schema), (), VALUE
    elif keyword in ("items", "prefixItems", "additionalItems"):
        most = _most_items(context, keyword, schema, path)
        if most is not None:
            yield {"maxItems": most}, (), VALUE
    else:
        yield {keyword: value}, (), VALUE


def _declared_only(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of objects with no other keys than those that `properties` and `patternProperties` declare.

    Names are written as a pattern: then the objects need not remember which of them were there.
    """
    names = "|".join(SYNTAX.sub(r"\\\g<0>", name) for name in schema.get("properties", ()))
    patterns = [*([f"^(?:{names})$"] if "properties" in schema else []), *schema.get("patternProperties", ())]
    return {"patternProperties": {pattern: {} for pattern in patterns}, "additionalProperties": False}


def _most_items(context: Context, keyword: str, schema: dict[str, Any], path: Path) -> int | None:
    """How many items an array may have for the schemas `false` that a keyword gives to items, if it gives such."""
    prefix, other = items_of(context, schema, path)
    for index, (member, at) in enumerate(prefix):
        if member is False:
            return index if keys_of(at)[0][1] == keyword else None
    return len(prefix) if other[0] is False and keys_of(other[1])[0][0] == keyword else None
