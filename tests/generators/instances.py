"""Instances of a schema: ones that try to be valid, and ones a single change away.

A guided draw collects what holds of a place (the schema, what it refers to, all of `allOf`, one branch of the
others), takes types, bounds, names and values from there, and leaves the verdict to a judge: `not`, `oneOf`,
`unevaluated...` and contradictions are met by trying again. A mutation changes one value, key, length or number.

In: a schema of `schemas.py`, random numbers. Out: values. Cost: 20 to 200 us a value.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from tests.generators.judge import is_multiple, python_pattern, read
from tests.generators.schemas import FORMATS, NAMES, NUMBERS, TEXTS, random_value

Schema = dict[str, Any]
MAX_DEPTH = 6
MADE = {"string": str, "boolean": bool, "null": type(None), "array": list, "object": dict}


def named_places(root: Any) -> dict[str, Any]:
    """What a reference of `schemas.py` may lead to; of two dynamic anchors of one name the outermost."""
    found = {"#": root}
    if not isinstance(root, dict):
        return found
    open_schemas = [root]
    while open_schemas:
        here = open_schemas.pop(0)
        for key in ("$anchor", "$dynamicAnchor"):
            if key in here:
                found.setdefault("#" + here[key], here)
        if "$id" in here:
            found.setdefault(here["$id"], here)
        for key in ("$defs", "definitions"):
            for name, below in here.get(key, {}).items():
                found.setdefault(f"#/{key}/{name}", below)
                if isinstance(below, dict):
                    open_schemas.append(below)
    return found


class Drawer:
    """Draws values for one schema.

    Parameters
    ----------
    root : a schema of `schemas.random_schema`.
    rng : random numbers.
    """

    def __init__(self, root: Any, rng: random.Random) -> None:
        self.root = root
        self.rng = rng
        self.places = named_places(root)

    def value(self) -> Any:
        """A value that tries to fulfil the schema."""
        return self._value([self.root], 0)

    def _value(self, schemas: list[Any], depth: int) -> Any:
        rng = self.rng
        flat: list[Schema] = []
        for schema in schemas:
            self._flatten(schema, flat, 0)
        listed = [schema["enum"] for schema in flat if "enum" in schema]
        listed += [[schema["const"]] for schema in flat if "const" in schema]
        if listed and rng.random() < 0.95:
            values = min(listed, key=len)
            if values:
                return rng.choice(values)
        return self._of_type(self._type(flat, depth), flat, depth)

    def _flatten(self, schema: Any, flat: list[Schema], depth: int) -> None:
        """Collect the schemas that this draw lets hold in place."""
        if not isinstance(schema, dict) or depth > 8:
            return
        rng = self.rng
        flat.append(schema)
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if key in schema:
                self._flatten(self.places.get(schema[key]), flat, depth + 1)
        for below in schema.get("allOf", ()):
            self._flatten(below, flat, depth + 1)
        for key in ("anyOf", "oneOf"):
            possible = [below for below in schema.get(key, ()) if below is not False]
            if possible:
                self._flatten(rng.choice(possible), flat, depth + 1)
        if "if" in schema:
            if schema["if"] is not False and rng.random() < 0.5:
                self._flatten(schema["if"], flat, depth + 1)
                self._flatten(schema.get("then"), flat, depth + 1)
            else:
                self._flatten(schema.get("else"), flat, depth + 1)
        dependent = [*schema.get("dependentSchemas", {}).values(), *schema.get("dependencies", {}).values()]
        for below in dependent:
            if rng.random() < 0.4:
                self._flatten(below, flat, depth + 1)

    def _type(self, flat: list[Schema], depth: int) -> str:
        allowed = set(MADE) | {"number", "integer"}
        for schema in flat:
            if "type" in schema:
                named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
                allowed &= {*named, "integer"} if "number" in named else set(named)
        if depth >= MAX_DEPTH:
            allowed -= {"array", "object"}
        if not allowed:
            return self.rng.choice(sorted(MADE))
        spoken = {keyword for schema in flat for keyword in schema}
        hinted = {
            "object": {"properties", "required", "patternProperties", "minProperties", "additionalProperties"},
            "array": {"items", "prefixItems", "contains", "minItems", "uniqueItems"},
            "string": {"pattern", "minLength", "maxLength", "format"},
            "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum"},
        }
        for name, keywords in hinted.items():
            if name in allowed and spoken & keywords and self.rng.random() < 0.7:
                return name
        return self.rng.choice(sorted(allowed))

    def _of_type(self, name: str, flat: list[Schema], depth: int) -> Any:
        makers: dict[str, Callable[[], Any]] = {
            "null": lambda: None,
            "boolean": lambda: self.rng.random() < 0.5,
            "string": lambda: self._string(flat),
            "number": lambda: self._number(flat),
            "integer": lambda: self._number([*flat, {"multipleOf": 1}]),
            "array": lambda: self._array(flat, depth),
            "object": lambda: self._object(flat, depth),
        }
        return makers[name]()

    def _string(self, flat: list[Schema]) -> str:
        rng = self.rng
        candidates = list(TEXTS) + ["".join(rng.choices('abé"x1', k=rng.randint(1, 4))) for _ in range(8)]
        for schema in flat:
            candidates += FORMATS.get(schema.get("format", ""), ())
        fitting = [text for text in candidates if all(fits_string(schema, text) for schema in flat)]
        return rng.choice(fitting or candidates)

    def _number(self, flat: list[Schema]) -> float:
        rng = self.rng
        candidates: list[float] = list(NUMBERS)
        for schema in flat:
            for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
                if key in schema and not isinstance(schema[key], bool):
                    candidates += [schema[key], schema[key] + 1, schema[key] - 1, schema[key] + 0.5]
            candidates += [schema["multipleOf"] * k for k in (-2, 2, 4, 6)] if "multipleOf" in schema else []
        fitting = [number for number in candidates if all(fits_number(schema, number) for schema in flat)]
        return rng.choice(fitting or candidates)

    def _array(self, flat: list[Schema], depth: int) -> list[Any]:
        rng = self.rng
        low = max((schema.get("minItems", 0) for schema in flat), default=0)
        low = max([low, *(schema.get("minContains", 1) for schema in flat if "contains" in schema)])
        high = min((schema.get("maxItems", 5) for schema in flat), default=5)
        contained = [schema["contains"] for schema in flat if schema.get("contains", False) is not False]
        is_unique = any(schema.get("uniqueItems") for schema in flat)
        items: list[Any] = []
        for place in range(rng.randint(min(low, high), max(low, min(high, low + 2)))):
            at_place = []
            for schema in flat:
                first, others = schema.get("prefixItems", ()), schema.get("items", True)
                if isinstance(others, list):
                    first, others = others, schema.get("additionalItems", True)
                at_place.append(first[place] if place < len(first) else others)
            if contained and (place < low or rng.random() < 0.4):
                at_place.append(rng.choice(contained))
            if False in at_place and place >= low:
                break
            for _ in range(3):
                item = self._value(at_place, depth + 1)
                if not is_unique or item not in items:
                    break
            items.append(item)
        return items

    def _object(self, flat: list[Schema], depth: int) -> dict[str, Any]:
        rng = self.rng
        names = {name for schema in flat for name in schema.get("required", ())}
        declared = [name for schema in flat for name in schema.get("properties", {})]
        high = min((schema.get("maxProperties", 5) for schema in flat), default=5)
        low = max((schema.get("minProperties", 0) for schema in flat), default=0)
        for name in rng.sample([*declared, *NAMES], len(declared) + len(NAMES)):
            wanted = len(names) < low or rng.random() < (0.5 if name in declared else 0.15)
            if wanted and len(names) < high and self._at_name(flat, name) is not None:
                names.add(name)
        for schema in flat:
            for name, others in [*schema.get("dependentRequired", {}).items(), *schema.get("dependencies", {}).items()]:
                if not isinstance(others, list):
                    continue
                names |= set(others) if name in names else set()
        in_order = sorted(names)
        rng.shuffle(in_order)
        return {name: self._value(self._at_name(flat, name) or [True], depth + 1) for name in in_order}

    def _at_name(self, flat: list[Schema], name: str) -> list[Any] | None:
        """Schemas of the member `name`, or None when it must not be there."""
        found: list[Any] = []
        for schema in flat:
            here = [schema["properties"][name]] if name in schema.get("properties", {}) else []
            here += [
                below
                for pattern, below in schema.get("patternProperties", {}).items()
                if re.search(python_pattern(pattern), name)
            ]
            found += here or [schema.get("additionalProperties", True)]
            names = schema.get("propertyNames", True)
            if names is False or (isinstance(names, dict) and not fits_string(names, name)):
                return None
        return None if False in found else found


def fits_string(schema: Schema, text: str) -> bool:
    """Whether the keywords for strings, and enum, let a text pass; formats by their samples."""
    if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 99):
        return False
    if "format" in schema and text not in FORMATS[schema["format"]]:
        return False
    if "enum" in schema and text not in schema["enum"]:
        return False
    return "pattern" not in schema or re.search(python_pattern(schema["pattern"]), text) is not None


def fits_number(schema: Schema, number: float) -> bool:
    """Whether the keywords for numbers let one pass."""
    if number < schema.get("minimum", number) or number > schema.get("maximum", number):
        return False
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low = schema["minimum"] if low is True else low  # as in draft 4
    high = schema["maximum"] if high is True else high
    if (low is not None and low is not False and number <= low) or (
        high is not None and high is not False and number >= high
    ):
        return False
    return "multipleOf" not in schema or is_multiple(read(repr(number)), read(repr(schema["multipleOf"])))


def mutated(rng: random.Random, value: Any) -> Any:
    """The value with one change, somewhere inside: another value, key, length, number or type."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        return _mutated_object(rng, value)
    if isinstance(value, list) and rng.random() < 0.85:
        return _mutated_array(rng, value)
    roll = rng.random()
    if isinstance(value, (dict, list)):
        return random_value(rng, 0)
    if isinstance(value, bool) or value is None or roll < 0.25:
        return random_value(rng, 1)
    if isinstance(value, str):
        place = rng.randint(0, len(value))
        if value and roll < 0.6:
            return value[: place - 1] + value[place:] if place else value[1:]
        return value[:place] + rng.choice('abé"1-') + value[place:]
    return value + rng.choice((1, -1, 2, 0.5, -0.25, 10)) if roll < 0.9 else -value


def _mutated_object(rng: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    name = rng.choice(list(value))
    roll = rng.random()
    if roll < 0.2:
        return {key: member for key, member in value.items() if key != name}
    other = rng.choice(NAMES)
    if roll < 0.35:
        return {**value, other: random_value(rng, 1)}
    if roll < 0.45:
        return {(other if key == name else key): member for key, member in value.items()}
    return {**value, name: mutated(rng, value[name])}


def _mutated_array(rng: random.Random, value: list[Any]) -> list[Any]:
    place = rng.randint(0, len(value))
    roll = rng.random()
    if roll < 0.2 or not value:
        extra = rng.choice(value) if value and rng.random() < 0.5 else random_value(rng, 1)
        return [*value[:place], extra, *value[place:]]
    place = min(place, len(value) - 1)
    if roll < 0.4:
        return value[:place] + value[place + 1 :]
    return [*value[:place], mutated(rng, value[place]), *value[place + 1 :]]
