"""Numbers of masks: equal numbers are equal masks, whatever the grammar and what narrows its masks."""

from __future__ import annotations

import random
from typing import Any

import llmask

SCHEMAS: list[Any] = [
    True,
    {"properties": {"name": {"type": "string"}, "kind": {"enum": ["a", "b", "ab"]}, "n": {"type": "integer"}}},
    {"type": "array", "items": {"enum": ["x", "y", 1, 2, None]}, "uniqueItems": True},
    {"type": "string", "maxLength": 9},
]


def masks_of(matcher: Any, rng: random.Random, n_tokens: int) -> list[tuple[int, bytes]]:
    """Numbers and masks along a random document."""
    n_vocab = matcher.grammar.tokenizer.vocab_size
    bitmask = llmask.allocate_bitmask(1, n_vocab)
    found: list[tuple[int, bytes]] = []
    while len(found) < n_tokens and not matcher.is_terminated():
        matcher.fill_bitmask(bitmask)
        found.append((matcher.mask_number, bitmask.tobytes()))
        matcher.accept_token(
            rng.choice([token for token in range(n_vocab) if bitmask[0, token // 32] >> token % 32 & 1])
        )
    matcher.fill_bitmask(bitmask)
    return [*found, (matcher.mask_number, bitmask.tobytes())]


def test_equal_numbers_are_equal_masks(tiny_tokenizer: Any, rng: random.Random) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    grammars = [compiler.json_schema(schema) for schema in SCHEMAS]
    grammars += [compiler.lark('start: "a"+ [NAME]\nNAME: /[b-d]+/'), compiler.regex("[ab]{2,5}c")]
    known: dict[int, bytes] = {}
    for grammar in grammars:
        for options in ({}, {"stop_tokens": [5]}):
            for _ in range(4):
                for number, mask in masks_of(grammar.matcher(**options), rng, 30):
                    assert known.setdefault(number, mask) == mask


def test_inside_a_string_the_mask_is_that_of_before(tiny_tokenizer: Any) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).json_schema({"type": "string"}).matcher()
    bitmask = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
    missing = matcher.mask_number
    assert matcher.mask_number != missing, "the mask is not there"
    numbers = []
    for data in (b'"', b"a", b"b", b'"'):
        matcher.accept_bytes(data)
        matcher.fill_bitmask(bitmask)
        numbers.append(matcher.mask_number)
    assert numbers[0] == numbers[1] == numbers[2] != numbers[3]
    matcher.rollback(1)
    assert matcher.mask_number == numbers[0]
    assert matcher.fork().mask_number == numbers[0]


def test_what_narrows_masks_makes_new_numbers(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema({"type": "string"})
    canonical = llmask.Compiler(llmask.Tokenizer.default(), canonical=True).json_schema({"type": "string"})
    for matcher in (grammar.matcher(stop_tokens=[5]), grammar.matcher(prefix=b'"a'), canonical.matcher()):
        matcher.fill_bitmask(llmask.allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size))
        assert matcher.mask_number != matcher.mask_number
