"""Addresses are those of the contents, and lists of ids are plain."""

from __future__ import annotations

import ctypes

import numpy as np

from llmask.encoders.tables import SHORT_LIST, EncoderTable, address_of
from llmask.kernels import encoder_slots


def test_the_address_is_that_of_the_contents():
    data = bytes(range(256))
    assert ctypes.string_at(address_of(data), len(data)) == data


def test_ids_become_plain_integers():
    table = EncoderTable(None)
    table.put(encoder_slots.OFFSETS, np.zeros(5001, np.int32))
    for n_ids in (0, 1, SHORT_LIST, SHORT_LIST + 1, 5000):
        ids = np.arange(n_ids, dtype=np.int32)[::-1].copy()
        assert table.listed(ids) == list(range(n_ids))[::-1]
        assert all(type(token) is int for token in table.listed(ids))


def test_slots_do_not_overlap():
    names = [name for name in vars(encoder_slots) if name.isupper() and name not in ("MAX_PATTERNS", "N_SLOTS")]
    numbers = sorted(getattr(encoder_slots, name) for name in names)
    assert len(set(numbers)) == len(numbers)
    assert encoder_slots.OFFSETS == encoder_slots.TRANSITIONS + encoder_slots.MAX_PATTERNS
    assert numbers[-1] < encoder_slots.N_SLOTS
