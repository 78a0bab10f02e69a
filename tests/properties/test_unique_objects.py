"""Items that must differ, or be equal: masks of vocabularies whose tokens reach from one item into the next.

A mask is made for all records of a row at once, and only what a text decides is looked at again; acceptance reads every
byte with its record. Both must agree, wherever a token begins and ends.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

import llmask
from tests.reference.definition import read_mask

PIECES = [
    *('"', "{", "}", "[", "]", ",", ":", '"a"', '"b"', '"a":', '"b":', '"x"', '"y"', "1", "2", " ", "},", '{"', "xy"),
]
EOS = 0


def some_tokenizer(rng: random.Random) -> llmask.Tokenizer:
    """Every byte that is needed, and tokens of up to nine pieces."""
    texts = {"".join(rng.choice(PIECES) for _ in range(rng.randint(1, 6))) for _ in range(150)}
    texts |= {'"},{"', "},{", '},{"a":', '"},{"a', '"},{"a":"', '"},{"a":"x"}', '"a":"x"},{"a":"x"}', "},{}", "},{},{"}
    single = {chr(byte) for byte in range(32, 127)}
    return llmask.Tokenizer.from_bytes([b"", *(text.encode() for text in sorted(texts | single))], eos=EOS)


def some_values(rng: random.Random, depth: int = 0) -> Any:
    if depth < 2 and rng.random() < 0.3:
        names = rng.sample(["a", "b"], rng.randint(1, 2))
        properties = {name: some_values(rng, depth + 1) for name in names}
        kind = rng.choice(["object", ["object", "null"]])
        return {"type": kind, "properties": properties, "required": names[:1], "additionalProperties": False}
    return rng.choice(
        [
            {"type": "string"},
            {"type": "string", "maxLength": 1},
            {"enum": ["x", "y"]},
            {"const": "x"},
            {"type": "integer", "minimum": 1, "maximum": 2},
            {"type": "integer"},
            {"type": "boolean"},
            {"type": "array", "items": {"enum": ["x", 1]}, "maxItems": 2},
            {"oneOf": [{"type": "string", "pattern": "^x*$"}, {"const": 1}]},
            {},
        ]
    )


def some_item(rng: random.Random) -> Any:
    if rng.random() < 0.15:
        return rng.choice([{}, {"type": ["number", "null", "boolean"]}, {"type": ["integer", "boolean", "string"]}])
    names = rng.sample(["a", "b", "c"], rng.randint(0, 3))
    item: dict[str, Any] = {"type": "object", "properties": {name: some_values(rng) for name in names}}
    if rng.random() < 0.8:
        item["additionalProperties"] = rng.random() < 0.2
    if names and rng.random() < 0.5:
        item["required"] = names[: rng.randint(1, len(names))]
    if rng.random() < 0.1:
        item["maxProperties"] = 2
    if rng.random() < 0.2:
        return {"anyOf": [item, some_values(rng)]}
    return {"oneOf": [{"type": "string"}, item]} if rng.random() < 0.2 else item


@pytest.mark.parametrize("property_order", ["schema", "any"])
def test_masks_allow_what_is_accepted(rng: random.Random, costly: Callable[[int], int], property_order: str) -> None:
    tokenizer = some_tokenizer(rng)
    compiler = llmask.Compiler(tokenizer)
    n_crossing = 0
    for _ in range(costly(10)):
        wanted = {"not": {"uniqueItems": True}} if rng.random() < 0.3 else {"uniqueItems": True, "maxItems": 4}
        schema = {"type": "array", **wanted, "items": some_item(rng)}
        try:
            grammar = compiler.json_schema(schema, property_order=property_order)
        except llmask.LlmaskError:
            continue
        for _ in range(3):
            matcher = grammar.matcher()
            for _ in range(30):
                if "e" in matcher.text().decode().lower():
                    break  # numbers of huge exponents meet a limit
                allowed = read_mask(matcher, tokenizer.vocab_size)
                assert allowed, (schema, matcher.text())
                accepted = {t for t in range(tokenizer.vocab_size) if matcher.validate_tokens([t]) == 1}
                assert allowed == accepted, (schema, matcher.text())
                if allowed == {EOS}:
                    break
                reaching = [t for t in allowed if b"},{" in tokenizer.token_bytes(t)]
                n_crossing += len(reaching)
                token = rng.choice(reaching if reaching and rng.random() < 0.5 else sorted(allowed - {EOS}))
                matcher.accept_token(token)
            if matcher.is_accepting():
                jsonschema.validate(json.loads(matcher.text()), schema)
    assert n_crossing > 0
