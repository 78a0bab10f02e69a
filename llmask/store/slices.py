"""The slices of a tokenizer: families of tokens whose masks are computed once.

JSON's slices hold the tokens of 1 to k code points that may stand unescaped in a string, for a few k. A string body
with room for k more code points copies the mask of the largest slice that fits and walks the trie of the other tokens
only. Slices for k = 1 and 2 save nothing: a state with so little room dies early by itself.

Two more are for what is not JSON. Free text before a trigger takes all tokens without the character that the trigger
begins with, which is most often one of `<[{`; comments and strings of programming languages end at others. Of 128,256
tokens of Llama 3 they leave 3,800 and 12,200 to the walk.

In: a store. Out: slots SLICES and N_SLICES. Cost: see `bench/startup.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..derivatives.code_points import TEXT, CodePointSet
from ..derivatives.nodes import UNBOUNDED
from ..derivatives.utf8 import utf8_char
from ..kernels import engine, slice_choice, store_slots
from ..trie.build import build_trie

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer
    from .store import Store

# without U+2028 and U+2029, which the dot of a pattern refuses: a bounded `.{0,200}` walked the whole trie
JSON_RAW = CodePointSet.from_ranges(
    [(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0x80, 0x2027), (0x202A, 0xD7FF), (0xE000, 0x10FFFF)]
)
MOST_CODE_POINTS = (UNBOUNDED, 30, 10, 6, 4)
FREE_TEXT = TEXT.subtract(CodePointSet.of("<[{"))
PLAIN_TEXT = FREE_TEXT.subtract(CodePointSet.of("\"'`\\*#$\n\r"))
# characters of the tokens of a slice, and how many of them at most
SLICES = (*tuple((JSON_RAW, most) for most in MOST_CODE_POINTS), (FREE_TEXT, UNBOUNDED), (PLAIN_TEXT, UNBOUNDED))


class SliceArrays(NamedTuple):
    """One slice; it depends on the vocabulary only and is shared by all stores of a tokenizer.

    most    code points of a token, at most; UNBOUNDED for no bound
    mask    uint8[4 * n_words], bits of its tokens
    n_tokens
    rest    int64[n], trie words of all other tokens
    main    int32[n], the same nodes in the whole trie
    """

    most: int
    mask: npt.NDArray[np.uint8]
    n_tokens: int
    rest: npt.NDArray[np.int64]
    main: npt.NDArray[np.int32]


_made: WeakKeyDictionary[Tokenizer, list[SliceArrays]] = WeakKeyDictionary()


def add_slices(store: Store) -> None:
    """Make the slices of `store`'s tokenizer, if no store of it has, and register them in its table."""
    chars = [utf8_char(store.nodes, members) for members, _ in SLICES]
    slices = _made.get(store.tokenizer)
    if slices is None:
        slices = _made[store.tokenizer] = [
            _make(store, char, most) for char, (_, most) in zip(chars, SLICES, strict=True)
        ]
    store.slice_arrays = slices
    table = np.array(
        [
            (char, most, mask.ctypes.data, n_tokens, rest.ctypes.data, len(rest), main.ctypes.data, 0)
            for char, (most, mask, n_tokens, rest, main) in zip(chars, slices, strict=True)
        ],
        np.int64,
    )
    assert table.shape[1] == slice_choice.SLICE_FIELDS
    store.table.put(store_slots.SLICES, table)
    store.table.array[store_slots.N_SLICES] = len(slices)


def _make(store: Store, char: int, most: int) -> SliceArrays:
    tokenizer = store.tokenizer
    flags = np.zeros(tokenizer.vocab_size, np.int32)
    n_tokens = store.run(engine.FLAG_SLICE, char, most, data=flags)
    inside = np.zeros(store.n_words * 32, bool)
    inside[: tokenizer.vocab_size] = flags
    mask = np.packbits(inside, bitorder="little")
    rest = build_trie(tokenizer.token_offsets, tokenizer.token_data, ~inside[: tokenizer.vocab_size]).node
    main = np.zeros(len(rest), np.int32)
    store.run(engine.MATCH_NODES, rest.ctypes.data, data=main)
    return SliceArrays(most, mask, n_tokens, rest, main)
