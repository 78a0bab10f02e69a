"""Worker processes: one engine over many schemas, started again after a crash or a schema that takes too long.

A worker (`bench/worker.py`) writes a line a schema. One that crashes, or shows nothing for the job's time limit, loses
that schema, and a fresh one goes on with the next.

In: `Job`, numbers of rows. Out: the workers' lines. Cost: that of the engine, and a second a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.expected import rows_of
from bench.vocabularies import ROOT
from llmask.errors import LlmaskError

STARTING_SECONDS = 120  # the first result waits for the tokenizer and for kernels to compile
POLL_SECONDS = 0.2


class Job(NamedTuple):
    """What a worker is to do: `task` is "measure" or "verify"; the rest names the rows and how long one may take."""

    task: str
    corpus: str
    vocabulary: str
    whitespace: str
    timeout_s: float


def run_engine(
    job: Job, engine: str, numbers: list[int], output: Path, report: Callable[[str], None]
) -> list[dict[str, Any]]:
    """All results of one engine, in the order of `numbers`; `output` gets them as they come.

    Parameters
    ----------
    numbers : places in the corpus, or in the list of rows that have digests.
    output : JSON lines; the file is made new.
    report : called with "n of m schemas" while the worker runs.
    """
    output.write_bytes(b"")
    log = output.with_suffix(".log")
    with TemporaryDirectory() as folder, log.open("wb") as messages:
        numbers_file = Path(folder, "numbers.json")
        numbers_file.write_text(json.dumps(numbers))
        while (n_done := _n_lines(output)) < len(numbers):
            command = [sys.executable, "-m", "bench.worker", "--engine", engine, "--task", job.task]
            command += ["--corpus", job.corpus, "--vocabulary", job.vocabulary, "--whitespace", job.whitespace]
            command += ["--numbers", str(numbers_file), "--first", str(n_done), "--output", str(output)]
            worker = subprocess.Popen(command, cwd=ROOT, stdout=messages, stderr=messages)
            try:
                verdict = _watch(worker, output, job.timeout_s, lambda n: report(f"{n} of {len(numbers)} schemas"))
            finally:
                worker.kill()  # without effect on one that has ended; an interrupted measurement leaves none behind
                worker.wait()
            n_now = _n_lines(output)
            if verdict is not None and n_now < len(numbers):
                if n_now == 0 and worker.returncode > 0:  # it could not start; a signal is the schema's doing
                    raise LlmaskError(f"{engine} could not be started: {_last_line(log)}", where=str(log))
                with output.open("a") as lines:
                    row_id = _id_of(job, numbers[n_now])
                    lines.write(json.dumps({"id": row_id, "verdict": verdict, "exit code": worker.returncode}) + "\n")
    log.unlink()
    return [json.loads(line) for line in output.read_text().splitlines()]


def _last_line(log: Path) -> str:
    return (log.read_text(errors="replace").strip().splitlines() or ["it wrote nothing"])[-1]


def _id_of(job: Job, number: int) -> str:
    return str(rows_of(job.task, job.corpus, job.whitespace, job.vocabulary)[number].id)


def _n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _watch(
    worker: subprocess.Popen[bytes], output: Path, timeout_s: float, report: Callable[[int], None]
) -> str | None:
    """Wait for the worker; None when it ended by itself and well, else the verdict on the schema it was at."""
    size, since = output.stat().st_size, time.monotonic()
    allowance = timeout_s + STARTING_SECONDS
    report(_n_lines(output))
    while True:
        try:
            code = worker.wait(timeout=POLL_SECONDS)
        except subprocess.TimeoutExpired:
            now_size = output.stat().st_size
            if now_size > size:
                size, since, allowance = now_size, time.monotonic(), timeout_s
                report(_n_lines(output))
            elif time.monotonic() - since > allowance:
                return "timeout"
            continue
        return None if code == 0 else "crash"
