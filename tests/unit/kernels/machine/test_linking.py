"""A door's machine code holds its helpers, whose own modules hold one function each; loaded ones do the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = '''
"""Kernels of a test."""
import numpy as np
from llmask.kernels.machine.compiling import door, kernel, make_ready


@kernel
def halved(values, k):
    if values[k] % 2:
        raise ValueError("odd")
    return values[k] // 2


@kernel
def below(values, k):
    return halved(values, k) + (halved(values, 0) if k else 0)


@kernel
def tripled(value):
    return 3 * value


@kernel
def through_another(value):
    return tripled(value)


@kernel
def calls_in_vain(value):
    found = 0
    for k in range(0 * value):
        found += tripled(k)
    return found + through_another(value)


@door("int64(int64)", "test")
def thrice(value):
    return calls_in_vain(value)


@door("int64(int64[:], int64)", "test")
def total(values, n):
    found = 0
    for k in range(n):
        found += below(values, k)
    return found


if __name__ == "__main__":
    make_ready("test")
    print(total(np.array([2, 4, 6]), 3), len(total.stats.cache_hits), thrice(5))
    libraries = [result.library for helper in (halved, below) for result in helper.overloads.values()]
    print([len(list(library.get_defined_functions())) for library in libraries])
    try:
        total(np.array([2, 3, 6]), 3)
    except ValueError as error:
        print(error)
'''


@pytest.mark.long
def test_doors_and_their_errors_compiled_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMASK_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(KERNELS)
    for n_hits, functions in ((0, [1, 1]), (1, [])):  # compiled, then read from the folder
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [f"{1 + 3 + 4} {n_hits} 15", f"{functions}", "odd"]
