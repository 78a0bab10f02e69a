"""Resident memory of this process, and a function run in a process of its own.

In: nothing, or a function of a module's top level. Out: MiB; what the function returned. Cost: a second.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 2**20


def resident_mib() -> float:
    """MiB in memory now; freed memory that the allocator keeps is given back to the system first."""
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)` in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)
