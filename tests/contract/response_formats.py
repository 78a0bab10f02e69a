"""What clients send as the format of a response: each with a text that it allows, and one that it does not."""

from __future__ import annotations

from typing import Any, NamedTuple

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
LARK = 'start: "a" NUMBER ("," NUMBER)*\nNUMBER: /[0-9]+/\n'
ANYTHING = 'Hello, {"a"\n\x00 é😀'


class Case(NamedTuple):
    """A document, and texts; `refused` is None where every text is allowed."""

    document: dict[str, Any]
    allowed: str
    refused: str | None


def _named(**fields: Any) -> dict[str, Any]:
    return {"name": "n", "description": "a number", "strict": True, "schema": SCHEMA, **fields}


def _grammar(syntax: str, definition: str) -> dict[str, Any]:
    return {"syntax": syntax, "definition": definition}


JSON = ('{"a": 12}', '{"a": 12, "b": 1}')
NUMBERS = ("a1,22", "a1,")
WORDS = ("ab ab", "ab  ab")
WORD = r"[a-z]+( [a-z]+)*"

CASES: dict[str, Case] = {
    "chat": Case({"type": "json_schema", "json_schema": _named()}, *JSON),
    "chat, without what is optional": Case({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, *JSON),
    "chat, not strict": Case({"type": "json_schema", "json_schema": _named(strict=False)}, *JSON),
    "chat, a schema that is true": Case({"type": "json_schema", "json_schema": {"schema": True}}, "[1]", "[1"),
    "responses": Case({"type": "json_schema", **_named()}, *JSON),
    "responses, whole": Case({"format": {"type": "json_schema", **_named()}, "verbosity": "low"}, *JSON),
    "object": Case({"type": "json_object"}, '{"b": [1]}', "[1]"),
    "object with a schema": Case({"type": "json_object", "schema": SCHEMA}, *JSON),
    "object of responses": Case({"format": {"type": "json_object"}}, "{}", "1"),
    "text": Case({"type": "text"}, ANYTHING, None),
    "text of responses": Case({"format": {"type": "text"}}, ANYTHING, None),
    "null is absent": Case({"type": "text", "json_schema": None, "structural_tag": None}, ANYTHING, None),
    "null is absent, inside": Case({"type": "json_schema", "json_schema": _named(strict=None, name=None)}, *JSON),
    "lark": Case({"type": "grammar", **_grammar("lark", LARK)}, *NUMBERS),
    "regex": Case({"type": "grammar", **_grammar("regex", WORD)}, *WORDS),
    "lark, inside": Case({"type": "grammar", "grammar": _grammar("lark", LARK)}, *NUMBERS),
    "custom": Case(
        {"type": "custom", "name": "n", "description": "", "format": {"type": "grammar", **_grammar("lark", LARK)}},
        *NUMBERS,
    ),
    "custom, regex": Case(
        {"type": "custom", "name": "n", "format": {"type": "grammar", **_grammar("regex", WORD)}}, *WORDS
    ),
    "custom of chat": Case(
        {"type": "custom", "custom": {"name": "n", "format": {"type": "grammar", "grammar": _grammar("lark", LARK)}}},
        *NUMBERS,
    ),
    "custom, any text": Case({"type": "custom", "name": "n"}, ANYTHING, None),
    "custom, text": Case({"type": "custom", "name": "n", "format": {"type": "text"}, "async": None}, ANYTHING, None),
    "custom of chat, text": Case(
        {"type": "custom", "custom": {"name": "n", "format": {"type": "text"}}}, ANYTHING, None
    ),
    "structural tag": Case({"type": "structural_tag", "format": {"type": "const_string", "value": "<f>"}}, "<f>", "<f"),
    "older structural tag": Case(
        {
            "type": "structural_tag",
            "structures": [{"begin": "<f>", "schema": SCHEMA, "end": "</f>"}],
            "triggers": ["<f"],
        },
        'x <f>{"a": 1}</f>',
        "x <f>1</f>",
    ),
}
