"""What may come next, in words: keys, listed values, kinds of values with their limits, ends."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 2, "maximum": 30},
        "ok": {"type": ["boolean", "null"]},
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "pick": {"enum": ["red", "green", 7, True]},
        "more": {"type": "array", "items": {"$ref": "#/$defs/more"}, "maxItems": 1},
    },
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {"more": {"anyOf": [{"type": "object", "properties": {"deep": True}}, {"type": "number"}]}},
}
ID = '"id": 3, '


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["an object"]),
        ("{", ['"id"']),
        ('{"i', ['"id"']),
        ('{"id', ['"id"']),
        ('{"id"', ["a colon"]),
        ('{"id": ', ["a number of at least 2 and at most 30"]),
        ('{"id": 3', ["a digit", "a fraction", "a comma", "the end of the object"]),
        ('{"id": 30', ["a fraction", "a comma", "the end of the object"]),
        (f'{{{ID}"', ['"ok"', '"name"', '"pick"', '"more"']),
        (f'{{{ID}"ok": ', ["false", "null", "true"]),
        (f'{{{ID}"ok": t', ["true"]),
        (f'{{{ID}"name": ', ["a string of at least 1 character and at most 3 characters"]),
        (f'{{{ID}"name": "', ["a character"]),
        (f'{{{ID}"name": "abc', ["the end of the string"]),
        (f'{{{ID}"pick": ', ['"red"', '"green"', "7", "true"]),
        (f'{{{ID}"pick": "r', ['"red"']),
        (f'{{{ID}"more": [', ["a number", "the end of the array", "an object"]),
        (f'{{{ID}"more": [{{', ['"deep"', "the end of the object"]),
        (f'{{{ID}"more": [1', ["a digit", "a fraction", "an exponent", "the end of the array"]),
        ('{"id": 3}', ["the end of the document"]),
    ],
)
def test_words_for_every_place(byte_tokenizer: Any, text: str, words: list[str]) -> None:
    grammar = Compiler(byte_tokenizer).json_schema(SCHEMA)
    matcher = grammar.matcher()
    matcher.accept_bytes(text.encode())
    assert matcher.explain(b"\xff").expected == words


def test_keys_that_python_cannot_encode_are_words_too(byte_tokenizer: Any) -> None:
    grammar = Compiler(byte_tokenizer).json_schema({"properties": {"é\n": {"const": "ü"}}})
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"')
    assert matcher.explain("\x01").expected[0] == '"é\\n"'
