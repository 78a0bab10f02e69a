"""What a schema says that its author hardly means, and how to mend what is no schema.

Keywords that are nearly one (`propertys`, `requird`, `maxlength`), `nullable`, `if` alone, POSIX classes are no
errors, as an unknown keyword is an annotation. But the mask allows more, or other texts, than the author believes, and
nothing else would say so.

Two words are near when they are the same but for case, `$`, `-`, `_` and blanks, or when one mistake makes the one of
the other; in words of eight letters and more two. A mistake is a letter that is missing, too much, another one or
changed places with its neighbour (optimal string alignment). In short words, where many words are near, another letter
does not count, and the value must be one that the keyword may have; in the shortest ones only a letter that was typed
twice is a mistake.

In: a schema, its place and its shape; a keyword and its value. Out: sentences with the place of the keyword; remedies
for messages. Cost: nothing for a schema without such keywords, below a microsecond for a pattern, 5 us for a name that
is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from llmask.frontends.regex.contradictions import posix_class

from .keywords import (
    BOOLEAN,
    COUNT,
    KEYWORDS,
    MAPPING,
    NAME_LISTS,
    NAMES,
    NUMBER,
    OPENAPI_3,
    SCHEMA,
    SCHEMAS,
    TEXT,
    TYPE_NAMES,
    Shape,
)
from .pointers import Path, pointer

# Annotations of the specification and of OpenAPI, and what others write often: known, so no mistakes.
KNOWN = frozenset((
    "$anchor", "$comment", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "deprecated", "description", "discriminator", "example", "examples",
    "externalDocs", "id", "nullable", "readOnly", "title", "writeOnly", "xml",
))  # fmt: skip
OTHER_TYPES = {
    "str": "string", "text": "string", "char": "string", "int": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "num": "number", "bool": "boolean", "none": "null", "nil": "null",
    "list": "array", "tuple": "array", "dict": "object", "map": "object", "record": "object", "struct": "object",
}  # fmt: skip
# types of what clients send beside schemas, and what reads it
OTHER_DOCUMENTS = {
    "json_schema": "response_format", "json_object": "response_format", "grammar": "response_format",
    "structural_tag": "structural_tag", "function": "tools",
}  # fmt: skip
SHORT = 5  # letters
LONG = 8
MEANT_SO = ("_", "x-")  # how people put a keyword out of action, and extensions of OpenAPI
MOST_LETTERS = 30  # of a name that is looked at
LEFT_OUT = str.maketrans("", "", "$-_ ")


def _plain(name: str) -> str:
    return name.lower().translate(LEFT_OUT)


def _letters(name: str) -> int:
    """Which letters a name has, as a set of bits; one mistake changes at most two of them."""
    found = 0
    for letter in name:
        found |= 1 << (ord(letter) & 31)
    return found


# Misspelled definitions are found where a reference names them.
KEYS = [key for key in KEYWORDS if isinstance(key, str) and key not in ("$defs", "definitions")]
PLAIN_KEYS = [(key, _plain(key), _letters(_plain(key))) for key in KEYS]


def meant_by(name: str, value: Any) -> str | None:
    """The keyword that is meant by one that is unknown, or None.

    Examples
    --------
    >>> meant_by("propertys", {}), meant_by("time", "2024-01-01")
    ('properties', None)
    """
    for key in near_keywords(name):
        if len(_plain(key)) > SHORT or KEYWORDS[key][1][0](value):
            return key
    return None


def types_meant(value: Any) -> str:
    """Help for a `type` that is not one.

    Examples
    --------
    >>> types_meant("strin"), types_meant(["int", "null"])
    ('did you mean "string"?', '"int" is not one of them: did you mean "integer"?')
    """
    for given in value if type(value) is list else [value]:
        name = given.__name__ if isinstance(given, type) else given
        if type(name) is str and name not in TYPE_NAMES:
            meant = type_meant(name)
            if meant is not None:
                asked = f'did you mean "{meant}"?'
                return asked if given is value else f'"{name}" is not one of them: {asked}'
            if name in OTHER_DOCUMENTS:
                return f"Compiler.{OTHER_DOCUMENTS[name]} reads documents of this type"
    return "the types are " + ", ".join(f'"{name}"' for name in sorted(TYPE_NAMES)) + "; without one it is any value"


def type_meant(name: str) -> str | None:
    """The type of JSON that is meant by a name, which may be right; None where none is near."""
    given = name.lower()
    if len(name) > MOST_LETTERS:
        return None
    if given in OTHER_TYPES or given in TYPE_NAMES:
        return OTHER_TYPES.get(given, given)
    n, nearest = min((n_mistakes(given, known), known) for known in sorted(TYPE_NAMES))
    return nearest if n <= 2 else None


def names_type(value: Any) -> bool:
    """Whether a value is the name of a type, here or elsewhere."""
    return type(value) is str and (value in TYPE_NAMES or value in OTHER_TYPES)


@lru_cache(10_000)
def near_keywords(name: str) -> tuple[str, ...]:
    """Keywords that a name is nearly, the nearest first."""
    if name in KNOWN or len(name) > MOST_LETTERS or name.startswith(MEANT_SO):
        return ()
    given = _plain(name)
    letters = _letters(given)
    found = []
    for key, plain, of_key in PLAIN_KEYS:
        most = 2 if len(plain) >= LONG else 1 if len(plain) >= SHORT - 1 else 0
        if abs(len(plain) - len(given)) <= max(most, 1) and (letters ^ of_key).bit_count() <= 2 * most:
            n = n_mistakes(given, plain)
            is_changed = n == 1 and len(given) == len(plain) <= SHORT and sorted(given) != sorted(plain)
            if (n <= most and not is_changed) or (most == 0 and n == 1 and is_typed_twice(given, plain)):
                found.append((n, key))
    return tuple(key for _, key in sorted(found))


def is_typed_twice(given: str, word: str) -> bool:
    """Whether one letter of a word was typed twice."""
    return any(given == word[:at] + letter + word[at:] for at, letter in enumerate(word))


def n_mistakes(one: str, other: str) -> int:
    """Letters to take out, put in, change, or swap with their neighbour, to make the one of the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for place, wanted in enumerate(other, 1):
            n = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != wanted))
            if at > 1 and place > 1 and letter == other[place - 2] and wanted == one[at - 2]:
                n = min(n, earlier[place - 2] + 1)
            row.append(n)
    return row[-1]


