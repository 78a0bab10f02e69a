"""Forks and rollbacks of a sequence of 100 to 200,000 tokens; llguidance's counterpart of a fork is `deep_copy`.

Lengths around 1,024 are there because llmask's history is cut into chunks of that many (llmask/matching/history.py).
After each rollback the tokens are accepted again, outside the clock.

In: effort. Out: a table by length. Cost: twenty seconds.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.scaling.corpus import llama3_encoder
from bench.scaling.output_length import N_TOKENS, RECORDS, records_text
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Side, clock

LENGTHS = (100, 1_000, 1_023, 1_024, 1_030, 10_000, 100_000, 199_990)
BACK = (1, 10, 50)
REPEAT = 300


def median_us(call: Callable[[], object], repair: Callable[[], object] = lambda: None) -> float:
    """Median microseconds of `call`; `repair` runs after each, outside the clock."""
    times = []
    for _ in range(REPEAT):
        started = clock()
        call()
        times.append(clock() - started)
        repair()
    return float(np.median(times)) / 1000


def measure(side: Side, sequence: Any, tokens: list[int]) -> list[float]:
    """Microseconds of a fork, and of rollbacks of `BACK` tokens, of a sequence that took `tokens`."""
    figures = [median_us(lambda: side.fork(sequence))]
    for n in BACK:
        last = tokens[-n:]

        def accept_again(last: list[int] = last) -> None:
            for token in last:
                side.accept(sequence, token)

        figures.append(median_us(lambda n=n: side.rollback(sequence, n), accept_again))  # type: ignore[misc]
    return figures


def study(effort: float) -> Result:
    tokens = llama3_encoder()(records_text(int(N_TOKENS * effort) // 40))
    columns = ["engine", "tokens", "fork", *(f"rollback({n})" for n in BACK)]
    result = Result([Table("fork, rollback: us, median", columns)], [Plot("fork", "tokens so far", "us a fork", {})])
    table, plot = result.tables[0], result.plots[0]
    for side in (LlmaskSide(), LlguidanceSide()):
        sequence, n_done = side.start(side.compile(RECORDS)), 0
        for length in LENGTHS:
            if length > len(tokens):
                break
            for token in tokens[n_done:length]:
                side.accept(sequence, token)
            n_done = length
            gc.disable()
            figures = measure(side, sequence, tokens[:length])
            gc.enable()
            table.rows.append([side.name, length, *figures])
            x, y = plot.lines.setdefault(side.name, ([], []))
            x.append(float(length))
            y.append(figures[0])
    ours = [row for row in table.rows if row[0] == "llmask"]
    bounds = {2: 10.0, 3: 2.0, 4: 2.0}  # column -> us
    result.targets = [
        Target(f"slowest {columns[i]}, us", max(row[i] for row in ours), bound) for i, bound in bounds.items()
    ]
    return result
