"""Random objects whose keys are asked for, counted and forbidden at once.

`required`, `minProperties`, `maxProperties` and `dependentRequired` stand beside one another, over declared, patterned
and free keys; few enough are allowed that a key too many leaves no room for those that have to come. Sometimes such an
object is a member or an item of one.

In: a random number generator. Out: a schema that stands alone; no document may fulfil it. Cost: 50 us.
"""

from __future__ import annotations

import random
from typing import Any

NAMES = ("a", "b", "ab", "é", 'q"', "x-1", "name", "", "abc", "x")
VALUES: tuple[Any, ...] = (
    True,
    {"type": "null"},
    {"type": "integer", "minimum": 10},
    {"type": "string", "minLength": 2},
    {"enum": ["one", 2, None]},
    {"type": "array", "maxItems": 1},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": True},
    {"type": "object", "minProperties": 2, "additionalProperties": {"type": "null"}},
)
PATTERNS = ("^x", "b$", "^.$", "^[a-c]+$")


def crowded_schema(rng: random.Random, depth: int = 1) -> Any:
    """A schema of 2020-12."""
    names = rng.sample(NAMES, rng.randint(2, 7))
    inner: list[Any] = [crowded_schema(rng, depth - 1)] if depth and rng.random() < 0.4 else []

    def value() -> Any:
        return inner.pop() if inner and rng.random() < 0.5 else rng.choice(VALUES)

    declared = rng.sample(names, rng.randint(0, len(names)))
    required = rng.sample(names, rng.randint(0, min(4, len(names))))
    schema: dict[str, Any] = {"type": "object", "properties": {name: value() for name in declared}}
    if required:
        schema["required"] = required
    if rng.random() < 0.7:
        asking = rng.sample(names, rng.randint(1, len(names)))
        schema["dependentRequired"] = {name: rng.sample(NAMES, rng.randint(1, 3)) for name in asking}
    low = rng.randint(0, 6)
    if rng.random() < 0.7:
        schema["minProperties"] = low
    if rng.random() < 0.7:
        schema["maxProperties"] = max(low, len(required)) + rng.randint(0, 2)
    if rng.random() < 0.3:
        schema["patternProperties"] = {pattern: value() for pattern in rng.sample(PATTERNS, rng.randint(1, 2))}
    if rng.random() < 0.3:
        schema["propertyNames"] = rng.choice(({"maxLength": 2}, {"pattern": "^[a-z]"}, {"enum": list(NAMES[:6])}))
    if rng.random() < 0.5:
        schema["additionalProperties"] = rng.choice((False, value()))
    if inner and rng.random() < 0.5:
        return {"type": "array", "items": schema, "minItems": rng.randint(0, 3)}
    return schema
