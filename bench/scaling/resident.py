"""Resident memory of this process.

In: nothing. Out: MiB. Cost: a second, for collecting garbage.
"""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

MIB = 2**20


def resident_mib() -> float:
    """MiB in memory now; freed memory that the allocator keeps is given back to the system first."""
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB
