"""From the workers' lines to figures and a table in MaskBench's words.

Every engine runs several times. For each schema, and for each document and position, the smallest time of its runs
counts: what other processes add to a step is never negative, and no step is faster than the engine. Percentiles are of
those minima.

In: lines of all runs of each engine. Out: dictionaries of figures; text. Cost: a sort.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

VERDICTS = ("passing", "compile error", "order only", "valid rejected", "invalid accepted", "timeout", "crash")
SHARES = {"p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9}
MEASURES = {  # name of the figures, shares of it that the table shows
    "TBM us": ("mean", *SHARES, "max"),
    "TBM us, first instances": ("mean", "p50", "p99", "p99.9", "max"),
    "TBM us, later instances": ("mean", "p50", "p99", "p99.9", "max"),
    "TTFM us": ("mean", *SHARES, "max"),
    "documents ahead us": ("mean", "p50", "p90", "p99"),
}

AHEAD, LEAST_AHEAD = "documents ahead us", 10.0  # what two looks at the clock take is nothing
RATIO_WIDTH = 20

Result = dict[str, Any]


class Timed(NamedTuple):
    """The smallest times of one schema: to its first mask, between the masks of each document, and to read ahead."""

    ttfm_us: float
    tbm_us: list[list[float]]
    ahead_us: float = 0.0


class Measured(NamedTuple):
    """What became of one engine.

    timed      by schema id; those that every run compiled and finished with the same number of steps
    unsteady   ids of schemas whose runs differ in what they did, so that positions cannot be compared
    verdicts   by schema id: that of the last run
    """

    timed: dict[str, Timed]
    unsteady: list[str]
    verdicts: dict[str, str]


def combine(runs: list[list[Result]]) -> Measured:
    """The smallest times of all runs of one engine."""
    timed, unsteady = {}, []
    for results in zip(*runs, strict=True):
        shapes = {str([len(times) for times in result["tbm_ns"]]) for result in results if "tbm_ns" in result}
        row_id = results[0]["id"]
        if len(shapes) == 1 and all("tbm_ns" in result for result in results):
            documents = zip(*(result["tbm_ns"] for result in results), strict=True)
            timed[row_id] = Timed(
                min(result["ttfm_ns"] for result in results) / 1000,
                [[min(step) / 1000 for step in zip(*document, strict=True)] for document in documents],
                min(result.get("ahead_ns", 0) for result in results) / 1000,
            )
        elif shapes:
            unsteady.append(row_id)
    return Measured(timed, unsteady, {result["id"]: result["verdict"] for result in runs[-1]})


def spread(values_us: list[float]) -> dict[str, float]:
    """Mean, percentiles, largest and number of values."""
    if not values_us:
        return {"n": 0}
    values = np.array(values_us)
    shares = {name: float(np.percentile(values, share)) for name, share in SHARES.items()}
    return {"mean": float(values.mean()), **shares, "max": float(values.max()), "n": len(values_us)}


def steps(measured: Measured, ids: set[str], first: bool = True, later: bool = True) -> list[float]:
    """Times between masks, of the first documents, the later ones or all."""
    return [
        step
        for row_id, timed in measured.timed.items()
        if row_id in ids
        for number, document in enumerate(timed.tbm_us)
        if (first if number == 0 else later)
        for step in document
    ]


def summarize(measured: Measured, runs: list[list[Result]], ids: set[str]) -> dict[str, Any]:
    """Figures of one engine.

    Parameters
    ----------
    measured : what `combine` made of `runs`.
    ids : schemas whose times count, those that all engines compiled; verdicts always count all.
    """
    wrong: Counter[str] = Counter()
    for result in runs[-1]:
        wrong.update(result.get("wrong", {}))
    verdicts = Counter(measured.verdicts.values())
    return {
        "TBM us": spread(steps(measured, ids)),
        "TBM us, first instances": spread(steps(measured, ids, later=False)),
        "TBM us, later instances": spread(steps(measured, ids, first=False)),
        "TTFM us": spread([timed.ttfm_us for row_id, timed in measured.timed.items() if row_id in ids]),
        "documents ahead us": spread([timed.ahead_us for row_id, timed in measured.timed.items() if row_id in ids]),
        "TBM us, mean of each run": [
            float(np.mean([ns for result in run if result["id"] in ids for times in result["tbm_ns"] for ns in times]))
            / 1000
            if ids
            else 0.0
            for run in runs
        ],
        "schemas": len(measured.verdicts),
        "schemas timed": len(ids & measured.timed.keys()),
        "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        "instances": dict(wrong),
        "max RSS MB": max((result.get("max_rss_mb", 0) for run in runs for result in run), default=0),
        "unsteady": measured.unsteady,
    }


def slowest(measured: Measured, ids: set[str], n: int) -> list[tuple[float, str, int, int]]:
    """The slowest steps: microseconds, schema id, document, place of the token in it."""
    found = [
        (step, row_id, number, place)
        for row_id, timed in measured.timed.items()
        if row_id in ids
        for number, document in enumerate(timed.tbm_us)
        for place, step in enumerate(document)
    ]
    return sorted(found, reverse=True)[:n]


def share_compiled(measured: Measured, reference: Measured) -> tuple[int, int]:
    """Of the schemas that the reference compiles, how many the engine compiles too; and how many those are."""
    theirs = reference.timed.keys() | set(reference.unsteady)
    return len(theirs & (measured.timed.keys() | set(measured.unsteady))), len(theirs)


def table(figures: dict[str, dict[str, Any]], reference: str) -> str:
    """The engines side by side, and the ratio of each other one to the reference."""
    names = list(figures)
    compared = [name for name in names if name != reference] if reference in names else []
    head = [f"{name:>14}" for name in names]
    head += [f"{name + '/ref':>{RATIO_WIDTH}}" for name in compared]
    lines = [f"{'ref: ' + reference if compared else '':<30}" + "".join(head)]

    def add(label: str, values: dict[str, float | None], digits: int, with_ratio: bool) -> None:
        cells = [f"{'-' if value is None else format(value, f',.{digits}f'):>14}" for value in values.values()]
        for name in compared if with_ratio else ():
            one, other = values[name], values[reference]
            ratio = format(one / other, ".2f") if one is not None and other else "-"
            cells.append(f"{ratio:>{RATIO_WIDTH}}")
        lines.append(f"{label:<30}" + "".join(cells))

    for measure, shares in MEASURES.items():
        if measure == AHEAD and max(figures[name].get(AHEAD, {}).get("max", 0) for name in names) < LEAST_AHEAD:
            continue
        for share in shares:
            add(f"{measure} {share}", {name: figures[name][measure].get(share) for name in names}, 1, True)
        add(f"{measure.replace(' us', '')} n", {name: figures[name][measure]["n"] for name in names}, 0, False)
    for count in ("schemas timed", "schemas", "max RSS MB"):
        add(count, {name: figures[name][count] for name in names}, 0, False)
    for verdict in VERDICTS:
        add(verdict, {name: figures[name]["verdicts"][verdict] for name in names}, 0, False)
    return "\n".join(lines)
