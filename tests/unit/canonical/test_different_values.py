"""Canonical masks where values must differ: what is found for some of them is used for others."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

import llmask
from llmask.store import generation
from tests.reference.definition import read_mask

THREE = {"type": "string", "pattern": "^...$"}
NAMED = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
DIFFERENT: list[Any] = [
    {  # names of three lexemes, each name read leaves others for the next
        "type": "object",
        "propertyNames": THREE,
        "allOf": [
            {"not": {"patternProperties": {"ab": {"not": {"type": "string", "pattern": "A"}}}}},
            {"not": {"patternProperties": {"cd": {"not": {"type": "string", "pattern": "C"}}}}},
        ],
    },
    {"type": "array", "uniqueItems": True, "items": {"oneOf": [{"type": "string"}, NAMED]}},
    {"type": "array", "uniqueItems": True, "items": {"anyOf": [THREE, {"enum": [None, True, "abc", "]]]"]}]}},
]
COUNTED = {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2}  # not followed


@pytest.mark.slow
@pytest.mark.parametrize("schema", DIFFERENT)
@pytest.mark.parametrize("options", [{}, {"whitespace": "compact"}])
def test_what_other_sequences_found_changes_no_mask(schema: Any, options: Any, rng: random.Random) -> None:
    used = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    tok, n_masks = used.tokenizer, 0
    for _ in range(3):
        fresh = llmask.Compiler(tok, canonical=True, cache_bytes=0)
        matchers = [compiler.json_schema(schema, **options).matcher() for compiler in (used, fresh)]
        for _ in range(14):
            masks = [read_mask(matcher, tok.vocab_size) for matcher in matchers]
            assert masks[0] == masks[1], matchers[0].text()
            n_masks += 1
            if matchers[0].is_terminated():
                break
            by_byte: dict[bytes, list[int]] = {}
            for token in masks[0]:
                by_byte.setdefault(tok.token_bytes(token)[:1], []).append(token)
            token = rng.choice(by_byte[rng.choice(sorted(by_byte))])
            for matcher in matchers:
                matcher.accept_token(token)
    assert n_masks > 20


def test_tokens_behind_which_only_the_quote_may_come() -> None:
    """Of three characters those are allowed that are encoded so before a quote: others merge with it."""
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    tok = compiler.tokenizer
    matcher = compiler.json_schema(THREE, whitespace="compact").matcher()
    matcher.accept_tokens(tok.encode('"'))
    grammatical = llmask.Compiler(tok).json_schema(THREE, whitespace="compact").matcher()
    grammatical.accept_tokens(tok.encode('"'))
    texts = {token: tok.token_bytes(token).decode(errors="ignore") for token in read_mask(grammatical, tok.vocab_size)}
    whole = {token: text for token, text in texts.items() if len(text) == 3 and "\\" not in text and '"' not in text}
    expected = {token for token, text in whole.items() if tok.encode(f'"{text}"')[:2] == [*tok.encode('"'), token]}
    assert read_mask(matcher, tok.vocab_size) & whole.keys() == expected
    assert 10 < len(whole) - len(expected) < len(expected)


def test_arrays_of_few_different_strings(scaled: Any, rng: random.Random) -> None:
    """All documents are known here, so masks are those of their encodings."""
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    tok, n_masks = compiler.tokenizer, 0
    for _ in range(scaled(30)):
        items = sorted({"".join(rng.choices("ab}~|{[],: x!", k=rng.randint(1, 3))) for _ in range(3)})
        schema = {"type": "array", "uniqueItems": True, "items": {"enum": items}}
        texts = [
            json.dumps(chosen, separators=(",", ":")) for n in range(4) for chosen in itertools.permutations(items, n)
        ]
        documents = [[*tok.encode(text), tok.eos_ids[0]] for text in texts]
        grammar = compiler.json_schema(schema, whitespace="compact")
        for document in rng.sample(documents, min(6, len(documents))):
            matcher = grammar.matcher()
            for n, token in enumerate(document):
                expected = {other[n] for other in documents if other[:n] == document[:n]}
                assert read_mask(matcher, tok.vocab_size) == expected, (items, matcher.text())
                matcher.accept_token(token)
                n_masks += 1
    assert n_masks > 200


@pytest.mark.parametrize("schema", [DIFFERENT[0], {**DIFFERENT[1], "items": {"oneOf": [{"type": "string"}, COUNTED]}}])
def test_few_rules_are_written_on_demand(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can follow a value is found without the rule of the next one, which is written once it is there."""
    made: list[int] = []
    make = generation.Generation._make_variant

    def count(generation: generation.Generation) -> None:
        made.append(1)
        make(generation)

    monkeypatch.setattr(generation.Generation, "_make_variant", count)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    tok = compiler.tokenizer
    text = '["abc", "x (]y", "12:"]' if schema["type"] == "array" else '{"abc": "A", "}{)": "x (]y", "cd:": "C"'
    matcher = compiler.json_schema(schema).matcher()
    for token in tok.encode(text):
        read_mask(matcher, tok.vocab_size)
        matcher.accept_token(token)
    assert 3 <= len(made) <= 40


def test_a_lexeme_that_ends_with_the_next_byte_needs_no_search(llama3_tokenizer: llmask.Tokenizer) -> None:
    """Most tokens fill a key of three characters; with a search after each of them a mask took 87,000 units of work."""
    tok = llama3_tokenizer
    compiler = llmask.Compiler(tok, limits=llmask.Limits(max_step_work=5_000), canonical=True)
    matcher = compiler.json_schema(DIFFERENT[0]).matcher()
    for token in tok.encode('{"abc": "A", "'):
        assert token in read_mask(matcher, tok.vocab_size)
        matcher.accept_token(token)
    assert tok.encode("xyz")[0] in read_mask(matcher, tok.vocab_size)
