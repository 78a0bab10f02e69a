"""Ends of chunks: at most so many tokens, and no cut inside of a character."""

from __future__ import annotations

import pytest

from llmask.errors import LlmaskError
from llmask.tokenizer.chunks import as_limit, find_chunk
from llmask.tokenizer.tokenizer import Tokenizer

TOKENS = [b"<end>", b"a", b"ab", b"b", *(bytes([byte]) for byte in "日".encode())]


def chunk_end(text: str, start: int, n: int) -> int:
    tokenizer = Tokenizer.from_bytes(TOKENS, eos=0)
    return find_chunk(tokenizer._parts, tokenizer.encode, tokenizer.count, text, start, n)


@pytest.mark.parametrize(
    ("text", "n", "end"),
    [("abab", 1, 2), ("abab", 2, 4), ("ba", 1, 1), ("日a", 3, 1), ("日a", 2, 0), ("aaa", 0, 0), ("a" * 100, 60, 60)],
)
def test_a_chunk_ends_where_the_next_token_would_be_too_many(text: str, n: int, end: int) -> None:
    assert chunk_end(text, 0, n) == end


def test_a_chunk_begins_where_the_last_one_ended() -> None:
    assert [chunk_end("abab" + "ba" * 3, start, 2) for start in (0, 4, 6)] == [4, 7, 9]


def test_limits_are_integers_of_any_size() -> None:
    """2**63 was an OverflowError, and 1.5 or a text a TypeError."""
    tokenizer = Tokenizer.default()
    assert as_limit(3) == 3
    assert tokenizer.count_till_limit("a b", 2**70) == tokenizer.count("a b")
    assert tokenizer.count_till_limit("a b", -(2**70)) is None
    assert tokenizer.split("a b", 2**70) == ["a b"]
    for n in (1.5, "3", None):
        for ask in (tokenizer.count_till_limit, tokenizer.split):
            with pytest.raises(LlmaskError, match="a number of tokens is an integer"):
                ask("a b", n)  # type: ignore[operator]
