"""Addresses are those of the contents, lists of ids are plain, and a double array holds the tokens."""

from __future__ import annotations

import ctypes

import numpy as np

from llmask.encoders.tables import SHORT_LIST, EncoderTable, address_of, build_double_array, double_array
from llmask.kernels.encoders import double_array as layout
from llmask.kernels.encoders.encoder_slots import MAX_PATTERNS, N_ENCODER_SLOTS, EncoderSlot
from llmask.trie.layout import build_trie
from llmask.vocabulary.strings import make_table


def test_the_address_is_that_of_the_contents():
    data = bytes(range(256))
    assert ctypes.string_at(address_of(data), len(data)) == data


def test_ids_become_plain_integers():
    table = EncoderTable(None)
    table.put(EncoderSlot.OFFSETS, np.zeros(5001, np.int32))
    for n_ids in (0, 1, SHORT_LIST, SHORT_LIST + 1, 5000):
        ids = np.arange(n_ids, dtype=np.int32)[::-1].copy()
        assert table.listed(ids) == list(range(n_ids))[::-1]
        assert all(type(token) is int for token in table.listed(ids))


def test_slots_do_not_overlap():
    assert len(set(map(int, EncoderSlot))) == len(EncoderSlot.__members__)  # no two names of one slot
    assert EncoderSlot.OFFSETS == EncoderSlot.TRANSITIONS + MAX_PATTERNS
    assert max(EncoderSlot) < N_ENCODER_SLOTS


def test_the_double_array_holds_the_tokens(rng):
    tokens = sorted({bytes(rng.choices(b"abc\x00\xff", k=rng.randint(1, 6))) for _ in range(300)})
    table = make_table(tokens)
    entries = double_array(build_trie(table.offsets, table.data))
    for token, data in enumerate(tokens):
        base, found = layout.ROOT_BASE, -1
        for byte in data:
            entry = int(entries[base + byte])
            assert entry & layout.LABEL_MASK == byte + 1
            base, found = entry >> layout.BASE_SHIFT, (entry >> layout.ENDING_SHIFT & layout.ENDING_MASK) - 1
        assert found == token
    n_nodes = build_trie(table.offsets, table.data).n_nodes
    assert np.count_nonzero(entries) == n_nodes - 1


def test_of_equal_strings_the_last_counts() -> None:
    strings = make_table([b"a", b"b", b"a", b"", b"a", b"b", b"c"])
    endings = build_double_array(strings)[layout.ROOT_BASE :] >> layout.ENDING_SHIFT & layout.ENDING_MASK
    assert sorted(endings[endings > 0].tolist()) == [4 + 1, 5 + 1, 6 + 1]
