"""Canonical matchers: everything a matcher does, with fewer tokens."""

from __future__ import annotations

import random

import pytest

import llmask
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.default(), canonical=True)


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}


def test_tokens_that_are_not_canonical_are_rejected(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.choice(["name"]).matcher()
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.encode("n")[0])
    assert matcher.tokens == []
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.vocab_size)
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.eos_ids[0])
    matcher.accept_tokens([*tok.encode("name"), tok.eos_ids[0]])
    assert matcher.is_terminated()
    assert read_mask(matcher, tok.vocab_size) == set(tok.eos_ids)
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.eos_ids[0])


def test_rollback_and_forks(compiler: llmask.Compiler) -> None:
    rng = random.Random(3)
    size = compiler.tokenizer.vocab_size
    matcher = compiler.json_schema(SCHEMA).matcher()
    seen = []
    for _ in range(25):
        allowed = read_mask(matcher, size)
        seen.append(allowed)
        if matcher.is_terminated():
            break
        twin = matcher.fork()
        token = rng.choice(sorted(allowed))
        twin.accept_token(token)
        twin.rollback(1)
        assert read_mask(twin, size) == allowed
        matcher.accept_token(token)
    tokens = matcher.tokens
    while len(seen) > 1:
        seen.pop()
        if len(matcher.tokens) > len(seen) - 1:
            matcher.rollback(len(matcher.tokens) - (len(seen) - 1))
        assert read_mask(matcher, size) == seen[-1]
    matcher.reset()
    matcher.accept_tokens(tokens)
    assert matcher.tokens == tokens


def test_batches_are_the_masks_of_each(compiler: llmask.Compiler) -> None:
    rng = random.Random(5)
    size = compiler.tokenizer.vocab_size
    plain = llmask.Compiler(compiler.tokenizer).json_schema(SCHEMA).matcher()
    matchers = [*(compiler.json_schema(SCHEMA).matcher() for _ in range(6)), plain]
    for _ in range(8):
        mask = llmask.allocate_bitmask(len(matchers), size)
        llmask.fill_bitmasks(matchers, mask, threads=2)
        for row, matcher in enumerate(matchers):
            alone = llmask.allocate_bitmask(1, size)
            matcher.fill_bitmask(alone)
            assert (alone[0] == mask[row]).all()
            if not matcher.is_terminated():
                matcher.accept_token(rng.choice(sorted(read_mask(matcher, size))))


def test_bytes_are_a_text_of_their_own(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.choice(["name"]).matcher()
    matcher.accept_bytes(b"na")
    assert read_mask(matcher, tok.vocab_size) == {tok.encode("me")[0]}
    matcher.rollback(1)
    assert read_mask(matcher, tok.vocab_size) == {tok.encode("name")[0]}


def test_canonical_masks_forbid_more_and_never_less(compiler: llmask.Compiler) -> None:
    rng = random.Random(7)
    size = compiler.tokenizer.vocab_size
    plain = llmask.Compiler(compiler.tokenizer)
    for _ in range(4):
        matcher, other = compiler.json_schema(SCHEMA).matcher(), plain.json_schema(SCHEMA).matcher()
        for _ in range(20):
            allowed = read_mask(matcher, size)
            assert allowed
            assert allowed <= read_mask(other, size)
            token = rng.choice(sorted(allowed))
            matcher.accept_token(token)
            other.accept_token(token)
            if matcher.is_terminated():
                break


def test_sequences_move_to_new_tables() -> None:
    limits = llmask.Limits(renew_grammar_bytes=1)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), limits=limits, canonical=True)
    tok = compiler.tokenizer
    matcher = compiler.json_schema(SCHEMA).matcher()
    ids = tok.encode('{"name": "some text", "n": 12345}')
    for token in ids:
        assert token in read_mask(matcher, tok.vocab_size)
        matcher.accept_token(token)
    assert matcher.is_accepting()


def test_a_prefix_is_refused(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.LlmaskError, match="takes no prefix"):
        compiler.choice(["a"]).matcher(prefix=b"a")
