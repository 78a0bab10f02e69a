"""Random schemas of the supported keywords, and random values that come near to them."""

from __future__ import annotations

import random
from typing import Any

NAMES = ("a", "b", "ab", "é", 'q"')
TEXTS = ("", "a", "b", "ab", "aab", "é😀", "abc", "2024-02-29", "x-1")
NUMBERS = (0, 1, -1, 2, 3, 5, 7, 12, 0.5, 1.5, -2.25, 100)
PATTERNS = ("^a", "b$", "^[ab]*$", "a.c|b", "^.{2}$", "x-")
SCALARS: tuple[Any, ...] = (None, True, False, *NUMBERS, *TEXTS)


def random_schema(rng: random.Random, depth: int = 3) -> Any:
    """A schema that may refer to `#/$defs/x` and to its root, so it must be the root's."""
    schema = _schema(rng, depth)
    if isinstance(schema, dict):
        schema["$defs"] = {"x": _typed(rng, depth - 1)}  # which refers to itself through its members only
    return schema


def _schema(rng: random.Random, depth: int) -> Any:
    roll = rng.random()
    if roll < 0.05:
        return rng.random() < 0.8
    if roll < 0.12:
        return {"enum": [random_value(rng, 1) for _ in range(rng.randint(1, 4))]}
    if roll < 0.18:
        return {"const": random_value(rng, 1)}
    if depth > 0 and roll < 0.24:
        return {"$ref": "#/$defs/x", **({"type": rng.choice(("string", "object"))} if rng.random() < 0.2 else {})}
    if depth > 0 and roll < 0.42:
        keyword = rng.choice(("anyOf", "allOf", "oneOf"))
        members = [_schema(rng, depth - 1) for _ in range(rng.randint(1, 3))]
        return {**(_typed(rng, depth - 1) if rng.random() < 0.4 else {}), keyword: members}
    return _typed(rng, depth)


def _some(rng: random.Random, keywords: dict[str, Any], share: float = 0.4) -> dict[str, Any]:
    return {keyword: value for keyword, value in keywords.items() if rng.random() < share}


def _typed(rng: random.Random, depth: int) -> dict[str, Any]:
    kind = rng.choice(("string", "integer", "number", "object", "object", "array", "boolean", "null"))
    schema: dict[str, Any] = {"type": kind} if rng.random() < 0.85 else {}
    if kind == "string":
        lengths = {"minLength": rng.randint(0, 2), "maxLength": rng.randint(1, 4)}
        schema |= _some(rng, {**lengths, "pattern": rng.choice(PATTERNS)})
    elif kind in ("integer", "number"):
        bounds = {"minimum": rng.choice(NUMBERS), "maximum": rng.choice(NUMBERS), "multipleOf": rng.choice((2, 3, 0.5))}
        schema |= _some(rng, {**bounds, "exclusiveMinimum": rng.choice(NUMBERS), "exclusiveMaximum": 12}, 0.25)
    elif kind == "array" and depth > 0:
        prefix = [_schema(rng, depth - 1) for _ in range(rng.randint(1, 2))]
        counts = {"minItems": rng.randint(0, 2), "maxItems": rng.randint(1, 4)}
        schema |= _some(rng, {**counts, "items": _schema(rng, depth - 1), "prefixItems": prefix})
    elif kind == "object" and depth > 0:
        names = rng.sample(NAMES, rng.randint(1, 3))
        schema |= _some(
            rng,
            {
                "properties": {name: _schema(rng, depth - 1) for name in names},
                "required": rng.sample(NAMES, rng.randint(1, 2)),
                "additionalProperties": rng.choice((False, True, _schema(rng, depth - 1))),
                "patternProperties": {rng.choice(PATTERNS): _schema(rng, depth - 1)},
                "propertyNames": {"pattern": rng.choice(PATTERNS)} if rng.random() < 0.3 else {"maxLength": 3},
                "minProperties": rng.randint(0, 2),
                "maxProperties": rng.randint(1, 3),
            },
            0.35,
        )
    return schema


def random_value(rng: random.Random, depth: int = 2) -> Any:
    roll = rng.random()
    if depth > 0 and roll < 0.25:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if depth > 0 and roll < 0.55:
        return {name: random_value(rng, depth - 1) for name in rng.sample(NAMES, rng.randint(0, 3))}
    return rng.choice(SCALARS)


def mutated(rng: random.Random, value: Any) -> Any:
    """A value one change away."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        if rng.random() < 0.3:
            return {key: member for key, member in value.items() if key != name}
        return {**value, rng.choice((name, name, rng.choice(NAMES))): mutated(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], *([] if rng.random() < 0.3 else [mutated(rng, value[at])]), *value[at + 1 :]]
    return random_value(rng, 1)
