"""What a schema says that its author hardly means: keywords that are nearly one, `nullable`, `if` alone, POSIX classes.

None of it is an error: an unknown keyword is an annotation. But the mask allows more, or other texts, than the author
believes, and nothing else would say so.

In: a schema, its place and its shape. Out: sentences with the place of the keyword. Cost: nothing for a schema without
such keywords, below a microsecond for a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llmask.frontends.json_schema.reading.keywords import OPENAPI_3, Shape
from llmask.frontends.json_schema.reading.misspelled import (
    KNOWN,
    MEANT_SO,
    MOST_LETTERS,
    meant_by,
    n_mistakes,
    names_type,
    near_keywords,
)
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.regex.contradictions import posix_class

NULLABLE = "nullable"
BRANCHES = {"if": ("then", "else"), "then": ("if",), "else": ("if",)}
MOST_NAMES = 3  # that are shown
PATTERNS = ("pattern", "patternProperties")
NO_KEYWORD = ""  # stands for all keys of a schema
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
        return None if "type" in schema else 'adds nothing where no "type" stands beside it'
    meant = f'"type": ["{kind}", "null"]' if isinstance(kind, str) else 'a type "null"'
    return f'is no keyword of JSON Schema and adds nothing: did you mean {meant}, or dialect="openapi-3.0"?'
