"""Schemas and documents drawn with a fixed seed, as large as asked for, and the words that other studies draw from.

A schema looks like large ones that programs write: many `$defs`, objects of scalars with descriptions, enums, patterns,
formats, bounds, arrays, references to earlier definitions, `anyOf` of references. Patterns differ from definition to
definition in their bounds; each carries an example, which documents use.

In: a seed and a size. Out: schemas as dicts, documents as token ids. Cost: a second for 4 MB.
"""

from __future__ import annotations

import json
import random
from typing import Any

from bench.scaling.corpus import llama3_encoder

_TEXT = """
account address amount approval audit balance batch billing carrier category channel city claim code contact country
currency customer date delivery device discount document duration entry event field file filter flag format group header
host image index invoice item label language level limit location lot manager member message method mode model name
network node note number offer option order origin owner package page parameter parent partner payment period phone plan
policy port price priority product profile project property provider quantity query rate reason record reference region
report request resource result role route rule sample schedule scope section sender server service session setting
shipment signature size source stage status step stock store subject tag target task tax team template term title token
total track type unit update user value vendor version view warehouse weight zone
"""
WORDS = _TEXT.split()
FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:00Z",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "a.person@example.com",
    "uri": "https://example.com/a/b?c=d",
}


class SchemaMaker:
    """Draws definitions one after the other until the schema has its size."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: list[str] = []
        self.defs: dict[str, Any] = {}

    def word(self) -> str:
        return self.random.choice(WORDS)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(4, 14))).capitalize() + "."

    def scalar(self) -> dict[str, Any]:
        draw = self.random
        kind = draw.randrange(10)
        if kind < 3:
            return {"type": "string"}
        if kind == 3:
            return {"type": "string", "maxLength": draw.choice([16, 64, 255]), "minLength": draw.randint(0, 2)}
        if kind == 4:
            return self.pattern()
        if kind == 5:
            name = draw.choice(list(FORMATS))
            return {"type": "string", "format": name, "examples": [FORMATS[name]]}
        if kind == 6:
            values = sorted({f"{self.word()}_{self.word()}" for _ in range(draw.randint(2, 24))})
            return {"type": "string", "enum": values}
        if kind == 7:
            return {"type": "integer", "minimum": draw.randint(0, 10), "maximum": draw.choice([99, 65_535, 1_000_000])}
        return {"type": draw.choice(["integer", "number", "boolean"])}

    def pattern(self) -> dict[str, Any]:
        low = self.random.randint(2, 6)
        high = low + self.random.randint(0, 60)
        pattern, example = self.random.choice(
            (
                (f"^[A-Z]{{2}}[0-9]{{{low},{high}}}$", "DE" + "7" * low),
                (f"^[a-z][a-z0-9_-]{{0,{high + 10}}}$", "batch-file_7"),
                ("^#[0-9a-fA-F]{6}$", "#12abEF"),
                (f"^(\\+[0-9]{{1,3}} )?[0-9 ]{{{low},{high + 12}}}$", "+49 30 123456"),
                ("^[^\\s/]+/[^\\s/]+$", "owner/name"),
                (f"^{self.word()}:[a-z0-9-]+:[a-z0-9-]*:[0-9]{{{low + 4},12}}:", None),
                ("^v[0-9]+\\.[0-9]+\\.[0-9]+(-[a-z]+)?$", "v1.22.3-rc"),
            )
        )
        example = example or pattern[1 : pattern.index(":")] + ":s3:eu-1:123456789012:rest"
        return {"type": "string", "pattern": pattern, "examples": [example]}

    def value(self) -> dict[str, Any]:
        draw = self.random
        kind = draw.randrange(12)
        if self.names and kind < 2:
            return {"$ref": f"#/$defs/{draw.choice(self.names)}"}
        if self.names and kind == 2:
            return {"type": "array", "items": {"$ref": f"#/$defs/{draw.choice(self.names)}"}, "maxItems": 20}
        if len(self.names) > 2 and kind == 3:
            return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in draw.sample(self.names, 2)] + [{"type": "null"}]}
        if kind == 4:
            return {"type": "array", "items": self.scalar(), "minItems": draw.randint(0, 1)}
        if kind == 5:
            return {"type": "object", "additionalProperties": self.scalar()}
        return self.scalar()

    def definition(self) -> dict[str, Any]:
        draw = self.random
        properties: dict[str, Any] = {}
        for _ in range(draw.randint(2, 14)):
            name = self.word() if draw.random() < 0.5 else f"{self.word()}{self.word().capitalize()}"
            properties[name] = {"description": self.text(), **self.value()}
        required = [name for name in properties if draw.random() < 0.4]
        made: dict[str, Any] = {"type": "object", "description": self.text(), "properties": properties}
        if required:
            made["required"] = required
        if draw.random() < 0.7:
            made["additionalProperties"] = False
        return made

    def schema(self, n_bytes: int, shape: str) -> dict[str, Any]:
        """A schema of about `n_bytes` as JSON text.

        Every definition can be reached from the root: "tagged": an array of any of them, each with its name as tag;
        "sections": an object with an optional property for each.
        """
        size = 0
        while size < n_bytes:
            name = f"{self.word()}{self.word().capitalize()}{len(self.names)}"
            self.defs[name] = self.definition()
            size += len(json.dumps(self.defs[name])) + len(name) + 6
            self.names.append(name)
        if shape == "tagged":
            root: dict[str, Any] = {"type": "array", "items": {"anyOf": [_tagged(name) for name in self.names]}}
        else:
            properties = {name: {"type": "array", "items": {"$ref": f"#/$defs/{name}"}} for name in self.names}
            root = {"type": "object", "properties": properties, "additionalProperties": False}
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": self.defs, **root}


def _tagged(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": name}, "spec": {"$ref": f"#/$defs/{name}"}},
        "required": ["kind", "spec"],
        "additionalProperties": False,
    }


class DocumentMaker:
    """Draws documents of a schema of `SchemaMaker`."""

    def __init__(self, schema: dict[str, Any], seed: int) -> None:
        self.defs = schema["$defs"]
        self.random = random.Random(seed)

    def value(self, schema: dict[str, Any], depth: int) -> Any:
        draw = self.random
        if "$ref" in schema:
            return self.value(self.defs[schema["$ref"].rsplit("/", 1)[1]], depth)
        if "anyOf" in schema:
            return None if depth > 3 else self.value(draw.choice(schema["anyOf"][:-1]), depth)
        if "enum" in schema:
            return draw.choice(schema["enum"])
        kind = schema["type"]
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            low = schema.get("minItems", 0)
            return [
                self.value(schema["items"], depth + 1) for _ in range(low if depth > 3 else low + draw.randint(0, 3))
            ]
        if kind == "string":
            return self.string(schema)
        if kind == "integer":
            return draw.randint(schema.get("minimum", 0), schema.get("maximum", 10_000))
        return {"number": round(draw.uniform(-1e3, 1e3), 3), "boolean": draw.random() < 0.5}[kind]

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        draw = self.random
        if "properties" not in schema:
            return {draw.choice(WORDS): self.value(schema["additionalProperties"], depth + 1) for _ in range(2)}
        required = schema.get("required", ())
        return {
            name: self.value(inner, depth + 1)
            for name, inner in schema["properties"].items()
            if name in required or (depth <= 3 and draw.random() < 0.5)
        }

    def string(self, schema: dict[str, Any]) -> str:
        draw = self.random
        if "examples" in schema:
            return str(schema["examples"][0])
        text = " ".join(draw.choices(WORDS, k=draw.randint(1, 6)))
        return text[: schema.get("maxLength", 100)]


def document(schema: dict[str, Any], n_tokens: int, seed: int = 2) -> list[int]:
    """Token ids of a document of about `n_tokens`, cut there."""
    maker, encode = DocumentMaker(schema, seed), llama3_encoder()
    is_tagged, kinds = schema["type"] == "array", list(schema["$defs"])
    if not is_tagged:  # declared order, a sample of the sections
        kinds = sorted(maker.random.sample(kinds, min(len(kinds), n_tokens // 80)), key=kinds.index)
    parts, n = [], 0
    for i in range(n_tokens if is_tagged else len(kinds)):
        kind = maker.random.choice(kinds) if is_tagged else kinds[i]
        value = maker.value({"$ref": f"#/$defs/{kind}"}, 0)
        part = json.dumps({"kind": kind, "spec": value} if is_tagged else {kind: [value]})
        parts.append(part if is_tagged else part[1:-1])
        n += len(encode(part))
        if n >= n_tokens:
            break
    return encode(("[" if is_tagged else "{") + ", ".join(parts))[:n_tokens]
