"""`llmask warm-up`: compile the kernels ahead of time, so that the first grammar does not wait for them.

In: nothing. Out: filled kernel cache, progress on standard error. Cost: one to two minutes the first time; nothing
where the package brings compiled kernels.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "warm-up",
        help="compile the kernels ahead of time",
        description="Compile the kernels and keep them in the cache folder (LLMASK_CACHE_DIR names another one).",
        epilog="example: llmask warm-up",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile every kernel."""
    import llmask

    started = time.monotonic()
    source = llmask.warm()
    sys.stderr.write(f"llmask: all kernels are ready: {source} ({time.monotonic() - started:.1f} s)\n")
    return 0