NULLABLE = "nullable"
BRANCHES = {"if": ("then", "else"), "then": ("if",), "else": ("if",)}
MOST_NAMES = 3  # that are shown
PATTERNS = ("pattern", "patternProperties")
NO_KEYWORD = ""  # in place of all keys of a schema
HOLDERS = ("schema", "json_schema", "parameters", "inputSchema", "input_schema")  # of what clients and servers send
AS_PROPERTIES = 'if these are names of properties, write {"properties": {...}}'


def suspects_of(shape: Shape) -> tuple[str, ...]:
    """Keys of schemas of a shape at whose values `hints_of` has to look."""
    unknown = [key for key in shape.unknown if key == NULLABLE or near_keywords(key)]
    if shape.unknown and not unknown and not shape.checks:
        return (NO_KEYWORD,)
    checked = [key for key, _, _ in shape.checks]
    alone = [key for key in BRANCHES if key in checked and _about_branches(key, shape)] if shape.unknown else []
    return (*unknown, *alone, *(key for key in checked if key in PATTERNS))


def hints_of(schema: dict[Any, Any], path: Path, shape: Shape) -> Iterator[tuple[str, str]]:
    """The place of each such keyword, and what to say of it."""
    for key in shape.suspects:
        if key == NO_KEYWORD:
            if any(type(value) is dict or names_type(value) for value in schema.values()):
                inside = next((name for name in HOLDERS if type(schema.get(name)) in (dict, bool)), None)
                help = AS_PROPERTIES if inside is None else f"the schema is in {pointer(path, inside)}"
                yield pointer(path), f"no key at {pointer(path)} is a keyword, so it allows any value: {help}"
            continue
        value = schema[key]
        if key == "pattern":
            found = [(pointer(path, key), posix_class(value))]
        elif key == "patternProperties":
            found = [(pointer(path, key, name), posix_class(name)) for name in value]
        elif key in BRANCHES:
            found = [(pointer(path, key), _about_branches(key, shape))]
        elif key == NULLABLE:
            found = [(pointer(path, key), _about_null(schema, shape))] if value is True else []
        else:
            meant = meant_by(key, value)
            said = f'is no keyword and asks nothing: did you mean "{meant}"?' if meant else None
            found = [(pointer(path, key), said)]
        yield from ((where, f'"{key}" at {where} {said}') for where, said in found if said)


