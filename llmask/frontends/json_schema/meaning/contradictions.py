"""What contradicts what where a place allows nothing: the remedy of the message.

In: the parts of a place. Out: a sentence. Cost: microseconds, for the first place of a schema that allows nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.frontends.json_schema.meaning.context import shown
from llmask.frontends.json_schema.reading.keywords import is_number

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.place import Part

BOUNDS = {
    "string": (("minLength",), ("maxLength",)),
    "integer": (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")),
    "number": (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")),
}
MOST_SHOWN = 4  # types, of as many schemas


def types_help(parts: list[Part]) -> str:
    """How to mend schemas that leave no type."""
    named = [schema["type"] for schema, _, _ in parts if "type" in schema]
    listed = list(dict.fromkeys(f'"{kind}"' for kind in named if type(kind) is str))
    is_all = len(listed) > 1 and all(type(kind) is str for kind in named)
    said = f"{' and '.join(listed)} exclude each other; " if is_all and len(listed) <= MOST_SHOWN else ""
    return f"{said}write anyOf where one of the schemas is enough, or take one out"


def bounds_help(kind: str, parts: list[Part]) -> str:
    """How to mend keywords that leave no value of a type."""
    found = []
    for names, is_better in zip(BOUNDS.get(kind, ()), (max, min), strict=False):
        given: list[tuple[Any, str]] = [
            (schema[name], name) for schema, _, _ in parts for name in names if is_number(schema.get(name))
        ]
        if given:
            found.append(is_better(given))
    if len(found) == 2:
        (low, low_name), (high, high_name) = found
        if low > high or (low == high and (low_name, high_name) != (BOUNDS[kind][0][0], BOUNDS[kind][1][0])):
            return f"{low_name} is {shown(low)} and {high_name} is {shown(high)}: lower the one, or raise the other"
    return "change one of its keywords, or take it out"
