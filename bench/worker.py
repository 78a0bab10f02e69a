"""One engine in one process over a range of MaskBench's rows; one JSON line a schema.

Measured as MaskBench does, with the clock around the engine's calls only:

    TTFM   compile + first mask of the first document; once a schema
    TBM    mask + accept of one token; the first document's first mask is left out, since TTFM has it

The token's bit is looked up between the two calls and not timed. Garbage collection is off while a schema runs, the
mask is preallocated. A document is accepted when each token is in its mask and the engine may end after the last.

In: command line (see `main`). Out: lines appended to a file. Cost: that of the engine.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import time
from pathlib import Path
from typing import Any

from bench.data import Instance, Row, maskbench_rows
from bench.engines import ENGINES, CompileError, Engine
from bench.orders import accepted_in_another_order

clock = time.perf_counter_ns


def run_instance(engine: Engine, sequence: Any, instance: Instance, tbm_ns: list[int], is_first: bool) -> bool:
    """Feed one document and append the time of each token to `tbm_ns`; whether it was accepted."""
    for place, token in enumerate(instance.token_ids):
        before_fill = clock()
        engine.fill(sequence)
        after_fill = clock()
        if not engine.is_allowed(token):
            tbm_ns.append(after_fill - before_fill)
            return False
        before_accept = clock()
        is_accepted = engine.accept(sequence, token)
        elapsed = clock() - before_accept
        if not (is_first and place == 0):
            elapsed += after_fill - before_fill
        tbm_ns.append(elapsed)
        if not is_accepted:
            raise RuntimeError(f"token {token} at {place} is in the mask but was not accepted")
    return engine.is_accepting(sequence)


def run_row(engine: Engine, row: Row) -> dict[str, Any]:
    """Compile a schema, feed its documents, and say what came of it."""
    result: dict[str, Any] = {"id": row.id, "verdict": "passing", "tbm_ns": []}
    started = clock()
    try:
        grammar = engine.compile(row.schema)
    except CompileError as error:
        return {"id": row.id, "verdict": "compile error", "message": str(error)[:500], "ttfm_ns": clock() - started}
    sequence = engine.start(grammar)
    engine.fill(sequence)
    result["ttfm_ns"] = clock() - started
    wrong = {"invalid accepted": 0, "valid rejected": 0, "order only": 0}
    for number, instance in enumerate(row.instances):
        if number:
            sequence = engine.start(grammar)
        is_accepted = run_instance(engine, sequence, instance, result["tbm_ns"], is_first=number == 0)
        if is_accepted and not instance.is_valid:
            wrong["invalid accepted"] += 1
        elif instance.is_valid and not is_accepted:
            excused = accepted_in_another_order(engine, engine.start(grammar), instance.data)
            wrong["order only" if excused else "valid rejected"] += 1
    for verdict, count in wrong.items():  # worst first
        if count:
            result["verdict"] = verdict
            break
    result["wrong"] = wrong
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=sorted(ENGINES), required=True)
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--numbers", type=Path, required=True, help="JSON list: numbers of the rows, in order")
    parser.add_argument("--first", type=int, default=0, help="place in that list to begin at")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines are appended")
    options = parser.parse_args()

    rows = maskbench_rows(options.whitespace)
    engine = ENGINES[options.engine](options.whitespace)
    gc.collect()
    gc.freeze()
    with options.output.open("a") as lines:
        for number in json.loads(options.numbers.read_text())[options.first :]:
            gc.disable()
            try:
                result = run_row(engine, rows[number])
            except Exception as error:  # an engine's own failure is a result too
                result = {
                    "id": rows[number].id,
                    "verdict": "crash",
                    "message": f"{type(error).__name__}: {error}"[:500],
                }
            gc.enable()
            result["max_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            lines.write(json.dumps(result) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
