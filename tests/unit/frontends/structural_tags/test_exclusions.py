"""Excluded strings in JSON: by brute force over documents, and what is left where a value cannot be written."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.errors import UnsatisfiableSchema
from tests.reference.definition import read_mask

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
STRINGS = ['"a"', '"b"', '"ab"', '"ba"', '"aab"', '"a\\u0062"', '"a\\"b"', '"\\\\"', '""']
VALUES = [*STRINGS, "1", "[]", '["b","ab"]', '{"ab":"b"}', '{"b":1}']
EXCLUDED = [["ab"], ["a", "bb"], ["\\"], ['"'], ["u00"], ["b", "ab"], ['\\"b'], ["aab"]]


def grammar_of(compiler: llmask.Compiler, schema: Any, excluded: list[str], **fields: Any) -> llmask.CompiledGrammar:
    form = {"type": "json_schema", "json_schema": schema, "excludes": excluded, **fields}
    return compiler.structural_tag({"format": form})


@pytest.mark.parametrize("excluded", EXCLUDED)
def test_documents_are_those_without_the_strings(byte_tokenizer: llmask.Tokenizer, excluded: list[str]) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    schema = {"type": "object", "properties": {"a": {}, "ab": {"type": "string"}}, "additionalProperties": True}
    grammar, plain = grammar_of(compiler, schema, excluded), compiler.json_schema(schema)
    seen = set()
    for names in [("a",), ("ab",), ("b",), ("a", "b"), ("a", "ab")]:
        for values in itertools.product(VALUES, repeat=len(names)):
            members = (f'"{name}":{value}' for name, value in zip(names, values, strict=True))
            text = "{" + ",".join(members) + "}"
            holds = any(word in body for body in STRING.findall(text) for word in excluded)
            assert grammar.accepts(text) == (plain.accepts(text) and not holds), text
            seen.add(holds)
    assert seen == {True, False}


def test_no_mask_leads_to_an_excluded_string_or_to_a_dead_end(
    tiny_tokenizer: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "u": {"type": "null"}}, "required": ["a"]}
    grammar = grammar_of(llmask.Compiler(tiny_tokenizer), schema, ["u", "ab", "é"])
    n_ended = 0
    for _ in range(scaled(60)):
        matcher, text = grammar.matcher(), b""
        for _ in range(60):
            allowed = sorted(read_mask(matcher, tiny_tokenizer.vocab_size))
            ending = [token for token in allowed if token in tiny_tokenizer.eos_ids]
            closing = [token for token in allowed if tiny_tokenizer.token_bytes(token) in (b'"', b"}", b":")]
            token = rng.choice(ending or (closing if closing and rng.random() < 0.4 else allowed))
            matcher.accept_token(token)
            if token in tiny_tokenizer.eos_ids:
                document = json.loads(text)
                assert isinstance(document["a"], str)
                assert not any(word in body for body in STRING.findall(text.decode()) for word in ("u", "ab", "é"))
                n_ended += 1
                break
            text += tiny_tokenizer.token_bytes(token)
    assert n_ended > 10


def test_a_value_that_cannot_be_written_is_left_out(byte_tokenizer: llmask.Tokenizer) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    grammar = grammar_of(compiler, {"enum": ["u", "v", 3]}, ["u"])
    assert [text for text in ('"u"', '"\\u0075"', '"v"', "3") if grammar.accepts(text)] == ['"v"', "3"]
    closed = {"type": "object", "properties": {"v": {"const": "u"}, "w": {}}, "additionalProperties": False}
    grammar = grammar_of(compiler, closed, ["u"])
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"')
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b"v")
    assert grammar.accepts('{"w": 1}')
    with pytest.raises(UnsatisfiableSchema):
        grammar_of(compiler, {"const": "u"}, ["u"])


def test_a_printed_grammar_says_what_is_excluded(byte_tokenizer: llmask.Tokenizer) -> None:
    grammar = grammar_of(llmask.Compiler(byte_tokenizer), {"type": "string"}, ["</a"])
    assert '%json {"type": "string"} without ["</a"] in strings' in str(grammar)
