"""What contradicts what where a place allows nothing: the remedy of the message.

In: the parts of a place. Out: a sentence. Cost: microseconds, for the first place of a schema that allows nothing.
"""

from __future__ import annotations

from typing import Any

from ..reading.keywords import KEYWORDS, NUMERIC, STRING, is_number
from ..reading.pointers import Path, keys_of
from .context import shown
from .instances import allowed_values, type_of
from .place import Part

OF_NUMBERS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
BOUNDS = {"string": (("minLength",), ("maxLength",)), "integer": OF_NUMBERS, "number": OF_NUMBERS}
MOST_SHOWN = 4  # types, of as many schemas
BOUNDS_HELP = "lower the one, or raise the other"
ALTERNATIVES_HELP = "let one of them agree with the keywords beside them"
STRINGS_HELP = "take out one of the patterns, formats and lengths that exclude each other"
COUNTED_HELP = "raise maxItems, or lower minItems and minContains"
DIFFERENT_HELP = "lower how many are needed, allow more values, or take out uniqueItems"
ANY_VALUE = "write true, or {}, for any value"


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
            return f"{low_name} is {shown(low)} and {high_name} is {shown(high)}: {BOUNDS_HELP}"
    subject = STRING if kind == "string" else NUMERIC
    used = [name for schema, _, _ in parts for name in schema if name in KEYWORDS and KEYWORDS[name][0] == subject]
    if used and all(type(name) is str for name in used):  # the others are what a negation leaves
        return f"no value is left by {', '.join(dict.fromkeys(used))}: change one of them, or take it out"
    return "change one of its keywords, or take it out"


def values_reason(parts: list[Part]) -> tuple[str, Path, str]:
    """Why `const` and `enum` leave no value, where, and how to mend it."""
    path = parts[0][1]
    if any(schema.get("enum") == [] for schema, _, _ in parts):
        return "enum is empty", path, "list at least one value, or take it out"
    if sum(shape.has_values for _, _, shape in parts) > 1:
        return "no value is in all of the lists that const and enum give", path, "give them a value in common"
    help = "list one that does"
    named = [schema["type"] for schema, _, _ in parts if type(schema.get("type")) is str]
    values = [value for part in parts for value in allowed_values(part) or ()]
    types = {type_of(value, path) for value in values}
    if named and not types & {named[0], "integer" if named[0] == "number" else ""}:
        help = f'list values of the type "{named[0]}", or change the type'
    return "no value of const or enum fulfils the other keywords", path, help


def false_help(root: Any, path: Path) -> str:
    """How to mend a place where a value is needed and the schema, that at `path`, is false."""
    keys, _ = keys_of(path)
    if not keys:
        return ANY_VALUE
    if len(keys) > 1 and keys[1] == "properties":
        return f'give it another schema, or take "{keys[0]}" out of what requires it'
    if keys[0] in ("additionalProperties", "unevaluatedProperties"):
        return _undeclared_help(_schema_at(root, keys[:0:-1]))
    if keys[0] in ("items", "additionalItems", "unevaluatedItems"):
        return "allow more items, or ask for fewer"
    return f"{ANY_VALUE}, or take out what asks for one here"


def _schema_at(root: Any, keys: list[str | int]) -> dict[str, Any]:
    """The schema to which keys lead from the root; an empty one where they begin elsewhere."""
    for key in keys:
        try:
            root = root[key]
        except (LookupError, TypeError):
            return {}
    return root if type(root) is dict else {}


def _undeclared_help(schema: dict[str, Any]) -> str:
    """How to mend names that are required and neither declared nor allowed."""
    declared = schema.get("properties", ())
    lost = next((name for name in schema.get("required", ()) if name not in declared), None)
    if lost is None:
        return "declare the properties that are required, or allow others"
    from llmask.frontends.places import nearest  # late: errors only

    near = nearest(lost, declared)
    meant = f', or did you mean "{near}"?' if near else ""
    return f'"{lost}" is required and not declared: add it to "properties"{meant}'
