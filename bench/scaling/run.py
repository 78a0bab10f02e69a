"""The list of studies, and one of them run in the process that calls.

In: a study's name. Out: its tables on the terminal; JSON and plots in a folder. Cost: that of the study.
"""

from __future__ import annotations

import gc
import importlib
import time
from pathlib import Path

STUDIES = {
    "vocabulary": "tokens of the vocabulary",
    "batch": "sequences filled together, threads",
}


def run_study(name: str, effort: float, output: Path | None) -> None:
    """Run one study, print and write what it found."""
    module = importlib.import_module("bench.scaling." + name.replace("-", "_"))
    gc.collect()
    gc.freeze()
    started = time.monotonic()
    result = module.study(effort)
    print(f"== {name}: {STUDIES[name]} ({time.monotonic() - started:.0f} s)")
    print(result.text(), flush=True)
    if output is not None:
        result.write(output, name)
