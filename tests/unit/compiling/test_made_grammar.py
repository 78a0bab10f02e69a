"""Canonical masks behind a prefix that the tokens have to spell."""

from __future__ import annotations

import pytest

import llmask
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.default(), canonical=True)


@pytest.mark.parametrize(
    ("prefix", "texts"), [("na", ["me", "vy"]), (" th", ["e", "at is", "  x"]), ("  ", ["1", "a"])]
)
def test_the_tokens_are_those_of_the_whole_text(compiler: llmask.Compiler, prefix: str, texts: list[str]) -> None:
    tok = compiler.tokenizer
    grammar = compiler.choice(texts)
    documents = [[*tok.encode(prefix + text), tok.eos_ids[0]] for text in texts]
    for ids in documents:
        matcher = grammar.matcher(prefix=prefix.encode())
        for n, token in enumerate(ids):
            expected = {other[n] for other in documents if other[:n] == ids[:n]}
            assert read_mask(matcher, tok.vocab_size) == expected
            matcher.accept_token(token)
        assert matcher.text() == tok.decode_bytes(ids[:-1])


def test_a_healed_prompt_stays_canonical(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    ids, prefix = tok.heal(tok.encode("The url is http:"))
    matcher = compiler.regex("//[a-z]+").matcher(prefix=prefix)
    while not matcher.is_accepting() or len(matcher.tokens) < 5:
        matcher.accept_token(min(read_mask(matcher, tok.vocab_size) - set(tok.eos_ids)))
    assert tok.is_canonical(ids + matcher.tokens)


def test_prefixes_of_schemas_are_remembered(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    grammar = compiler.json_schema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    matcher = grammar.matcher(prefix=b" ")
    assert matcher.grammar is grammar.matcher(prefix=b" ").grammar
    assert matcher.grammar is not grammar._loaded
    matcher.accept_tokens([*tok.encode(' {"n": 1}'), tok.eos_ids[0]])
    assert matcher.is_terminated()
    for number in range(40):
        grammar.matcher(prefix=b"%d" % number)
    assert len(grammar._loaded._after_prefixes) == 16


def test_grammars_that_cannot_be_put_behind_say_so(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_schema({"type": "array", "uniqueItems": True, "items": {"type": "string"}})
    with pytest.raises(llmask.LlmaskError, match="takes no prefix: a schema that compares texts"):
        grammar.matcher(prefix=b"x")
    with pytest.raises(llmask.LlmaskError, match="a prefix is bytes"):
        compiler.choice(["a"]).matcher(prefix="x")  # type: ignore[arg-type]
