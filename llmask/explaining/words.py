"""What may come next in a JSON document, in words: "id", a number of at most 1, the end of the object.

The engine says which bytes may come; the schema, which of the keys and values that it lists begin so. A key or a listed
text is named where all of it could be written now.

In: a sequence, the document so far, the schemas of the value in progress. Out: words. Cost: 10 us a key that is tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..frontends.json_schema.meaning.place import SchemaAt
from ..matching.json_reader import KEY, LITERAL, NOTHING, NUMBER, STRING, JsonSoFar
from ..matching.sequence import ALL_TAKEN, Sequence

MOST_TRIED = 200  # keys and listed values
MANY_BYTES = 40  # that may come next: then texts are free
SIGNS = {
    "{": "an object",
    "[": "an array",
    "t": "true",
    "f": "false",
    "n": "null",
    ",": "a comma",
    ":": "a colon",
    "}": "the end of the object",
    "]": "the end of the array",
}
BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}
LENGTHS = {"minLength": "at least {} characters", "maxLength": "at most {} characters"}


def words_for(sequence: Sequence, data: bytes, schemas: list[SchemaAt]) -> list[str]:
    """What may come next.

    Parameters
    ----------
    sequence : after `data`.
    data : the document so far.
    schemas : what holds for the value in progress, or the one that comes next.
    """
    document = JsonSoFar().after(data)
    live = [chr(byte) for byte in sequence.generation.live_bytes(sequence.configuration)]
    within, here = document.within, document.innermost
    is_key = within == KEY or (within == NOTHING and here is not None and here.is_object and here.key is None)
    texts = _declared(schemas) if is_key else (True, False, None) if within == LITERAL else _listed(schemas)
    begun = b"" if within == NOTHING else data[document.begin :]
    words = [] if within == NOTHING and '"' not in live and is_key else [*_completions(sequence, begun, texts, is_key)]
    if within in (KEY, STRING):
        if '"' in live and begun + b'"' not in [word.encode() for word in words]:
            words.append(f"the end of the {'key' if is_key else 'string'}")
        if len(live) > MANY_BYTES or not words:
            words.append("a character")
        return words
    digits = [sign for sign in live if sign in "-0123456789"]
    if within == NUMBER:
        words += ["a digit"] if digits else []
        words += ["a fraction"] if "." in live else []
        words += ["an exponent"] if "e" in live or "E" in live else []
    elif digits and not any(word[0] in "-0123456789" for word in words):
        words.append("a number" + _limits(schemas, BOUNDS))
    if '"' in live and not any(word[0] == '"' for word in words):
        words.append("a key" if is_key else "a string" + _limits(schemas, LENGTHS))
    listed = {word[0] for word in words}
    words += [SIGNS[sign] for sign in live if sign in SIGNS and sign not in listed]
    if not words and any(sign in " \t\n\r" for sign in live):
        words.append("white space")
    return words


def _completions(sequence: Sequence, begun: bytes, texts: Iterable[Any], is_key: bool) -> Iterator[str]:
    """The texts of those values that begin with what is there, and could be written now."""
    for number, value in enumerate(texts):
        if number >= MOST_TRIED:
            return
        text = json.dumps(value, ensure_ascii=False)
        data = text.encode("utf-8", "surrogatepass")
        rest = data.removeprefix(begun) + (b":" if is_key else b"")
        if data.startswith(begun) and data != begun and sequence.fork().take_bytes(rest) == ALL_TAKEN:
            yield text


def _declared(schemas: list[SchemaAt]) -> list[str]:
    """Keys that schemas name, the required ones first."""
    said = [schema for schema, _ in schemas if type(schema) is dict]
    names = [name for schema in said for name in schema.get("required", ())]
    return list(dict.fromkeys([*names, *(name for schema in said for name in schema.get("properties", ()))]))


def _listed(schemas: list[SchemaAt]) -> Iterator[Any]:
    """Scalars that schemas list."""
    for schema, _ in schemas:
        if type(schema) is dict:
            values = [schema["const"]] if "const" in schema else schema.get("enum", ())
            yield from (value for value in values if not isinstance(value, (dict, list)))


def _limits(schemas: list[SchemaAt], phrases: dict[str, str]) -> str:
    """What schemas say of a number or of a string's length."""
    found = [
        phrase.format(schema[keyword]).replace(" 1 characters", " 1 character")
        for keyword, phrase in phrases.items()
        for schema, _ in schemas
        if type(schema) is dict and type(schema.get(keyword)) in (int, float)
    ]
    return f" of {' and '.join(found)}" if found else ""
