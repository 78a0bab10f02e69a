"""Does a schema hold for a value that is not complete, whatever follows? Then what is `not` that schema is dead.

Only the keywords that a text can settle early are asked; with any other the answer is no.

In: a prover, a schema, a `Partial`. Out: bool. Cost: 10 us.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.duel.partial import Partial

NOTES = frozenset(("title", "description", "$comment", "default", "examples", "definitions", "$defs", "id", "$id"))
ASKED = frozenset(("type", "required", "properties", "allOf", "$ref"))


def is_certain(
    schema: Any,
    partial: Partial,
    depth: int,
    holds: Callable[[Any, Any], bool],
    target: Callable[[str], Any],
    left: int = 20,
) -> bool:
    """Whether the array or object at `depth` fulfils the schema already, and will.

    Parameters
    ----------
    holds : whether a complete value fulfils a schema.
    target : the schema that a reference names.
    """
    if schema is True or schema == {}:
        return True
    if not isinstance(schema, dict) or left == 0 or depth >= len(partial.frames) or set(schema) - NOTES - ASKED:
        return False
    frame = partial.frames[depth]
    inner = [*schema.get("allOf", ())]
    if isinstance(schema.get("$ref"), str):
        inner.append(target(schema["$ref"]))
    if not all(is_certain(part, partial, depth, holds, target, left - 1) for part in inner):
        return False
    if "type" in schema and schema["type"] != ("object" if frame.is_object else "array"):
        return False
    if not frame.is_object:
        return True
    if any(name not in frame.members for name in schema.get("required", ())):
        return False
    properties = schema.get("properties", {})
    return all(name in frame.members and holds(part, frame.members[name]) for name, part in properties.items())
