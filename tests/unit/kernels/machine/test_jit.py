"""The face of the kernels: the same names, whether doors are prebuilt or compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmask.kernels.machine import jit

REPORT = """
import sys
from llmask.kernels.machine import jit
missing = [name for name in jit.__all__ if not hasattr(jit, name)]
print(jit.PREBUILT, "numba" in sys.modules, missing)
"""


def run(code: str, root: Path, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, cwd=root, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("variable", ["LLMASK_PREBUILT=0", "LLMASK_CHECK_BOUNDS=1"])
def test_a_variable_asks_for_compiled_kernels(variable: str, project_root: Path) -> None:
    name, _, value = variable.partition("=")
    assert run(REPORT, project_root, **{name: value}) == "False True []\n"


@pytest.mark.long
@pytest.mark.skipif(not jit.PREBUILT, reason="no prebuilt kernels fit here")
def test_prebuilt_kernels_need_no_numba(project_root: Path) -> None:
    assert run(REPORT, project_root) == "True False []\n"


@pytest.mark.skipif(not jit.PREBUILT, reason="no prebuilt kernels fit here")
def test_a_door_that_the_library_lacks_is_an_error_not_python() -> None:
    def no_such_door() -> int:
        return 1

    with pytest.raises(LookupError, match=r"no door 'no_such_door'; set LLMASK_PREBUILT=0"):
        jit.door("int64()", "engine")(no_such_door)
