"""Arguments: what is taken as an integer, as a collection of ids and as a bitmask. Messages: see test_errors.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llmask.arguments import as_bitmask, as_integer, each_of
from llmask.errors import LlmaskError


class Index:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize("value", [7, np.int64(7), np.uint8(7), Index()])
def test_integers_of_any_kind(value: Any) -> None:
    assert as_integer(value, "a row") == 7
    assert type(as_integer(value, "a row")) is int


@pytest.mark.parametrize("value", [True, np.True_, 7.0, "7", None, [7]])
def test_other_things_are_no_integers(value: Any) -> None:
    with pytest.raises(LlmaskError, match="a row is an integer"):
        as_integer(value, "a row")


def test_collections_of_ids() -> None:
    assert list(each_of(iter((1, 2)))) == [1, 2]
    with pytest.raises(LlmaskError, match="token ids are a sequence"):
        each_of(3)  # type: ignore[arg-type]


def test_bitmasks_are_not_copied() -> None:
    array = np.zeros((2, 3), np.int32)
    assert as_bitmask(array) is array


@pytest.mark.parametrize(
    "array",
    [np.zeros(3, np.int32), np.zeros((2, 3)), np.zeros((2, 6), np.int32)[:, ::2], np.zeros((3, 2), np.int32).T, [[0]]],
)
def test_other_arrays_are_refused(array: Any) -> None:
    with pytest.raises(LlmaskError, match="a bitmask is a writable, contiguous int32 array"):
        as_bitmask(array)
