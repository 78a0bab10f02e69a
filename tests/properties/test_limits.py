"""Hostile input meets a limit, or is answered; it never hangs, crashes or spoils what other grammars use."""

from __future__ import annotations

import dataclasses
import random
import time
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

SMALL = llmask.Limits(
    max_regex_nodes=20_000,
    max_lexer_states=2_000,
    max_rows=2_000,
    max_items=2_000,
    max_emptiness_steps=5_000,
    max_schema_depth=60,
    max_schema_bytes=100_000,
    max_schema_keywords=5_000,
)


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def doubling(depth: int) -> dict[str, Any]:
    """References that each use the next one twice: 2^depth when written out."""
    definitions: dict[str, Any] = {f"d{depth}": {"type": "null"}}
    for level in range(depth):
        below = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = {"allOf": [below, {"anyOf": [below, below]}]}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


HOSTILE_SCHEMAS: dict[str, Any] = {
    "deep nesting": nested(2000),
    "many properties": {"properties": {f"key{n}": {"type": "string", "pattern": f"a{{{n}}}"} for n in range(3000)}},
    "doubling": doubling(40),
    "long length": {"type": "string", "maxLength": 10**9},
    "long array": {"type": "array", "minItems": 10**9},
    "huge enum": {"enum": [f"value number {n}" for n in range(20_000)]},
    "subset construction": {"type": "string", "pattern": "^(a|b)*a(a|b){60}$"},
    "nested counters": {"type": "string", "pattern": "^((a{1,100}){1,100}){1,100}$"},
    "large multiple": {"type": "integer", "multipleOf": 10**9 + 7},
    "large bounds": {"type": "integer", "minimum": -(10**300), "maximum": 10**300},
    "exact decimals": {"type": "number", "minimum": 1e-300, "maximum": 1e300},
}


@pytest.mark.parametrize("name", HOSTILE_SCHEMAS)
def test_a_hostile_schema_meets_a_limit_or_is_answered(tiny_tokenizer: Any, name: str) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=SMALL)
    started = time.perf_counter()
    try:
        matcher = compiler.json_schema(HOSTILE_SCHEMAS[name]).matcher()
        for _ in range(200):
            allowed = read_mask(matcher, tiny_tokenizer.vocab_size)
            matcher.accept_token(max(allowed, key=lambda token: (tiny_tokenizer.token_bytes(token) != b"", -token)))
            if matcher.is_terminated():
                break
    except (llmask.LimitExceeded, llmask.UnsupportedSchema):
        pass
    assert time.perf_counter() - started < 20
    assert compiler.json_schema({"const": "aa"}).accepts(b'"aa"')


@pytest.mark.parametrize(
    "pattern", ["(a|b)*a(a|b){60}", "((a{1,100}){1,100}){1,100}", "(a?){500}a{500}", "(" * 500 + ")" * 500]
)
def test_a_hostile_pattern_meets_a_limit_or_is_answered(tiny_tokenizer: Any, pattern: str) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=SMALL)
    started = time.perf_counter()
    try:
        matcher = compiler.regex(pattern).matcher()
        for letter in b"ab" * 300:
            matcher.accept_bytes(bytes([letter]))
            read_mask(matcher, tiny_tokenizer.vocab_size)
    except (llmask.LimitExceeded, llmask.TokenRejected):
        pass
    assert time.perf_counter() - started < 20


def test_a_matcher_that_meets_a_limit_is_as_it_was(tiny_tokenizer: Any, rng: random.Random) -> None:
    # Every letter makes a new lexer state here, 2^20 in all: one call adds a few, so the bytes are the limit.
    limits = dataclasses.replace(SMALL, max_store_bytes=4 * 2**20)
    matcher = llmask.Compiler(tiny_tokenizer, limits=limits).regex("(a|b)*a(a|b){20}").matcher()
    taken = 0

    def feed() -> None:
        nonlocal taken
        for _ in range(100_000):
            matcher.accept_bytes(rng.choice((b"a", b"b")))
            taken += 1
            read_mask(matcher, tiny_tokenizer.vocab_size)

    with pytest.raises(llmask.LimitExceeded, match="max_store_bytes"):
        feed()
    assert len(matcher.text()) == taken
    matcher.rollback(min(taken, 1))
    assert len(matcher.text()) == max(taken - 1, 0)
