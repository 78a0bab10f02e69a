"""Matchers whose tokens first spell a prefix."""

from __future__ import annotations

import pytest

import llmask
from tests.reference.definition import read_mask

TOKENIZER = "default_tokenizer"  # of `compiler`


def texts(matcher: llmask.Matcher) -> set[bytes]:
    tokenizer = matcher.grammar.tokenizer
    return {tokenizer.token_bytes(token) for token in read_mask(matcher, tokenizer.vocab_size)}


def test_a_healed_prompt(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    ids, prefix = tok.heal(tok.encode("The url is http:"))
    matcher = compiler.regex("//[a-z]+").matcher(prefix=prefix)
    assert texts(matcher) == {b":", b":/", b"://"} & {tok.token_bytes(token) for token in range(tok.vocab_size)}
    matcher.accept_tokens(tok.encode("://abc"))
    assert matcher.is_accepting()
    assert tok.is_canonical(ids + matcher.tokens)


def test_bytes_and_messages(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["one"]).matcher(prefix=b"na")
    with pytest.raises(llmask.TokenRejected, match="expected 'na'"):
        matcher.accept_bytes(b"one")
    matcher.accept_bytes(b"n")
    with pytest.raises(llmask.TokenRejected, match="expected 'a'"):
        matcher.accept_token(compiler.tokenizer.encode("one")[0])
    assert not matcher.is_accepting()
    assert matcher.forced_bytes() == b"aone"
    matcher.accept_bytes(b"ao")
    matcher.accept_bytes(b"ne")
    assert matcher.is_accepting()
    assert matcher.text() == b"naone"
    matcher.rollback(2)
    assert matcher.forced_bytes() == b"aone"


def test_a_batch_with_prefixes(compiler: llmask.Compiler) -> None:
    grammar = compiler.choice(["one", "two"])
    matchers = [grammar.matcher(), grammar.matcher(prefix=b"a"), grammar.matcher()]
    vocab_size = compiler.tokenizer.vocab_size
    mask = llmask.allocate_bitmask(3, vocab_size)
    assert llmask.fill_bitmasks(matchers, mask) == [True] * 3
    for row, matcher in enumerate(matchers):
        alone = llmask.allocate_bitmask(1, vocab_size)
        matcher.fill_bitmask(alone)
        assert (alone[0] == mask[row]).all()


def test_wrong_arguments(compiler: llmask.Compiler) -> None:
    grammar = compiler.choice(["one"])
    with pytest.raises(llmask.LlmaskError, match="a prefix is bytes, not str"):
        grammar.matcher(prefix="a")  # type: ignore[arg-type]
    matcher = grammar.matcher(prefix=b"a")
    with pytest.raises(llmask.LlmaskError, match="row 1"):
        matcher.fill_bitmask(llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size), 1)


def test_a_vocabulary_that_cannot_spell_the_prefix() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"<end>"], eos=1)
    matcher = llmask.Compiler(tokenizer).choice(["a"]).matcher(prefix=b"b")
    with pytest.raises(llmask.VocabularyError, match="no token of the vocabulary spells 'b'"):
        matcher.fill_bitmask(llmask.allocate_bitmask(1, 2))
