"""Arithmetic that drops what is beyond 64 bits."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from llmask.kernels.machine.jit import PREBUILT
from llmask.kernels.machine.raw import VECTOR_BYTES, differ_vectors, shift_right, wrapped_product, wrapped_sum
from llmask.kernels.tables.interning import _MULTIPLIER, mix

pytestmark = pytest.mark.skipif(PREBUILT, reason="the kernels are prebuilt; LLMASK_PREBUILT=0 compiles them")

LARGE = 0x2545F4914F6CDD1D


@numba.njit
def of_a_constant(items):
    return mix(LARGE, items[0])


@numba.njit
def operations(left, right):
    return wrapped_product(left, right), wrapped_sum(left, right), shift_right(left, 3)


@numba.njit
def difference(one, other):
    return differ_vectors(one.ctypes.data, other.ctypes.data)


def signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def test_a_hash_is_the_same_whatever_the_compiler_sees() -> None:
    """`mix(constant, uint8)` shifted zeros in: the signs of both factors were seen and taken for its own."""
    for item in range(256):
        product = signed((LARGE ^ item) * _MULTIPLIER)
        assert of_a_constant(np.array([item], np.uint8)) == product ^ (product >> 32)


def test_operations_drop_what_is_beyond_64_bits() -> None:
    for left in (1, -1, LARGE, -LARGE, (1 << 63) - 1):
        for right in (0, 7, -7, LARGE, -(1 << 63)):
            expected = signed(left * right), signed(left + right), (left & (1 << 64) - 1) >> 3
            assert operations(left, right) == expected


def test_vectors_differ_where_any_of_their_words_does() -> None:
    one = np.arange(VECTOR_BYTES // 4, dtype=np.int32)
    assert difference(one, one.copy()) == 0
    for word in range(len(one)):
        for bit in (0, 31):
            other = one.copy()
            other.view(np.uint32)[word] ^= np.uint32(1 << bit)
            assert difference(one, other) != 0
