"""Random schemas in which every keyword of 2020-12 meets the others.

Names, patterns, numbers and strings come from small pools, so that keywords speak of the same members and values and
often contradict one another. Subschemas in place (allOf, not, if, ...) mostly speak about the type of the schema that
holds them. References in place lead to earlier definitions only, so that none leads to itself without a step into the
instance; members and items may refer to anything.

In: a random number generator. Out: a schema that stands alone. Cost: 100 us.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

Schema = Any

NAMES = ("a", "b", "ab", "é", 'q"', "x-1")
NAME_PATTERNS = ("^a", "b$", "^x-", "é|q", "^.$")
TEXTS = ("", "a", "b", "ab", "aab", "ba", "é", "😀é", "a\tb", 'q"', "\\", "x-1", "12", "bé/", "\u0001")
PATTERNS = ("^a", "b$", "^[ab]*$", "a.b|^$", "^.{2}$", "é", r"^\d", r"[^a\\]", "^(?:a|é){1,3}$")
NUMBERS = (0, 1, 2, 3, 4, 7, 10, -1, -2, 0.5, 1.5, -0.25, 0.1)
FACTORS = (1, 2, 3, 0.5, 1.5, 0.1)
FORMATS = {
    "date": ("2024-02-29", "2023-02-29", "1999-12-31"),
    "ipv4": ("127.0.0.1", "256.0.0.1", "1.2.3"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400"),
}
SUBJECTS = ("object",) * 5 + ("array",) * 4 + ("string",) * 3 + ("number",) * 2 + ("integer", "boolean", "null")
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
SIZES = (2, 4, 6, 9, 13, 20)  # schema objects in one schema, about

VOCABULARY = (
    "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "contains",
    "maxProperties", "minProperties", "required", "dependentRequired", "prefixItems", "items", "properties",
    "patternProperties", "additionalProperties", "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then",
    "else", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "$ref", "$defs", "$anchor", "$dynamicRef",
    "format",
)  # fmt: skip
MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"))
VALUES = frozenset(("enum", "const", "required", "dependentRequired", "type", "default", "examples"))


def random_schema(rng: random.Random, depth: int = 3) -> Schema:
    """A schema of 2020-12 for `Draft202012Validator` and a compiler alike."""
    return _dynamic_tree(rng) if rng.random() < 0.02 else _Drawer(rng).root(depth)


def keywords_of(schema: Schema) -> Counter[str]:
    """How often each keyword occurs; names of properties and values are not keywords."""
    found: Counter[str] = Counter()
    open_schemas = [schema]
    while open_schemas:
        here = open_schemas.pop()
        if isinstance(here, list):
            open_schemas += here
        elif isinstance(here, dict):
            found.update(list(here))
            for key, value in here.items():
                if key in MAPS and isinstance(value, dict):
                    open_schemas += value.values()
                elif key not in VALUES:
                    open_schemas.append(value)
    return found


def random_value(rng: random.Random, depth: int = 2) -> Any:
    """Any value over the pools."""
    roll = rng.random()
    if depth > 0 and roll < 0.25:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if depth > 0 and roll < 0.55:
        return {name: random_value(rng, depth - 1) for name in rng.sample(NAMES, rng.randint(0, 3))}
    scalars: tuple[Any, ...] = (None, True, False, rng.choice(NUMBERS), rng.choice(NUMBERS))
    return rng.choice((*scalars, rng.choice(TEXTS), rng.choice(TEXTS)))


def _dynamic_tree(rng: random.Random) -> Schema:
    """A tree that another resource extends: `$dynamicRef` leads to the outermost of two anchors."""
    extra = rng.choice(NAMES[:3])
    items = {"type": "array", "maxItems": 2, "items": {"$dynamicRef": "#node"}}
    tree = {"$id": "tree", "$dynamicAnchor": "node", "type": "object", "properties": {"ab": items}}
    strict = rng.choice(({"unevaluatedProperties": False}, {"required": [extra]}, {"maxProperties": 1}))
    return {
        "$id": "https://example.test/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "properties": {extra: {"type": rng.choice(TYPES)}} if rng.random() < 0.5 else {},
        **strict,
        "$defs": {"tree": tree},
    }


class _Drawer:
    """Draws one schema."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.n_nodes = 0
        self.max_nodes = rng.choice(SIZES)
        self.references: list[dict[str, str]] = []  # that may stand in place
        self.free_references: list[dict[str, str]] = []  # that may stand under members and items

    def root(self, depth: int) -> Schema:
        rng = self.rng
        definitions: dict[str, Schema] = {}
        names = ["d0", "d1"][: rng.choice((0, 0, 1, 1, 2))]
        self.free_references = [{"$ref": f"#/$defs/{name}"} for name in names]
        if rng.random() < 0.15:
            self.free_references.append({"$ref": "#"})
        for name in names:
            definition = self.schema(depth - 1, rng.choice(SUBJECTS[:9]))
            reference = {"$ref": f"#/$defs/{name}"}
            if isinstance(definition, dict) and rng.random() < 0.5:
                kind = rng.choice(("$anchor", "$dynamicAnchor"))
                definition = {kind: f"at-{name}", **definition}
                reference = {"$ref" if kind == "$anchor" or rng.random() < 0.2 else "$dynamicRef": f"#at-{name}"}
            definitions[name] = definition
            self.references.append(reference)
            self.free_references.append(reference)
        schema = self.schema(depth, rng.choice(SUBJECTS), is_whole=True)
        if self.references and rng.random() < 0.35:
            reference = rng.choice(self.references)
            schema = {**schema, **reference}
            if "$dynamicRef" in reference and rng.random() < 0.4:
                schema[rng.choice(("unevaluatedProperties", "unevaluatedItems"))] = False
        return {**schema, "$defs": definitions} if definitions else schema

    def schema(self, depth: int, subject: str, is_whole: bool = False) -> Schema:
        """A schema that mostly speaks of values of the type `subject`."""
        rng = self.rng
        self.n_nodes += 1
        if not is_whole:
            if rng.random() < 0.05:
                return rng.random() < 0.7
            if self.references and rng.random() < 0.08:
                return dict(rng.choice(self.references))
        if self.n_nodes > self.max_nodes:
            depth = 0
        schema: dict[str, Any] = {}
        if rng.random() < 0.6:
            others = [name for name in TYPES if name != subject]
            schema["type"] = [subject, rng.choice(others)] if rng.random() < 0.2 else subject
        roll = rng.random()
        if roll < 0.06:
            schema["enum"] = self.different([self.value(subject) for _ in range(rng.randint(1, 4))])
        elif roll < 0.11:
            schema["const"] = self.value(subject)
        makers = {"object": self.object, "array": self.array, "string": self.string}
        maker = makers.get(subject, self.number)
        schema |= maker(depth)
        if rng.random() < 0.08:
            schema |= rng.choice((self.object, self.array, self.string, self.number))(0)
        if depth > 0:
            schema |= self.in_place(depth, subject)
        items = list(schema.items())
        rng.shuffle(items)
        return dict(items)

    def value(self, subject: str) -> Any:
        """A value for enum and const, mostly of the type."""
        rng = self.rng
        if rng.random() < 0.25:
            return random_value(rng, 1)
        if subject == "object":
            return {name: random_value(rng, 0) for name in rng.sample(NAMES, rng.randint(0, 2))}
        if subject == "array":
            return [random_value(rng, 0) for _ in range(rng.randint(0, 3))]
        return rng.choice({"string": TEXTS, "boolean": (True, False), "null": (None,)}.get(subject, NUMBERS))

    @staticmethod
    def different(values: list[Any]) -> list[Any]:
        """Values without repetitions, as the meta-schema asks."""
        return list({repr(value): value for value in values}.values())

    def below(self, depth: int) -> Schema:
        """A schema of members or items: the subject is free, references too."""
        rng = self.rng
        if depth <= 0 or self.n_nodes >= self.max_nodes:
            self.n_nodes += 1
            leaves = ({}, True, {"type": rng.choice(TYPES)}, {"const": rng.choice(NUMBERS)}, {"maxLength": 1})
            return rng.choice((*leaves, {"enum": [rng.choice(TEXTS), 1, None]}, {"type": ["integer", "string"]}))
        if self.free_references and rng.random() < 0.2:
            return dict(rng.choice(self.free_references))
        return self.schema(depth - 1, rng.choice(SUBJECTS))

    def some(self, keywords: dict[str, Any], share: float) -> dict[str, Any]:
        """Each keyword with this probability; values that are functions are called."""
        chosen = {key: value for key, value in keywords.items() if self.rng.random() < share}
        return {key: value() if callable(value) else value for key, value in chosen.items()}

    def count(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def object(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        names = rng.sample(NAMES, rng.randint(1, 3))
        maps = {
            "properties": lambda: {name: self.below(depth) for name in names},
            "patternProperties": lambda: {
                name: self.below(depth - 1) for name in rng.sample(NAME_PATTERNS, rng.choice((1, 1, 2)))
            },
            "additionalProperties": lambda: rng.random() < 0.2 or (rng.random() < 0.4 and self.below(depth - 1)),
        }
        rest = {
            "required": lambda: rng.sample(NAMES, rng.randint(1, 2)),
            "minProperties": lambda: self.count(0, 3),
            "maxProperties": lambda: self.count(0, 4),
            "dependentRequired": lambda: {name: rng.sample(NAMES, rng.randint(0, 2)) for name in names[:2]},
            "propertyNames": lambda: rng.choice(
                ({"pattern": rng.choice(NAME_PATTERNS)}, {"maxLength": 2}, {"enum": list(rng.sample(NAMES, 3))})
            ),
            "unevaluatedProperties": lambda: rng.random() < 0.1 or (rng.random() < 0.4 and self.below(0)),
        }
        return self.some(maps, 0.5) | self.some(rest, 0.16)

    def array(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        found = self.some(
            {
                "prefixItems": lambda: [self.below(depth) for _ in range(rng.randint(1, 2))],
                "items": lambda: self.below(depth) if rng.random() < 0.85 else False,
                "contains": lambda: self.below(depth - 1),
                "minItems": lambda: self.count(0, 3),
                "maxItems": lambda: self.count(0, 4),
                "uniqueItems": lambda: rng.random() < 0.9,
                "unevaluatedItems": lambda: rng.random() < 0.1 or (rng.random() < 0.4 and self.below(0)),
            },
            0.33,
        )
        if found.get("uniqueItems") and rng.random() < 0.3:
            different = (
                {"type": "number"},
                {"type": ["integer", "string"]},
                {"enum": [*rng.sample(NUMBERS, 3), {}, []]},
            )
            of_objects = {
                "type": "object",
                "propertyNames": {"enum": ["a", "b"]},
                "additionalProperties": {"maximum": 2},
            }
            found["items"] = rng.choice((*different, of_objects))
        if "contains" in found or rng.random() < 0.03:
            counts = {"minContains": lambda: self.count(0, 3), "maxContains": lambda: self.count(0, 3)}
            found |= self.some(counts, 0.4)
        return found

    def string(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        return self.some(
            {
                "minLength": lambda: self.count(0, 3),
                "maxLength": lambda: self.count(0, 4),
                "pattern": lambda: rng.choice(PATTERNS),
            },
            0.4,
        ) | self.some({"format": lambda: rng.choice(list(FORMATS))}, 0.12)

    def number(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        return self.some({key: lambda: rng.choice(NUMBERS) for key in bounds}, 0.25) | self.some(
            {"multipleOf": lambda: rng.choice(FACTORS)}, 0.3
        )

    def in_place(self, depth: int, subject: str) -> dict[str, Any]:
        """Subschemas of the same instance."""
        rng = self.rng

        def one() -> Schema:
            return self.schema(depth - 1, subject if rng.random() < 0.8 else rng.choice(SUBJECTS))

        def several() -> list[Schema]:
            return [one() for _ in range(rng.choice((1, 2, 2, 3)))]

        def negated() -> Schema:
            """Sometimes what is referred to, or a few keywords that negate again, inside of one another."""
            roll = rng.random()
            if self.references and roll < 0.2:
                return dict(rng.choice(self.references))
            inner = one()
            for _ in range(rng.randint(1, 3) if roll > 0.85 else 0):
                inner = rng.choice(({"not": inner}, {"oneOf": [inner, one()]}, {"if": inner, "else": one()}))
            return inner

        found = self.some({"allOf": several, "anyOf": several, "oneOf": several, "not": negated, "if": negated}, 0.13)
        if "if" in found or rng.random() < 0.01:
            found |= self.some({"then": one, "else": one}, 0.7)
        if subject == "object":
            found |= self.some(
                {"dependentSchemas": lambda: {name: one() for name in rng.sample(NAMES, rng.randint(1, 2))}}, 0.13
            )
        if found and subject in ("object", "array") and rng.random() < 0.3:
            key = "unevaluatedProperties" if subject == "object" else "unevaluatedItems"
            found[key] = rng.random() < 0.1 or (rng.random() < 0.3 and self.below(0))
        return found
