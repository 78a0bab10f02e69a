"""Hostile schemas: `python -m tests.long hostile`.

Each schema is compiled in a process forked from one that has the kernels and the tokenizer loaded, with 1 GiB of
address space more than it starts with and 5 seconds of processor time, more where the machine is slow: compiling ends
by counted work, which takes longer there. It has to end with a grammar, whose first mask and some steps then count into
the same limits, or with an error that says what and where: a JSON pointer, or the name of a limit. A schema given as
text that is not read at all has no places.

In: `hostile_schemas.py`. Out: a table, 1 when a schema hangs, crashes or exceeds the memory. Cost: half a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from timeit import timeit
from typing import Any, NamedTuple

import llmask
from bench import tables
from tests.long.hostile_schemas import AS_TEXT, HOSTILE
from tests.long.subject import Subject
from tests.long.walks import FIRST_BYTE, Walker
from tests.long.workers import Worker, address_space, limit_memory

CPU_SECONDS = 5.0  # of a machine that adds a million numbers in `ADDING_SECONDS`
ADDING_SECONDS = 0.015
WALL_FACTOR = 8  # the machine may be busy: processor time is what counts, this only ends what sleeps
EXTRA_BYTES = 2**30
STEPS = 30
BUILD = HOSTILE | AS_TEXT
BAD, NO_PLACE = "BAD", " (no place)"


class Outcome(NamedTuple):
    """How one schema ended.

    kind     "grammar", the name of llmask's error, or "timeout", "crash", "memory", "other error"
    verdict  "", BAD, or "no place" for an error without one
    """

    name: str
    kind: str
    verdict: str
    cpu_ms: float
    peak_mb: float
    message: str


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Spent(Exception):
    """The processor time is spent, and Python noticed."""


def make_handler(subject: Subject, walker: Walker) -> Callable[[str], Any]:
    """Compiles one schema by name and takes some steps; for a forked worker."""
    sys.setrecursionlimit(1000)  # Python's own; others may have raised it here

    def spent(_signal: int, _frame: Any) -> None:
        raise _Spent

    def handler(name: str) -> tuple[str, float, float, str]:
        schema = BUILD[name]()
        limit_memory(address_space() + EXTRA_BYTES)
        before = _peak_mb()
        signal.signal(signal.SIGPROF, spent)
        seconds = CPU_SECONDS * max(1.0, timeit("n += 1", "n = 0", timer=time.process_time) / ADDING_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        started = time.process_time()
        kind, message = timeout = "timeout", f"more than {seconds:g} s of processor time"
        try:
            kind, message = _tried(subject, walker, schema)
        except _Spent:
            pass  # it is a timeout, as it was taken to be
        except MemoryError:
            kind, message = "memory", f"more than {EXTRA_BYTES >> 20} MiB of address space"
        except Exception as error:
            kind, message = "other error", f"{type(error).__name__}: {error}"[:300]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - started
        kind, message = timeout if took > seconds else (kind, message)
        return kind, took, max(0.0, _peak_mb() - before), message

    return handler


def _tried(subject: Subject, walker: Walker, schema: Any) -> tuple[str, str]:
    """A grammar with steps taken, or llmask's own error."""
    rng = random.Random(1)
    try:
        grammar = subject.compiler.json_schema(schema, **subject.options)
        matcher = grammar.matcher()
        for _ in range(STEPS):
            token = walker.chosen(walker.allowed(matcher), FIRST_BYTE, rng)
            matcher.accept_token(token)
            if matcher.is_terminated():
                break
    except llmask.LlmaskError as error:
        return type(error).__name__, str(error).replace("\n", " ")[:400] + ("" if error.where else NO_PLACE)
    return "grammar", ""


ALLOWED = ("grammar", "LimitExceeded", "UnsatisfiableSchema", "UnsupportedSchema", "GrammarError")


def tried(name: str, subject: Subject, walker: Walker) -> Outcome:
    """One schema in a process of its own."""
    worker = Worker(make_handler, (subject, walker), method="fork")
    try:
        reply = worker.ask(name, CPU_SECONDS * WALL_FACTOR)
    finally:
        worker.close()
    if reply.kind != "done":
        return Outcome(name, reply.kind, BAD, 1000 * reply.seconds, 0.0, str(reply.value))
    kind, cpu_s, peak_mb, message = reply.value
    verdict = "" if kind in ALLOWED else BAD
    if not verdict and NO_PLACE in message and "limits." not in message and name not in AS_TEXT:
        verdict = "no place"
    return Outcome(name, kind, verdict, 1000 * cpu_s, peak_mb, message)


def run(names: list[str]) -> list[Outcome]:
    """Every schema; the process that calls is forked, so it should have no threads."""
    llmask.warm()
    subject = Subject()
    walker = Walker(subject.tokenizer)
    found = []
    for name in names:
        tables.progress(f"{len(found)} of {len(names)}: {name}")
        found.append(tried(name, subject, walker))
    tables.progress("")
    return found


def text_of(outcomes: list[Outcome]) -> str:
    """A table, then the messages."""
    rows = [
        [outcome.name, outcome.kind, outcome.verdict, f"{outcome.cpu_ms:,.0f}", f"{outcome.peak_mb:,.0f}"]
        for outcome in outcomes
    ]
    lines = [tables.markdown(("schema", "ends with", "", "CPU ms", "peak MB more"), rows), ""]
    lines += [f"{outcome.name}: {outcome.kind}: {outcome.message[:220]}" for outcome in outcomes if outcome.message]
    counts = Counter(outcome.verdict for outcome in outcomes)
    summary = (
        f"{len(outcomes)} schemas, {counts[BAD]} end badly, {counts['no place']} with an error that names no place"
    )
    return "\n".join([*lines, summary])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--match", default="", help="only schemas whose name contains this")
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for hostile.json and .md")


def main(options: argparse.Namespace) -> int:
    """Run and print; 1 when a schema ends badly."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    outcomes = run([name for name in BUILD if options.match in name])
    text = text_of(outcomes)
    print(text)
    path = tables.write_json(options.output, "hostile.json", [outcome._asdict() for outcome in outcomes])
    path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    return int(any(outcome.verdict for outcome in outcomes))