def _about_branches(key: str, shape: Shape) -> str | None:
    """What to say of one of `if`, `then` and `else` that lacks what it goes with, where another key may be meant so."""
    checked = [name for name, _, _ in shape.checks]
    unknown = [name for name in shape.unknown if not (name in KNOWN or name.startswith(MEANT_SO))]
    missing = [name for name in BRANCHES[key] if name not in checked]
    if not missing or not unknown:
        return None
    if len(missing) < len(BRANCHES[key]):  # one branch is there, which is all that most need
        near = [name for name in unknown if len(name) <= MOST_LETTERS and not near_keywords(name)]
        near = [name for name in near if n_mistakes(name.lower(), missing[0]) == 1]
        return f'has no "{missing[0]}" beside it: is it meant by "{near[0]}"?' if near else None
    names = ", ".join(f'"{name}"' for name in unknown[:MOST_NAMES])
    are = f"{names} is no keyword" if len(unknown) == 1 else f"{names} are no keywords"
    asked = " or ".join(f'"{name}"' for name in missing)
    return f"asks nothing: there is no {asked} beside it, and {are}"


def _about_null(schema: dict[Any, Any], shape: Shape) -> str | None:
    kind = schema.get("type")
    if shape.draft == OPENAPI_3:
        return None if "type" in schema else 'adds nothing where no "type" is beside it'
    meant = f'"type": ["{kind}", "null"]' if isinstance(kind, str) else 'a type "null"'
    return f'is no keyword of JSON Schema and adds nothing: did you mean {meant}, or dialect="openapi-3.0"?'


# --- remedies

MOST_SHOWN = 20  # letters of a value
A_NUMBER = "write a number, such as 3 or 0.5"
# by what `KEYWORDS` says that a value must be, or by the keyword, where it says so of this one only
REMEDIES = {
    TEXT[1]: "write a text, in quotes",
    COUNT[1]: "write a whole number from 0 on, such as 3",
    NUMBER[1]: A_NUMBER,
    SCHEMAS[1]: 'write a list of one or more: [{"type": "string"}, {"type": "null"}]',
    MAPPING[1]: 'write each name with its schema: {"name": {"type": "string"}}',
    NAMES[1]: 'write a list: ["name"]',
    BOOLEAN[1]: "write true or false",
    NAME_LISTS[1]: 'write them so: {"name": ["other"]}',
    "enum": 'write a list: ["a", "b"]',
    "dependencies": 'write them so: {"name": ["other"]}, or {"name": {"required": ["other"]}}',
    "exclusiveMinimum": A_NUMBER,
    "exclusiveMaximum": A_NUMBER,
    "multipleOf": "write a number above 0, such as 10 or 0.01",
}
SPELLED = (COUNT[1], NUMBER[1], BOOLEAN[1])  # what quotes make a text of
OF_SCHEMAS = (SCHEMA[1], KEYWORDS["items"][1][1])


def value_help(keyword: str, value: Any) -> str:
    """How to mend the value of a keyword.

    Examples
    --------
    >>> value_help("maxItems", "3"), value_help("items", "string")
    ('write it without quotes: 3', 'write {"type": "string"}')
    """
    expected = KEYWORDS[keyword][1][1]
    if keyword == "type":
        return types_meant(value)
    if keyword == "required" and type(value) is bool:
        return 'name the property in the schema of the object: "required": ["name"]'
    if keyword == "$ref" and type(value) is dict:
        return 'write its keywords here, without "$ref"'
    if type(value) is dict and not all(type(name) is str for name in value):
        return "write its names as texts, in quotes"
    if expected in SPELLED and type(value) is str and KEYWORDS[keyword][1][0](_unquoted(value)):
        return f"write it without quotes: {value}"
    return schema_help(value) if expected in OF_SCHEMAS else REMEDIES.get(keyword) or REMEDIES[expected]


def schema_help(value: Any) -> str:
    """How to mend what is given in place of a schema."""
    if type(value) is str:
        kind = type_meant(value)
        if kind is not None:
            return f'write {{"type": "{kind}"}}'
        if type(_unquoted(value)) is bool:
            return f"write it without quotes: {value}"
    if type(value) is list:
        return 'give one of them, or {"anyOf": [...]} where any may hold'
    if value is None:
        return 'write {} for any value, or {"type": "null"} for null'
    return 'write an object such as {"type": "string"}, or true for any value'


def _unquoted(text: str) -> Any:
    """What a short text is to JSON, or the text itself."""
    try:
        return json.loads(text) if len(text) <= MOST_SHOWN else text
    except ValueError:
        return text
