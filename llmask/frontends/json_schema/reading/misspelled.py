"""Keywords that are none, but nearly one: `propertys`, `requird`, `maxlength`.

The specification takes an unknown keyword for an annotation, so a schema with `requird` asks for nothing, and nothing
says so: the warnings do. Two words are near when they are the same but for case, `$`, `-`, `_` and blanks, or when one
mistake makes the one of the other; in words of eight letters and more two. A mistake is a letter that is missing, too
much, another one or changed places with its neighbour (optimal string alignment). In short words, where many words are
near, another letter does not count, and the value must be one that the keyword may have; in the shortest ones only a
letter that was typed twice is a mistake.

In: an unknown keyword and its value. Out: the keyword that may be meant. Cost: 5 us for a name that is new.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from llmask.frontends.json_schema.reading.keywords import KEYWORDS, TYPE_NAMES

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
    """Help for a `type` that is none.

    Examples
    --------
    >>> types_meant("strin"), types_meant(["int", "null"])
    ('did you mean "string"?', '"int" is none of them: did you mean "integer"?')
    """
    for given in value if type(value) is list else [value]:
        name = given.__name__ if isinstance(given, type) else given
        if type(name) is str and name not in TYPE_NAMES:
            meant = type_meant(name)
            if meant is not None:
                asked = f'did you mean "{meant}"?'
                return asked if given is value else f'"{name}" is none of them: {asked}'
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
