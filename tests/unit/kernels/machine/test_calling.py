"""Memory that is missing where a kernel asks for it: the status of its call comes through all calls above it."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource, llmask
compiler = llmask.Compiler(llmask.Tokenizer.default())
grammar = compiler.json_schema({"properties": {f"{n}_a": {"pattern": f"^{n}[a-z]{{1,{n + 2}}}$"} for n in range(180)}})
limits, pages = resource.getrlimit(resource.RLIMIT_AS), int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000, limits[1]))
try:
    for number in range(9):
        compiler.json_schema({"properties": {f"{n}_{number}": {"pattern": f"^{n}b{{1,{n}}}$"} for n in range(1, 180)}})
except MemoryError:
    resource.setrlimit(resource.RLIMIT_AS, limits)
    print("goes on", grammar.accepts('{"7_a":"7abcdefghi"}'))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the size of a process from Linux's /proc")
def test_missing_memory_is_a_memory_error_and_all_goes_on_after_it() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=300)
    assert done.stdout == "goes on True\n", done.stderr
