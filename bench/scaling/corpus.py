"""Everything that the studies take from `bench.data`: Llama 3's tokens and encoder, MaskBench's rows.

In: nothing. Out: tokens, an encoder, rows. Cost: a second, once a process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from bench import data
from bench.data import LLAMA3_VOCABULARY, Row, instance_text, maskbench_rows
from bench.vocabularies import encoder

__all__ = ["LLAMA3_VOCABULARY", "Row", "Tokens", "instance_text", "llama3_encoder", "llama3_tokens", "maskbench_rows"]


class Tokens(NamedTuple):
    """A vocabulary as engines get it: the bytes of each token, special ids, the end of sequence."""

    tokens: list[bytes]
    special_ids: list[int]
    eos: int


@cache
def llama3_tokens() -> Tokens:
    """Llama 3's vocabulary."""
    found = data.llama3_vocabulary()
    return Tokens(found.tokens, found.special_ids, found.eos)


@cache
def llama3_encoder() -> Callable[[str], list[int]]:
    """Text to Llama 3's token ids, by tiktoken."""
    return encoder("llama3")
