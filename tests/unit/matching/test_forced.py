"""What is forced, as bytes and as tokens."""

from __future__ import annotations

import llmask
from llmask.matching.forced import find_forced, items_of

TOKENIZER = "default_tokenizer"  # of `compiler`
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["one hundred", "two"]}},
    "required": ["name"],
    "additionalProperties": False,
}


def test_forced_tokens_are_those_of_the_encoding(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    ids = tok.encode('{"name":"one hundred"}')
    matcher = compiler.json_schema(SCHEMA, whitespace="compact").matcher()
    n_forced = 0
    while not matcher.is_accepting():
        n = len(matcher.tokens)
        forced = matcher.forced_tokens()
        assert ids[n : n + len(forced)] == forced
        assert matcher.forced_bytes().startswith(tok.decode_bytes(forced))
        n_forced += len(forced)
        matcher.accept_tokens(forced or ids[n : n + 1])
    assert matcher.tokens == ids
    assert n_forced >= 3


def test_nothing_is_forced_behind_what_the_tokenizer_would_not_write(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["name"]).matcher()
    matcher.accept_tokens(compiler.tokenizer.encode("n"))
    assert matcher.forced_bytes() == b"ame"
    assert matcher.forced_tokens() == []


def test_bytes_given_as_text_are_taken_as_encoded(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["one hundred"]).matcher()
    matcher.accept_bytes(b"one")
    assert matcher.forced_tokens() == compiler.tokenizer.encode(" hundred")


def test_a_whole_document_is_forced(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["one hundred"]).matcher()
    forced = matcher.forced_tokens()
    assert forced == compiler.tokenizer.encode("one hundred")
    matcher.accept_tokens(forced)
    assert matcher.is_accepting()
    assert matcher.forced_tokens() == []


def test_vocabularies_without_byte_pairs_force_nothing() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<end>"], eos=2)
    matcher = llmask.Compiler(tokenizer).choice(["ab"]).matcher()
    assert matcher.forced_bytes() == b"ab"
    assert matcher.forced_tokens() == []


def test_where_the_bytes_lead(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["abc", "abd"]).matcher()
    data, configuration = find_forced(matcher._sequence)
    assert data == b"ab"
    assert items_of(b"ab").tolist() == [97, 98]
    matcher.accept_bytes(b"ab")
    assert find_forced(matcher._sequence) == (b"", configuration)
