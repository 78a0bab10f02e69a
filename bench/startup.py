"""From nothing to the first mask: `python -m bench.startup`.

Every figure is taken in fresh processes, the median of `--repeat`. The cache of compiled kernels is filled first, so
that compiling them (once a machine and version) is in no figure; `--cold` measures that too, in an empty folder.

    import      `import llmask` alone, NumPy already imported
    first mask  from the start of the process to the first mask of a JSON schema on a 128k vocabulary read from GGUF

In: command line. Out: a table. Cost: some seconds; with `--cold` the time of compiling all kernels.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from bench.data import LLAMA3_VOCABULARY
from bench.vocabularies import ROOT

IMPORT = """
import time
import numpy
started = time.perf_counter()
import llmask
print(time.perf_counter() - started)
"""

FIRST_MASK = f"""
import time
marks = [("python", time.perf_counter())]
import llmask
marks.append(("import", time.perf_counter()))
tokenizer = llmask.Tokenizer.from_gguf({str(LLAMA3_VOCABULARY)!r})
marks.append(("tokenizer", time.perf_counter()))
compiler = llmask.Compiler(tokenizer)
marks.append(("compiler", time.perf_counter()))
schema = {{"type": "object", "properties": {{"name": {{"type": "string"}}}}, "required": ["name"]}}
matcher = compiler.json_schema(schema).matcher()
marks.append(("schema", time.perf_counter()))
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
matcher.fill_bitmask(mask)
marks.append(("mask", time.perf_counter()))
for (_, before), (name, after) in zip(marks, marks[1:]):
    print(name, after - before)
"""


def run(code: str, **variables: str) -> tuple[float, str]:
    """Seconds from start to end of a fresh process, and what it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--cold", action="store_true", help="also compile all kernels into an empty cache")
    options = parser.parse_args()

    if options.cold:
        with tempfile.TemporaryDirectory() as folder:
            seconds, _ = run(FIRST_MASK, LLMASK_CACHE_DIR=folder)
            print(f"{'first mask, empty kernel cache':<34}{seconds:8.2f} s")
    run(FIRST_MASK)
    imports = [float(run(IMPORT)[1]) for _ in range(options.repeat)]
    print(f"{'import llmask':<34}{statistics.median(imports):8.3f} s")
    whole, parts = [], {}
    for _ in range(options.repeat):
        seconds, text = run(FIRST_MASK)
        whole.append(seconds)
        for line in text.splitlines():
            name, value = line.split()
            parts.setdefault(name, []).append(float(value))
    print(f"{'process start to first mask':<34}{statistics.median(whole):8.3f} s")
    for name, values in parts.items():
        print(f"{'  of which ' + name:<34}{statistics.median(values):8.3f} s")


if __name__ == "__main__":
    main()
