"""A sequence that meets a limit in the middle of its document is not lost: `on_limit="finish"` ends it validly."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import numpy as np
import pytest

import llmask
from llmask import work
from tests.reference.definition import read_mask

SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {"title": {"type": "string", "maxLength": 90}, "tags": {"items": {"type": "string"}}},
        "required": ["title", "tags"],
    },
    {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "object"}]}, "minItems": 2},
    {"type": "array", "items": {"enum": ["one", "two", "three"]}, "uniqueItems": True, "minItems": 2},
    {"type": "string", "pattern": "^(?=.*a.{6})(?=.*b.{6})[abc]{24}$"},
    {"type": "object", "properties": {"left": {"$ref": "#"}, "value": {"type": "null"}}},
]


def until_the_end(matcher: llmask.Matcher, choose: random.Random, n_vocab: int) -> None:
    """Random allowed tokens until the document ends; 40 at most before it is to be finished anyway."""
    mask = llmask.allocate_bitmask(1, n_vocab)
    for n_tokens in range(400):
        if n_tokens < 40:
            matcher.fill_bitmask(mask)
        else:
            matcher.finish(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        matcher.accept_token(int(choose.choice(allowed)))
        if matcher.is_terminated():
            return
    raise AssertionError(f"no end after {matcher.text()!r}")


@pytest.mark.parametrize("schema", SCHEMAS, ids=[str(number) for number in range(len(SCHEMAS))])
def test_sequences_that_meet_a_limit_anywhere_end_in_valid_documents(
    default_tokenizer: Any, scaled: Any, schema: dict[str, Any]
) -> None:
    judge, choose = jsonschema.Draft202012Validator(schema), random.Random(7)
    n_finished = 0
    for _ in range(scaled(8)):
        # everything is new to an empty store, and so small a bound is met somewhere on the way
        limits = llmask.Limits(max_step_work=choose.choice([3, 10, 30, 100]))
        grammar = llmask.Compiler(default_tokenizer, limits=limits).json_schema(schema)
        for _ in range(5):
            matcher = grammar.matcher(on_limit="finish")
            until_the_end(matcher, choose, default_tokenizer.vocab_size)
            judge.validate(json.loads(matcher.text()))
        n_finished += grammar.n_finished
    assert n_finished > 0


def limited(tokenizer: Any, units: int = 2) -> llmask.Matcher:
    """A matcher in a string of which no mask can be built."""
    compiler = llmask.Compiler(tokenizer, limits=llmask.Limits(max_step_work=units))
    matcher = compiler.json_schema(SCHEMAS[0]).matcher(on_limit="finish")
    for byte in b'{"title": "':
        matcher.accept_bytes(bytes([byte]))
    return matcher


def test_once_a_limit_is_met_the_sequence_goes_on_to_its_end_and_rollback_undoes_it(tiny_tokenizer: Any) -> None:
    matcher = limited(tiny_tokenizer)
    n_vocab = tiny_tokenizer.vocab_size
    (token,) = read_mask(matcher, n_vocab)
    assert matcher.grammar.n_finished == 1
    twin = matcher.fork()
    mask = llmask.allocate_bitmask(2, n_vocab)
    assert llmask.fill_bitmasks([matcher, twin], mask) == [True, True]
    assert (mask[0] == mask[1]).all()
    while not matcher.is_terminated():
        matcher.accept_token(min(read_mask(matcher, n_vocab)))
    jsonschema.validate(json.loads(matcher.text()), SCHEMAS[0])
    assert read_mask(matcher, n_vocab) == set(tiny_tokenizer.eos_ids)
    assert matcher.grammar.n_finished == 1
    matcher.reset()
    matcher.accept_bytes(b"{")
    assert len(read_mask(matcher, n_vocab)) > 1  # this mask is small enough
    twin.accept_token(token)
    assert len(read_mask(twin, n_vocab)) == 1


def test_without_it_the_limit_is_an_error_and_the_sequence_as_before(tiny_tokenizer: Any) -> None:
    matcher = limited(tiny_tokenizer)
    matcher._sequence.on_limit = "error"
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_step_work"):
        read_mask(matcher, tiny_tokenizer.vocab_size)
    assert matcher.text() == b'{"title": "'
    assert matcher.grammar.n_finished == 0


def test_finish_writes_one_token_of_the_way_or_the_ends(tiny_tokenizer: Any) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).json_schema(SCHEMAS[0]).matcher()
    mask = llmask.allocate_bitmask(3, tiny_tokenizer.vocab_size)
    way = matcher.finishing_tokens()
    for token in way:
        assert matcher.finish(mask, 1) is True
        assert mask[1].view(np.uint8).tobytes() == _only(token, mask.shape[1])
        matcher.accept_token(token)
    matcher.finish(mask, row=2)
    assert np.flatnonzero(np.unpackbits(mask[2].view(np.uint8), bitorder="little")).tolist() == sorted(
        tiny_tokenizer.eos_ids
    )
    with pytest.raises(llmask.LlmaskError, match="row 3"):
        matcher.finish(mask, 3)


@pytest.mark.parametrize("schema", SCHEMAS, ids=[str(number) for number in range(len(SCHEMAS))])
def test_a_way_that_is_found_in_parts_is_as_short(
    default_tokenizer: Any, monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any]
) -> None:
    # the search was one operation of up to half a second, in which no other sequence could take a step
    def way() -> list[int]:
        matcher, tokens = llmask.Compiler(default_tokenizer).json_schema(schema).matcher(), []
        while not matcher.is_accepting():
            matcher.finish(mask)
            tokens.append(int(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))[0]))
            matcher.accept_token(tokens[-1])
        return tokens

    mask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
    found = way()
    monkeypatch.setattr(work, "PART_WORK", 4)
    assert way() == found


def _only(token: int, n_words: int) -> bytes:
    words = np.zeros(n_words, np.uint32)
    words[token // 32] = np.uint32(1) << np.uint32(token % 32)
    return words.tobytes()


def test_a_prefix_is_finished_too_and_a_wrong_mode_is_refused(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema({"const": "name"})
    matcher = grammar.matcher(prefix=b"a: ", on_limit="finish")
    mask = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
    while not matcher.is_terminated():
        matcher.finish(mask)
        matcher.accept_token(int(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))[0]))
    assert matcher.text() == b'a: "name"'
    with pytest.raises(llmask.LlmaskError, match='on_limit is "error" or "finish", not \'stop\''):
        grammar.matcher(on_limit="stop")
