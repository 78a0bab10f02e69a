"""The face of the kernels: the same names, whether doors are prebuilt or compiled."""

from __future__ import annotations

import pytest

from llmask.kernels.machine import jit
from tests.processes import fresh_python

REPORT = """
import sys
from llmask.kernels.machine import jit
missing = [name for name in jit.__all__ if not hasattr(jit, name)]
print(jit.PREBUILT, "numba" in sys.modules, missing)
"""


def run(**variables: str) -> str:
    done = fresh_python("-c", REPORT, **variables)
    assert not done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("variable", ["LLMASK_PREBUILT=0", "LLMASK_CHECK_BOUNDS=1"])
def test_a_variable_asks_for_compiled_kernels(variable: str) -> None:
    name, _, value = variable.partition("=")
    assert run(**{name: value}) == "False True []\n"


@pytest.mark.long
@pytest.mark.skipif(not jit.PREBUILT, reason="no prebuilt kernels fit here")
def test_prebuilt_kernels_need_no_numba() -> None:
    assert run() == "True False []\n"


@pytest.mark.skipif(not jit.PREBUILT, reason="no prebuilt kernels fit here")
def test_a_door_that_the_library_lacks_is_an_error_not_python() -> None:
    def no_such_door() -> int:
        return 1

    with pytest.raises(LookupError, match=r"no door 'no_such_door'; set LLMASK_PREBUILT=0"):
        jit.door("int64()", "engine")(no_such_door)
