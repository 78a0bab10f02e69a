"""Rows of the parser: repetition reaches a fixed point, and equal situations share a row."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.debug import n_rows, row


@pytest.mark.parametrize(
    ("schema", "first", "element"),
    [
        ({"type": "array", "items": {"type": "integer"}}, b"[1", b", 1"),
        ({"type": "array", "items": {"properties": {"a": {"type": "string"}}}}, b'[{"a": ""}', b', {"a": "b"}'),
        ({"type": "object", "additionalProperties": {"type": "null"}}, b'{"a": null', b', "b": null'),
        ({"type": "array", "minItems": 3}, b"[[], [], [1]", b', [[{}], "a"]'),
    ],
)
def test_a_list_reaches_a_fixed_point(tiny_tokenizer: Any, schema: Any, first: bytes, element: bytes) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(schema)
    matcher = grammar.matcher()
    matcher.accept_bytes(first + element * 4)
    before = n_rows(grammar)
    matcher.accept_bytes(element * 500)
    assert n_rows(grammar) == before


def test_sequences_share_rows(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(True)
    text = b'{"a": [1, {"b": null}], "c": [[[]]]}'
    grammar.matcher().accept_bytes(text)
    before = n_rows(grammar)
    for _ in range(5):
        grammar.matcher().accept_bytes(text)
    assert n_rows(grammar) == before


def test_the_rows_of_a_list_in_words(byte_tokenizer: Any) -> None:
    """The element after the comma is awaited by the list, in the row that the element leads back to."""
    grammar = llmask.Compiler(byte_tokenizer).lark('start: "[" (value ("," value)*)? "]"\nvalue: start | "1"')
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[[1],1,")
    assert (
        str(row(matcher))
        == """\
row 5, lexer state 73
  kernel start.2: "," • value (-> 2 | -> 3)    begun in row 0
  scans "1"  of value: • start | "1"    begun in row 5
  scans "["  of start: • "[" -> 1    begun in row 5
  waits for value  of start.2: "," • value (-> 2 | -> 3)    begun in row 0
  waits for start  of value: • start | "1"    begun in row 5"""
    )
    before = row(matcher)
    matcher.accept_bytes(b"1,")
    assert row(matcher) == before
