"""One engine in one process over a range of rows; one JSON line a schema.

Measured as MaskBench does, with the clock around the engine's calls only:

    TTFM   compile + first mask of the first document; once a schema
    ahead  documents read between these two; 0 for most engines
    TBM    mask + accept of one token; of the first document's first token accept alone, since TTFM has its mask

The token's bit is looked up between the two calls and not timed. Garbage collection is off while a schema runs, the
mask is preallocated. A document is accepted when each token is in its mask and the engine may end after the last.
The times of each document stand in a list of their own, so that runs can be compared position by position.

An engine that keeps what earlier schemas built would build nearly everything while the few own cases run, which is not
how it is used: it runs them once before. Of MaskBench's thousands the first ones pay, inside the clock.

In: command line (see `main`). Out: lines appended to a file. Cost: that of the engine.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import resource
import time
from pathlib import Path
from typing import Any

from bench.data import CORPORA, Instance, Row
from bench.engines import ADAPTERS, CompileError, Engine, adapter
from bench.expected import rows_of, verify
from bench.orders import accepted_in_another_order
from bench.vocabularies import SOURCES

clock = time.perf_counter_ns


def run_instance(engine: Engine, sequence: Any, instance: Instance, is_first: bool) -> tuple[bool, list[int]]:
    """Feed one document: whether it was accepted, and the nanoseconds of each token."""
    tbm_ns: list[int] = []
    for place, token in enumerate(instance.token_ids):
        before_fill = clock()
        engine.fill(sequence)
        after_fill = clock()
        if not engine.is_allowed(token):
            if not (is_first and place == 0):
                tbm_ns.append(after_fill - before_fill)
            return False, tbm_ns
        before_accept = clock()
        is_accepted = engine.accept(sequence, token)
        elapsed = clock() - before_accept
        if not (is_first and place == 0):
            elapsed += after_fill - before_fill
        tbm_ns.append(elapsed)
        if not is_accepted:
            raise RuntimeError(f"token {token} at {place} is in the mask but was not accepted")
    return engine.is_accepting(sequence), tbm_ns


def run_row(engine: Engine, row: Row) -> dict[str, Any]:
    """Compile a schema, feed its documents, and say what came of it."""
    result: dict[str, Any] = {"id": row.id, "verdict": "passing", "tbm_ns": []}
    started = clock()
    try:
        grammar = engine.compile(row.schema, row.kind)
    except CompileError as error:
        return {"id": row.id, "verdict": "compile error", "message": str(error)[:500], "ttfm_ns": clock() - started}
    sequence = engine.start(grammar)
    engine.fill(sequence)
    result["ttfm_ns"] = clock() - started
    started = clock()
    engine.read_documents(grammar)
    result["ahead_ns"] = clock() - started
    wrong = {"invalid accepted": 0, "valid rejected": 0, "order only": 0}
    for number, instance in enumerate(row.instances):
        if number:
            sequence = engine.start(grammar)
        is_accepted, tbm_ns = run_instance(engine, sequence, instance, is_first=number == 0)
        result["tbm_ns"].append(tbm_ns)
        if is_accepted and not instance.is_valid:
            wrong["invalid accepted"] += 1
        elif instance.is_valid and not is_accepted:
            excused = row.kind == "schema" and accepted_in_another_order(engine, engine.start(grammar), instance.data)
            wrong["order only" if excused else "valid rejected"] += 1
    for verdict, count in wrong.items():  # worst first
        if count:
            result["verdict"] = verdict
            break
    result["wrong"] = wrong
    return result


def warm_store(engine: Engine, rows: list[Row]) -> None:
    """Run all rows; what fails will fail again, where it counts."""
    for row in rows:
        with contextlib.suppress(Exception):
            run_row(engine, row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=list(ADAPTERS), required=True)
    parser.add_argument("--task", choices=("measure", "verify"), default="measure")
    parser.add_argument("--corpus", choices=CORPORA, default="maskbench")
    parser.add_argument("--vocabulary", choices=list(SOURCES), default="llama3")
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--numbers", type=Path, required=True, help="JSON list: numbers of the rows, in order")
    parser.add_argument("--first", type=int, default=0, help="place in that list to begin at")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines are appended")
    options = parser.parse_args()

    rows = rows_of(options.task, options.corpus, options.whitespace, options.vocabulary)
    engine_type = adapter(options.engine)
    if engine_type.memory_gb is not None:
        n_bytes = int(engine_type.memory_gb * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    engine = engine_type(options.whitespace, options.vocabulary)
    numbers = json.loads(options.numbers.read_text())[options.first :]
    if options.corpus == "own" and options.task == "measure" and engine.keeps_store:
        warm_store(engine, [rows[number] for number in numbers])
    gc.collect()
    gc.freeze()
    with options.output.open("a") as lines:
        for number in numbers:
            row = rows[number]
            gc.disable()
            try:
                result = verify(engine, row) if options.task == "verify" else run_row(engine, row)
            except Exception as error:  # an engine's own failure is a result too
                result = {"id": row.id, "verdict": "crash", "message": f"{type(error).__name__}: {error}"[:500]}
            gc.enable()
            result["max_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            lines.write(json.dumps(result) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
