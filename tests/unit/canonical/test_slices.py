"""Tokens that end inside of a character, and what slices say nothing of."""

from __future__ import annotations

import numpy as np

import llmask
from llmask.canonical.slices import cut_off_tokens, slice_rests
from llmask.store.slices import MOST_CODE_POINTS
from llmask.vocabulary.vocabulary import from_bytes


def test_tokens_of_plain_characters_and_a_part_of_one_more() -> None:
    spellings = [
        b"a",
        b"\xc3",
        b"ab\xe2\x82",
        b'"\xc3',
        b"\n\xc3",
        b"\xc3\xa9",
        b"\xa9",
        b"\xff",
        b"\xc3\xa9\xf0\x9f\x98",
    ]
    tokenizer = llmask.Tokenizer(from_bytes([*spellings, b"<end>"], eos=len(spellings)))
    assert cut_off_tokens(tokenizer).tolist() == [[1, 1], [2, 3], [8, 2]]


def test_every_token_is_in_a_slice_or_cut_off_or_left() -> None:
    tokenizer = llmask.Tokenizer.default()
    slices = llmask.Compiler(tokenizer).store().slice_arrays
    cut_off = cut_off_tokens(tokenizer)
    assert len(cut_off) > 10
    slices = slices[: len(MOST_CODE_POINTS)]
    for part, trie in zip(slices, slice_rests(tokenizer, slices, cut_off), strict=True):
        n_left = int((trie >> 42 != 0).sum())
        n_cut_off = int(np.count_nonzero(cut_off[:, 1] <= part.most))
        n_duplicates = len(tokenizer.trie.duplicates)
        n_spelled = int(np.count_nonzero(np.diff(tokenizer.token_offsets)))
        assert n_left + n_cut_off + part.n_tokens + n_duplicates == n_spelled
