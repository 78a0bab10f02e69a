"""MaskBench's shared part for llmask and its peers: `python -m bench.maskbench`.

Starts one worker process an engine (bench/worker.py), one after the other, over the same schemas in the same order. A
worker that crashes, or shows nothing for `--timeout` seconds, loses that schema and a fresh one goes on with the next.

In: command line. Out: a table, and with `--output` all results as JSON. Cost: about two minutes an engine.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.data import ROOT, maskbench_rows
from bench.engines import ENGINES
from bench.report import summarize, table


def run_engine(engine: str, numbers: list[int], whitespace: str, timeout_s: float) -> list[dict[str, Any]]:
    """All results of one engine, in the order of `numbers`."""
    rows = maskbench_rows(whitespace)
    with tempfile.TemporaryDirectory() as folder:
        numbers_file, output = Path(folder, "numbers.json"), Path(folder, "results.jsonl")
        numbers_file.write_text(json.dumps(numbers))
        output.touch()
        while (n_done := _n_lines(output)) < len(numbers):
            command = [sys.executable, "-m", "bench.worker", "--engine", engine, "--whitespace", whitespace]
            command += ["--numbers", str(numbers_file), "--first", str(n_done), "--output", str(output)]
            worker = subprocess.Popen(command, cwd=ROOT)
            verdict = _watch(worker, output, timeout_s, engine, len(numbers))
            if verdict is not None and (n_now := _n_lines(output)) < len(numbers):
                if n_now == n_done and verdict == "crash":
                    _stop_if_broken(engine, worker.returncode, n_done)
                with output.open("a") as lines:
                    lines.write(json.dumps({"id": rows[numbers[n_now]].id, "verdict": verdict}) + "\n")
        sys.stderr.write("\n")
        return [json.loads(line) for line in output.read_text().splitlines()]


def _n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _stop_if_broken(engine: str, code: int, n_done: int) -> None:
    if n_done == 0:
        raise SystemExit(f"{engine}: the worker ended with code {code} before its first result")


def _watch(worker: subprocess.Popen[bytes], output: Path, timeout_s: float, engine: str, n_all: int) -> str | None:
    """Wait for the worker; None when it ended by itself and well, else the verdict on the schema it was at."""
    size, since = -1, time.monotonic()
    allowance = timeout_s + 120  # the first result waits for the tokenizer and for kernels to compile
    while True:
        try:
            code = worker.wait(timeout=1)
        except subprocess.TimeoutExpired:
            now_size = output.stat().st_size
            if now_size != size:
                allowance = timeout_s if size >= 0 and now_size > size else allowance
                size, since = now_size, time.monotonic()
                sys.stderr.write(f"\r{engine}: {_n_lines(output)}/{n_all} schemas")
            elif time.monotonic() - since > allowance:
                worker.kill()
                worker.wait()
                return "timeout"
            continue
        return None if code == 0 else "crash"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="llmask,llguidance", help="comma-separated: " + ", ".join(ENGINES))
    parser.add_argument("--limit", type=int, help="only so many schemas, drawn with a fixed seed, in the file's order")
    parser.add_argument("--match", default="", help="only schemas whose id contains this")
    parser.add_argument("--repeat", type=int, default=1, help="runs an engine; the one with the median TBM is shown")
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a schema may take")
    parser.add_argument("--output", type=Path, help="write figures and results of every run as JSON")
    options = parser.parse_args()

    engines = options.engines.split(",")
    rows = maskbench_rows(options.whitespace)
    numbers = [number for number, row in enumerate(rows) if options.match in row.id]
    if options.limit is not None and options.limit < len(numbers):
        numbers = sorted(random.Random(1).sample(numbers, options.limit))

    runs: dict[str, list[list[dict[str, Any]]]] = {engine: [] for engine in engines}
    for _ in range(options.repeat):
        for engine in engines:
            runs[engine].append(run_engine(engine, numbers, options.whitespace, options.timeout))

    common = set.intersection(
        *({result["id"] for result in run if "tbm_ns" in result} for results in runs.values() for run in results)
    )
    chosen = {engine: _median_run(results, common) for engine, results in runs.items()}
    figures = {engine: summarize(run, common) for engine, run in chosen.items()}
    versions = {engine: ENGINES[engine].package_version() for engine in engines}
    print(f"{', '.join(f'{name} {number}' for name, number in versions.items())}; Python {platform.python_version()}")
    print(f"whitespace {options.whitespace}; times over the {len(common)} schemas that all engines compiled")
    print(table(figures))
    if options.output:
        content = {"versions": versions, "options": {key: str(value) for key, value in vars(options).items()}}
        options.output.write_text(json.dumps(content | {"figures": figures, "runs": runs}))


def _median_run(results: list[list[dict[str, Any]]], common: set[str]) -> list[dict[str, Any]]:
    ordered = sorted(results, key=lambda run: summarize(run, common)["TBM us"].get("avg", 0.0))
    return ordered[len(ordered) // 2]


if __name__ == "__main__":
    main()
