"""Tokens that end inside of a character, and the tries of tokens that slices say nothing of.

A slice (store/slices.py) has the tokens of plain characters, whole ones. Tokens of plain characters and a part of one
more are *cut off*; where a slice stands for its tokens they are answered like these (kernels/canonical_inside.py), and
what is left is walked: quotes, backslashes, control characters.

In: a tokenizer, its slices. Out: arrays. Cost: 30 ms for 128,256 tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..store.slices import MOST_CODE_POINTS
from ..trie.build import build_trie

if TYPE_CHECKING:
    from ..store.slices import SliceArrays
    from ..tokenizer import Tokenizer

SEPARATORS = "\u2028\u2029"  # in no slice


def cut_off_tokens(tokenizer: Tokenizer) -> npt.NDArray[np.int32]:
    """int32[n, 2]: the tokens that are cut off, and of how many characters they are, the last one counted."""
    found = []
    offsets, data = tokenizer.token_offsets, tokenizer.token_data
    has_bytes = np.diff(offsets) > 0
    ends_beyond_ascii = np.zeros(len(has_bytes), bool)
    ends_beyond_ascii[has_bytes] = data[offsets[1:][has_bytes] - 1] >= 0x80
    for token in np.flatnonzero(ends_beyond_ascii).tolist():
        try:
            tokenizer.token_bytes(token).decode()
        except UnicodeDecodeError as error:
            is_at_end = error.reason == "unexpected end of data"
            text = error.object[: error.start].decode() if is_at_end else "\0"
            if not any(character < " " or character in '"\\\x7f' + SEPARATORS for character in text):
                found.append((token, len(text) + 1))
    return np.array(found, np.int32).reshape(-1, 2)


def slice_rests(
    tokenizer: Tokenizer, slices: Sequence[SliceArrays], cut_off: npt.NDArray[np.int32]
) -> list[npt.NDArray[np.int64]]:
    """For each slice of JSON the trie words of the tokens that are neither in it nor cut off within its length."""
    tries = []
    for part in slices[: len(MOST_CODE_POINTS)]:  # each of these holds those behind it
        bits = np.unpackbits(part.mask, bitorder="little")[: tokenizer.vocab_size].astype(bool)
        bits[cut_off[cut_off[:, 1] <= part.most, 0]] = True
        tries.append(build_trie(tokenizer.token_offsets, tokenizer.token_data, ~bits).node)
    return tries
