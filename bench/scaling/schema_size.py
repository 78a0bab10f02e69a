"""Schemas from 10 KB to 4 MB: time to compile, to the first mask, and of masks along a document.

The schemas are drawn (`drawn.py`) in two shapes; every definition can be reached from the root. "tagged": an array of
any of them, each beside its name as tag; "sections": an object with an optional property for each. The document visits
as many definitions as its length allows. llmask begins each schema with a fresh store, so that the patterns and numbers
of another one do not help; they cost about 20 ms once.

In: effort. Out: a table by size. Cost: a minute at effort 1.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bench.scaling.drawn import SchemaMaker, document
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, first_run

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_000_000)
N_DOCUMENT_TOKENS = 20_000
SHAPES = ("tagged", "sections")


def measure(side: Side, schema: dict[str, Any], tokens: list[int]) -> list[Any]:
    """Milliseconds of compile and of compile + first mask; p50, p99, max of TBM in us; or the engine's refusal."""
    try:
        run = first_run(side, schema, tokens)
    except Refused as error:
        return [f"refused: {str(error)[:50]}", None, None, None, None, None]
    tbm = run.times.tbm / 1000
    p50, p99 = np.percentile(tbm, [50, 99])
    percentiles = [float(p50), float(p99), float(tbm.max())]
    return [run.compile_ns / 1e6, run.first_masks_ms(1), *percentiles, float(tbm.sum() / 1000)]


def study(effort: float) -> Result:
    sides: list[Side] = [LlmaskSide(), LlguidanceSide()]
    table = Table(
        "schema of n bytes; ms to compile and to the first mask; TBM in us along a document",
        ["engine, shape", "bytes", "compile ms", "TTFM ms", "p50", "p99", "max", "document ms"],
    )
    plot = Plot("compile", "bytes of the schema", "ms to the first mask", {})
    for shape in SHAPES:
        for size in SIZES:
            if size > SIZES[-1] * effort:
                break
            schema = SchemaMaker(seed=size).schema(size, shape)
            n_bytes = len(json.dumps(schema))
            tokens = document(schema, int(N_DOCUMENT_TOKENS * max(effort, 0.1)))
            for side in sides:
                figures = measure(side, schema, tokens)
                name = f"{side.name}, {shape}"
                table.rows.append([name, n_bytes, *figures])
                if figures[1] is not None:
                    x, y = plot.lines.setdefault(name, ([], []))
                    x.append(float(n_bytes))
                    y.append(figures[1])
    targets = []
    for shape in SHAPES:
        largest = [row for row in table.rows if row[0] == f"llmask, {shape}"][-1]
        targets.append(Target(f"{shape}: first mask of the largest schema, ms", largest[3] or float("inf"), 4000))
    return Result([table], [plot], targets)
