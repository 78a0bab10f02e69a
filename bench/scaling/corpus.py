"""What the studies read: Llama 3's tokens and encoder and MaskBench's rows, of `bench.data`, and words to draw from.

In: nothing. Out: tokens, an encoder, rows, words. Cost: a second, once a process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from bench.data import LLAMA3_VOCABULARY, Row, instance_text, llama3_vocabulary, maskbench_rows
from bench.vocabularies import encoder

__all__ = [
    "LLAMA3_VOCABULARY", "WORDS", "Row", "instance_text", "llama3_encoder", "llama3_vocabulary", "maskbench_rows",
]  # fmt: skip
_TEXT = """
account address amount approval audit balance batch billing carrier category channel city claim code contact country
currency customer date delivery device discount document duration entry event field file filter flag format group header
host image index invoice item label language level limit location lot manager member message method mode model name
network node note number offer option order origin owner package page parameter parent partner payment period phone plan
policy port price priority product profile project property provider quantity query rate reason record reference region
report request resource result role route rule sample schedule scope section sender server service session setting
shipment signature size source stage status step stock store subject tag target task tax team template term title token
total track type unit update user value vendor version view warehouse weight zone
"""
WORDS = _TEXT.split()


@cache
def llama3_encoder() -> Callable[[str], list[int]]:
    """Text to Llama 3's token ids, by tiktoken."""
    return encoder("llama3")
