"""Matchers: what each method answers and leaves behind, on grammars small enough to see the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llmask
from tests.reference.definition import read_mask

TOKENIZER = "tiny_tokenizer"  # of `compiler`
EOS = 1


def token_of(data: bytes) -> int:
    assert len(data) == 1
    return data[0] + 3


def texts(matcher: Any) -> set[bytes]:
    """The tokens of the mask; the end of sequence as b"<end>"."""
    tokenizer = matcher.grammar.tokenizer
    return {
        b"<end>" if token in tokenizer.eos_ids else tokenizer.token_bytes(token)
        for token in read_mask(matcher, tokenizer.vocab_size)
    }


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint16])
def test_token_ids_of_any_integer_kind(compiler: Any, kind: Any) -> None:
    matcher = compiler.regex("[ab]*").matcher()
    token = kind(token_of(b"a"))
    matcher.accept_token(token)
    matcher.accept_tokens(np.array([token, token]))
    assert matcher.validate_tokens(iter([token, token])) == 2
    assert matcher.tokens == [token_of(b"a")] * 3
    assert all(type(accepted) is int for accepted in matcher.tokens)
    matcher.rollback(np.int64(2))
    assert matcher.text() == b"a"


def test_torch_bitmasks_and_ids(compiler: Any, tiny_tokenizer: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    matcher = compiler.regex("[ab]*").matcher()
    expected = llmask.allocate_bitmask(2, tiny_tokenizer.vocab_size)
    bitmask = torch.full(expected.shape, -1, dtype=torch.int32)
    assert matcher.fill_bitmask(expected, 1)
    assert matcher.fill_bitmask(bitmask, torch.tensor(1))
    assert np.array_equal(bitmask.numpy(), expected)
    matcher.accept_tokens(torch.tensor([token_of(b"a"), token_of(b"b")]))
    matcher.accept_token(torch.tensor(token_of(b"b")))
    assert matcher.text() == b"abb"
    rows, words = expected.shape
    wrong = [
        (torch.zeros(expected.shape), f"float32[{rows}, {words}]"),
        (torch.zeros(expected.shape, dtype=torch.int64), f"int64[{rows}, {words}]"),
        (
            torch.zeros(expected.shape[::-1], dtype=torch.int32).T,
            f"int32[{rows}, {words}], {4 * rows} bytes from word to word",
        ),
        (torch.zeros((1, 1, words), dtype=torch.int32), f"int32[1, 1, {words}]"),
        # NumPy has neither, and torch's own error came through
        (torch.zeros(expected.shape, dtype=torch.bfloat16), "a torch.bfloat16 tensor that NumPy cannot read"),
        (torch.zeros(expected.shape, dtype=torch.int32).to_sparse(), "a torch.int32 tensor that NumPy cannot read"),
        (torch.zeros(expected.shape, requires_grad=True), "a torch.float32 tensor that NumPy cannot read"),
    ]
    for mask, given in wrong:
        with pytest.raises(llmask.LlmaskError) as caught:
            matcher.fill_bitmask(mask)
        with pytest.raises(llmask.LlmaskError, match="a bitmask is a writable"):
            llmask.fill_bitmasks([matcher], mask)
        assert caught.value.message == (
            "a bitmask is a writable int32 array of one or two dimensions, the words of a row side by side, "
            f"not {given}"
        )
    with pytest.raises(llmask.LlmaskError) as caught:
        matcher.fill_bitmask(torch.zeros(expected.shape, dtype=torch.int32, device="meta"))
    assert str(caught.value) == "the bitmask lies on meta, it is written on the CPU\n  fill it there and copy it"
    with pytest.raises(llmask.LlmaskError, match="a token id is an integer, not Tensor"):
        matcher.accept_token(torch.tensor(1.0))
    assert matcher.text() == b"abb"


def test_fill_says_whether_the_mask_restricts() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"</s>"], eos=2)
    compiler = llmask.Compiler(tokenizer)
    mask = llmask.allocate_bitmask(1, 3)
    assert not compiler.regex("[ab]*").matcher().fill_bitmask(mask)
    assert mask[0, 0] == 0b111
    assert compiler.regex("[ab]+").matcher().fill_bitmask(mask)
    assert mask[0, 0] == 0b011


def test_bytes_count_as_one_step(compiler: Any) -> None:
    matcher = compiler.regex("[ab]*c").matcher()
    matcher.accept_bytes(b"ab")
    matcher.accept_token(token_of(b"a"))
    matcher.accept_bytes(bytearray(b"bb"))
    matcher.accept_bytes(memoryview(b""))
    assert matcher.tokens == [-1, token_of(b"a"), -1, -1]
    assert matcher.text() == b"ababb"
    twin = matcher.fork()
    matcher.rollback(2)
    assert matcher.text() == b"aba"
    matcher.accept_bytes(b"a")
    assert (matcher.text(), twin.text()) == (b"abaa", b"ababb")
    matcher.reset()
    assert matcher.text() == b""
    assert matcher.tokens == []


def test_tokens_are_taken_all_or_none(compiler: Any) -> None:
    matcher = compiler.regex("[ab]*c").matcher()
    matcher.accept_bytes(b"a")
    before = texts(matcher)

    def interrupted() -> Any:
        yield token_of(b"a")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        matcher.accept_tokens(interrupted())
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_tokens([token_of(b"a"), token_of(b"c"), token_of(b"c")])
    assert matcher.text() == b"a"
    assert texts(matcher) == before
    assert matcher.validate_tokens([token_of(b"a"), token_of(b"c"), token_of(b"c")]) == 2
    assert matcher.validate_tokens([token_of(b"c"), EOS, EOS]) == 2
    assert matcher.validate_tokens([]) == 0
    matcher.accept_tokens([])
    assert matcher.text() == b"a"


@pytest.mark.parametrize(
    ("pattern", "prefix", "forced"),
    [
        ("abc", b"", b"abc"),
        ("abc|abd", b"", b"ab"),
        ("abc|abd", b"abd", b""),
        ("a*", b"", b""),
        ("xa*", b"", b"x"),
        ("a(bc)?", b"a", b""),
        ("é", b"", "é".encode()),
        ("[éè]", b"", b"\xc3"),
        ("a{1000}b?", b"", b"a" * 1000),
    ],
)
def test_forced_bytes(compiler: Any, pattern: str, prefix: bytes, forced: bytes) -> None:
    matcher = compiler.regex(pattern).matcher()
    matcher.accept_bytes(prefix)
    assert matcher.forced_bytes() == forced
    assert matcher.text() == prefix


def test_forced_bytes_of_a_schema(compiler: Any) -> None:
    schema = {"type": "object", "properties": {"name": {"const": "me"}}, "required": ["name"]}
    schema["additionalProperties"] = False
    matcher = compiler.json_schema(schema, whitespace="compact").matcher()
    assert matcher.forced_bytes() == b'{"name":"me"}'
    matcher = compiler.json_schema({"type": "null"}).matcher()
    matcher.accept_bytes(b"null")
    matcher.accept_token(EOS)
    assert matcher.forced_bytes() == b""


def test_messages_show_the_end_of_a_long_text(compiler: Any) -> None:
    matcher = compiler.regex("[ab]*").matcher()
    matcher.accept_bytes(b"a" * 50 + b"b" * 39)
    with pytest.raises(llmask.TokenRejected) as caught:
        matcher.accept_token(token_of(b"x"))
    assert caught.value.message == "token 123 'x' cannot come next; expected 'a'..'b', the end"
    assert caught.value.where == "token 1, after ...'a" + "b" * 39 + "'"


def test_messages_name_a_dozen_of_what_may_come(compiler: Any) -> None:
    matcher = compiler.regex("[acegikmoqsuwy02468]").matcher()
    with pytest.raises(llmask.TokenRejected) as caught:
        matcher.accept_bytes(b"!")
    expected = ", ".join(f"'{letter}'" for letter in "02468acegikm")
    assert caught.value.message == f"byte 0 of '!' cannot come next; expected {expected}, ..."


def test_several_ends_of_sequence() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"</s>", b"b", b"<eot>"], eos=[3, 1])
    matcher = llmask.Compiler(tokenizer).regex("ab?").matcher()
    matcher.accept_token(0)
    assert read_mask(matcher, 4) == {1, 2, 3}
    for eos in (1, 3):
        matcher.accept_token(eos)
        assert matcher.is_terminated()
        assert read_mask(matcher, 4) == {1, 3}
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_token(4 - eos)
        matcher.rollback(1)


class _Index:
    """An integer of another library."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_a_refused_token_may_be_an_integer_of_any_kind(compiler: Any) -> None:
    matcher = compiler.regex("a").matcher()
    refused = _Index(compiler.tokenizer.vocab_size + 1)
    assert not matcher.accept(refused)
    with pytest.raises(llmask.TokenRejected, match=f"token {refused.number} is not in the vocabulary"):
        matcher.accept_token(refused)
