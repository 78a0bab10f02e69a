"""Tables from Python: blocks are copied, counted, limited and given back."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

from llmask.kernels.table import Table
from llmask.kernels.tables import memory

SLOT = memory.FIRST_FREE_SLOT


def make_table(max_bytes: int = 10**9) -> Table:
    return Table(SLOT + 3, max_bytes, blocks=(SLOT, SLOT + 1), pools=())


def read_block(table: Table, slot: int, n_bytes: int) -> bytes:
    import ctypes

    return ctypes.string_at(int(table.slots[slot]), n_bytes)


def test_a_block_is_a_copy() -> None:
    table = make_table()
    data = np.arange(1000, dtype=np.int32)
    table.put(SLOT, data)
    expected = data.tobytes()
    data[:] = 0
    assert read_block(table, SLOT, len(expected)) == expected


def test_columns_and_slices_are_copied_in_order() -> None:
    table = make_table()
    data = np.arange(40, dtype=np.int64).reshape(8, 5)[::2, 1]
    table.put(SLOT, data)
    assert read_block(table, SLOT, data.nbytes) == data.tobytes()


def test_bytes_are_counted_with_their_headers() -> None:
    table = make_table()
    assert table.bytes_used == 0
    table.put(SLOT, np.zeros(1000, np.uint8))
    assert table.bytes_used == 1000 + memory.HEADER_BYTES
    table.put(SLOT + 1, np.zeros(1, np.uint8))
    assert table.bytes_used == 1000 + memory.MIN_BLOCK_BYTES + 2 * memory.HEADER_BYTES


def test_a_larger_block_replaces_a_smaller_one() -> None:
    table = make_table()
    table.put(SLOT, np.full(300, 1, np.uint8))
    address = int(table.slots[SLOT])
    table.put(SLOT, np.full(100, 2, np.uint8))
    assert int(table.slots[SLOT]) == address  # it fits
    assert read_block(table, SLOT, 101) == b"\2" * 100 + b"\1"
    table.put(SLOT, np.full(5000, 3, np.uint8))
    assert int(table.slots[SLOT]) != address
    assert read_block(table, SLOT, 5000) == b"\3" * 5000
    assert int(table.slots[memory.BASE.retired]) == address  # a reader may still be looking at it


@pytest.mark.skipif(sys.platform == "win32", reason="there blocks are not mapped")
def test_a_block_that_is_no_small_one_has_room_and_is_charged_by_pages() -> None:
    table = make_table()
    table.put(SLOT, np.full(17_000, 1, np.uint8))
    address, charged = int(table.slots[SLOT]), table.bytes_used
    table.put(SLOT, np.full(50_000, 2, np.uint8))
    assert int(table.slots[SLOT]) == address
    assert table.slots[memory.BASE.retired] == 0
    assert table.bytes_used - charged == (13 - 5) * memory.PAGE_BYTES
    table.put(SLOT, np.full(70_000, 3, np.uint8))
    assert int(table.slots[memory.BASE.retired]) == address
    assert read_block(table, SLOT, 70_000) == b"\3" * 70_000


def test_a_block_that_is_big_at_once_has_room_for_as_much_again() -> None:
    table = make_table()
    table.put(SLOT, np.full(2 * memory.BIG_BLOCK, 1, np.uint8))
    address, charged = int(table.slots[SLOT]), table.bytes_used
    assert charged < 3 * memory.BIG_BLOCK  # what is only reserved does not count
    table.put(SLOT, np.full(8 * memory.BIG_BLOCK, 2, np.uint8))
    assert int(table.slots[SLOT]) == address  # copying it would stop all others
    assert table.bytes_used >= charged + 6 * memory.BIG_BLOCK


def test_a_limit_is_noted_and_the_block_is_whole() -> None:
    table = make_table(max_bytes=1000)
    table.put(SLOT, np.zeros(900, np.uint8))
    assert table.slots[memory.BASE.exceeded] == 0
    table.put(SLOT + 1, np.zeros(900, np.uint8))
    assert table.slots[memory.BASE.exceeded] == memory.LIMIT_BYTES
    assert read_block(table, SLOT + 1, 900) == bytes(900)


def test_memory_is_given_back_with_the_table() -> None:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("resident memory is read from /proc")

    def resident() -> int:
        return int(statm.read_text(encoding="ascii").split()[1]) * 4096

    def work(n_tables: int) -> None:
        for _ in range(n_tables):
            table = make_table()
            table.put(SLOT, np.ones(4_000_000, np.uint8))
            table.put(SLOT, np.ones(8_000_000, np.uint8))

    work(3)
    gc.collect()
    before = resident()
    work(20)
    assert resident() - before < 30_000_000
