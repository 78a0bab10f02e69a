"""Forced tokens are counted against a document's own (bench/forced.py)."""

from __future__ import annotations

import json

import llmask
from bench.data import Instance, Row
from bench.forced import count

SCHEMA = {
    "type": "object",
    "properties": {"identifier": {"enum": ["first", "second"]}, "is_active": {"type": "boolean"}},
    "required": ["identifier", "is_active"],
    "additionalProperties": False,
}


def row_of(tokenizer: llmask.Tokenizer, *texts: str) -> Row:
    return Row("a", SCHEMA, [Instance(True, json.loads(text), tokenizer.encode(text)) for text in texts])


def test_the_forced_part_of_a_document_is_counted() -> None:
    tokenizer = llmask.Tokenizer.default()
    text = '{"identifier":"second","is_active":true}'
    compiler = llmask.Compiler(tokenizer)
    found = count([row_of(tokenizer, text)], compiler, whitespace="compact")
    assert (found["documents"], found["different"], found["tokens"]) == (1, 0, len(tokenizer.encode(text)))
    assert 0.5 * found["tokens"] < found["forced"] < found["tokens"]


def test_documents_that_the_schema_does_not_take_are_left_out() -> None:
    tokenizer = llmask.Tokenizer.default()
    rows = [row_of(tokenizer, '{"is_active":true,"identifier":"first"}', '{"identifier":"third","is_active":true}')]
    found = count([*rows, Row("b", {"enum": []}, [])], llmask.Compiler(tokenizer), whitespace="compact")
    assert found == {"documents refused": 2, "schemas refused": 1}


def test_ids_that_are_not_the_tokenizers_own_are_different() -> None:
    tokenizer = llmask.Tokenizer.default()
    ids = [token for letter in '{"identifier":"first","is_active":true}' for token in tokenizer.encode(letter)]
    row = Row("a", SCHEMA, [Instance(True, None, ids)])
    assert count([row], llmask.Compiler(tokenizer), whitespace="compact")["different"] == 1
