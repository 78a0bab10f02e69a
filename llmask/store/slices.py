"""The slices of a tokenizer: families of tokens whose masks are computed once.

JSON's slices hold the tokens of 1 to k code points that may stand unescaped in a string, for a few k. A string body
with room for k more code points copies the mask of the largest slice that fits and walks the trie of the other tokens
only. Slices for k = 1 and 2 save nothing: a state with so little room dies early by itself.

In: a store. Out: slots SLICES and N_SLICES. Cost: see `bench/startup.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..derivatives.code_points import CodePointSet
from ..derivatives.nodes import UNBOUNDED
from ..derivatives.utf8 import utf8_char
from ..kernels import engine, slice_choice, store_slots
from ..trie.build import build_trie

if TYPE_CHECKING:
    from .store import Store

JSON_RAW = CodePointSet.from_ranges([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0x80, 0xD7FF), (0xE000, 0x10FFFF)])
MOST_CODE_POINTS = (UNBOUNDED, 30, 10, 4)


def add_slices(store: Store) -> None:
    """Make the slices of `store` and register them in its table."""
    tokenizer = store.tokenizer
    char = utf8_char(store.nodes, JSON_RAW)
    rows = []
    for most in MOST_CODE_POINTS:
        flags = np.zeros(tokenizer.vocab_size, np.int32)
        n_tokens = store.run(engine.FLAG_SLICE, char, most, data=flags)
        inside = np.zeros(store.n_words * 32, bool)
        inside[: tokenizer.vocab_size] = flags
        mask = np.packbits(inside, bitorder="little")
        rest = build_trie(tokenizer.token_offsets, tokenizer.token_data, ~inside[: tokenizer.vocab_size]).node
        main = np.zeros(len(rest), np.int32)
        store.run(engine.MATCH_NODES, rest.ctypes.data, data=main)
        store.slice_arrays += [mask, rest, main]
        rows.append((char, most, mask.ctypes.data, n_tokens, rest.ctypes.data, len(rest), main.ctypes.data, 0))
    table = np.array(rows, np.int64)
    assert table.shape[1] == slice_choice.SLICE_FIELDS
    store.table.put(store_slots.SLICES, table)
    store.table.array[store_slots.N_SLICES] = len(rows)
