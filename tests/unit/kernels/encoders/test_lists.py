"""Lists that compiled code fills hold the integers themselves, and every reference is counted."""

from __future__ import annotations

import sys

import numpy as np

from llmask.encoders.tables import IntegerList


def test_a_list_holds_the_integers_and_counts_its_references():
    integers = IntegerList(2000)
    assert integers.listed(np.array([-1, 0, 1999, 1000], np.int32)) == [-1, 0, 1999, 1000]
    assert integers.listed(np.empty(0, np.int32)) == []
    kept = integers._integers[1 + 1234]
    before = sys.getrefcount(kept)
    found = integers.listed(np.full(500, 1234, np.int32))
    assert {id(item) for item in found} == {id(kept)}
    assert sys.getrefcount(kept) == before + 500
    del found
    assert sys.getrefcount(kept) == before
