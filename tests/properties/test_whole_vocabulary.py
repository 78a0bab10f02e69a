"""At one position, every token of a real vocabulary: its bit is set exactly when the matcher takes it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

CASES: tuple[tuple[Any, bytes], ...] = (
    ({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}}, b"{"),
    ({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}}, b'{"na'),
    ({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}}, b'{"name": "x \\'),
    ({"type": "array", "items": {"type": "string", "maxLength": 7}, "maxItems": 2}, '["日本語'.encode()),
    ({"type": "array", "items": {"type": "integer", "minimum": -17, "maximum": 1234}}, b"[1"),
    ({"type": "string", "pattern": "^[^a-f]+$"}, b'"'),
    ({"type": "string", "pattern": "^[^a-f]+$"}, '"é'.encode()[:-1]),
    (True, b" "[:0]),
    (True, b'[{"a": [1, 2'),
)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("name", ["llama3_tokenizer", "default_tokenizer"])
def test_a_bit_is_set_exactly_when_the_token_is_accepted(
    name: str, case: int, request: pytest.FixtureRequest, rng: random.Random
) -> None:
    tokenizer = request.getfixturevalue(name)
    schema, prefix = CASES[case]
    matcher = llmask.Compiler(tokenizer).json_schema(schema).matcher()
    matcher.accept_bytes(prefix)
    allowed = read_mask(matcher, tokenizer.vocab_size)
    accepted = {token for token in range(tokenizer.vocab_size) if matcher.validate_tokens([token])}
    assert allowed == accepted
    for token in rng.sample(sorted(allowed), k=min(300, len(allowed))):
        matcher.accept_token(token)
        matcher.rollback(1)
    assert read_mask(matcher, tokenizer.vocab_size) == allowed


def test_the_same_mask_comes_from_a_fresh_store(llama3_tokenizer: Any, rng: random.Random) -> None:
    # What other grammars left in the store must not show in a mask.
    crowded, others = llmask.Compiler(llama3_tokenizer), list(CASES)
    rng.shuffle(others)
    for schema, prefix in others:
        matcher = crowded.json_schema(schema).matcher()
        matcher.accept_bytes(prefix)
        read_mask(matcher, llama3_tokenizer.vocab_size)
    for schema, prefix in CASES[:4]:
        masks = []
        for compiler in (crowded, llmask.Compiler(llama3_tokenizer)):
            matcher = compiler.json_schema(schema).matcher()
            matcher.accept_bytes(prefix)
            masks.append(read_mask(matcher, llama3_tokenizer.vocab_size))
        assert masks[0] == masks[1]
