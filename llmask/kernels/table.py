"""A table seen from Python: the one array that kernels take, and its memory, freed with its owner.

In: the number of slots and a limit in bytes. Out: `Table.address`. Cost: see memory.py.
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import engine
from .machine.jit import make_ready
from .machine.views import TableView
from .tables import memory


class Table:
    """An `int64[n_slots]` array and the blocks whose addresses it holds.

    Attributes
    ----------
    address : where the array lies, which is as long as the table; what doors take.
    slots : the array as a memoryview, which reads and writes a slot in a third of the time.
    """

    address = 0

    def __init__(self, n_slots: int, max_bytes: int, blocks: tuple[int, ...], pools: tuple[int, ...]) -> None:
        make_ready("engine")
        slots = array("q", bytes(8 * n_slots))  # says where it lies sooner than numpy does
        self.slots = memoryview(slots)
        self.slots[memory.BASE.max_bytes] = max_bytes
        self.slots[memory.BASE.max_work] = 2**62  # of `build` each call sets its own
        self._blocks, self._pools = blocks, pools
        self.address = slots.buffer_info()[0]

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """Give the blocks back; a process that ends gives back its memory by itself."""
        if self.address and not is_finalizing():
            engine.free_table(self.address, _numbers(self._blocks), _numbers(self._pools))

    def put(self, slot: int, data: npt.NDArray[Any]) -> None:
        """Copy an array into the block of `slot`."""
        whole = np.ascontiguousarray(data)
        engine.put_block(self.address, slot, whole.ctypes.data, whole.nbytes)

    def read(self, slot: int, first: int, n: int, dtype: npt.DTypeLike = np.int32) -> npt.NDArray[Any]:
        """Copy `n` items of the block of `slot`, from item `first` on; who asks knows that they are there."""
        size = np.dtype(dtype).itemsize
        return np.frombuffer(ctypes.string_at(self.slots[slot] + first * size, n * size) if n else b"", dtype)

    @cached_property
    def view(self) -> TableView:
        """What lies in the table, by the names of kernels/tables/; it is there as long as the table is."""
        return TableView(self.address)

    @property
    def bytes_used(self) -> int:
        """Memory of the table, in bytes."""
        return self.slots[memory.BASE.bytes_used]


@cache
def _numbers(slots: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Slots as an array, one for all tables of a kind."""
    return np.array(slots, np.int64)
