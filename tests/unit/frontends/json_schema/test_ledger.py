"""The ledger names every keyword and what became of it."""

from __future__ import annotations

from typing import Any


def test_every_keyword_appears_with_its_fate(judge: Any) -> None:
    schema = {
        "title": "t",
        "type": "object",
        "properties": {"a": {"type": "string", "format": "color", "x-note": 1}, "b": {"contains": {"type": "null"}}},
        "additionalProperties": {"enum": [{"type": 3}]},
    }
    grammar = judge.translate(schema, unsupported="ignore")
    assert grammar.ledger == [
        ("#", "title", "annotation"),
        ("#", "type", "enforced"),
        ("#", "properties", "enforced"),
        ("#", "additionalProperties", "enforced"),
        ("#/properties/a", "type", "enforced"),
        ("#/properties/a", "format", 'ignored: the format "color" is unknown, so it is an annotation'),
        ("#/properties/a", "x-note", "annotation"),
        ("#/properties/b", "contains", 'ignored: "contains" is not supported; the mask would be too permissive'),
        ("#/additionalProperties", "enum", "enforced"),
    ]


def test_formats_as_annotations_are_no_enforcement(judge: Any) -> None:
    schema = {"type": "string", "format": "date"}
    assert judge.translate(schema).ledger[1] == ("#", "format", "enforced")
    assert judge.translate(schema, format="annotate").ledger[1] == ("#", "format", "annotation")


def test_what_an_old_draft_puts_beside_a_reference_is_an_annotation(judge: Any) -> None:
    schema: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#"}
    schema["items"] = {"$ref": "#/definitions/a", "minItems": 1}
    schema["definitions"] = {"a": {"type": "array"}}
    ledger = judge.translate(schema).ledger
    assert ("#/items", "$ref", "enforced") in ledger
    assert ("#/items", "minItems", "annotation") in ledger
    assert ("#/definitions/a", "type", "enforced") in ledger
