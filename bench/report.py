"""From the workers' lines to figures and a table in MaskBench's words.

In: the results of one run of an engine. Out: a dictionary of figures; text. Cost: a sort.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

VERDICTS = ("passing", "compile error", "order only", "valid rejected", "invalid accepted", "timeout", "crash")
SHARES = {"avg": None, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p99.9": 99.9, "p100": 100}


def _spread(values_us: np.ndarray) -> dict[str, float]:
    if values_us.size == 0:
        return {}
    return {
        name: float(values_us.mean() if share is None else np.percentile(values_us, share))
        for name, share in SHARES.items()
    }


def summarize(results: list[dict[str, Any]], only: set[str] | None = None) -> dict[str, Any]:
    """Figures of one run.

    Parameters
    ----------
    results : the worker's lines.
    only : ids of the schemas whose times count (those every engine compiled), None for all; verdicts always count all.
    """
    timed = [result for result in results if "tbm_ns" in result and (only is None or result["id"] in only)]
    tbm = np.array([ns for result in timed for ns in result["tbm_ns"]], dtype=float) / 1000
    ttfm = np.array([result["ttfm_ns"] for result in timed], dtype=float) / 1000
    verdicts = Counter(result["verdict"] for result in results)
    wrong: Counter[str] = Counter()
    for result in results:
        wrong.update(result.get("wrong", {}))
    return {
        "schemas": len(results),
        "schemas timed": len(timed),
        "tokens": int(tbm.size),
        "TBM us": _spread(tbm),
        "TTFM us": _spread(ttfm),
        "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        "instances": dict(wrong),
        "max RSS MB": max((result.get("max_rss_mb", 0) for result in results), default=0),
    }


def table(figures: dict[str, dict[str, Any]]) -> str:
    """The engines side by side; with two, the ratio of the first to the second."""
    names = list(figures)
    lines = [f"{'':<18}" + "".join(f"{name:>14}" for name in names) + (f"{'ratio':>9}" if len(names) == 2 else "")]

    def add(label: str, values: list[float | None], digits: int) -> None:
        cells = "".join(f"{'-' if value is None else format(value, f',.{digits}f'):>14}" for value in values)
        ratio = ""
        if len(values) == 2 and digits and values[0] is not None and values[1]:
            ratio = f"{values[0] / values[1]:>9.2f}"
        lines.append(f"{label:<18}{cells}{ratio}")

    for measure in ("TBM us", "TTFM us"):
        for share in SHARES:
            add(f"{measure} {share}", [figures[name][measure].get(share) for name in names], 1)
    for count in ("tokens", "schemas timed", "schemas", "max RSS MB"):
        add(count, [figures[name][count] for name in names], 0)
    for verdict in VERDICTS:
        add(verdict, [figures[name]["verdicts"][verdict] for name in names], 0)
    return "\n".join(lines)
