"""The README's table of engines, from a recorded measurement: `python -m bench.page bench/recorded/peers.json`.

Speed, what is refused and what is unsound are side by side, because each is bought with the others: an engine may
refuse what would be slow, or take more by checking less. Times are over the schemas that all engines compile; after
each is how many times it is llmask's. Verdicts count all schemas of the run.

In: results.json of `llmask bench`. Out: a table in Markdown. Cost: none.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

OURS = "llmask"
NAMES = {"xgrammar": "XGrammar"}  # as they are written; the others as their packages are called
MICROSECONDS = 1.0
MILLISECONDS = 1000.0
TIMES = (  # row, measure, share, its unit in microseconds
    ("a mask and its token, mean, µs", "TBM us", "mean", MICROSECONDS),
    ("... p50", "TBM us", "p50", MICROSECONDS),
    ("... p90", "TBM us", "p90", MICROSECONDS),
    ("... p99", "TBM us", "p99", MICROSECONDS),
    ("... p99.9", "TBM us", "p99.9", MICROSECONDS),
    ("compiling and the first mask, p50, ms", "TTFM us", "p50", MILLISECONDS),
    ("... p99", "TTFM us", "p99", MILLISECONDS),
)
COUNTS = (  # row, the verdicts that it adds up
    ("**refused**: schemas without a grammar", ("compile error",)),
    ("**unsound**: an invalid document is accepted", ("invalid accepted",)),
    ("too strict: a valid document is refused", ("valid rejected",)),
    ("... only because its keys are in another order", ("order only",)),
    ("no result: a crash, or out of time", ("timeout", "crash")),
)


def table(results: dict[str, Any]) -> str:
    """Engines as columns; speed, then verdicts as rows."""
    figures = results["figures"]
    names = sorted(figures, key=lambda name: name != OURS)
    n_schemas, n_timed = figures[OURS]["schemas"], figures[OURS]["schemas timed"]
    heads = [f"{NAMES.get(name, name)} {results['versions'][name]}" for name in names]
    lines = [
        f"| {n_schemas:,} schemas; times over the {n_timed:,} that all compile | {' | '.join(heads)} |",
        "|---|" + "---:|" * len(names),
    ]
    for row, measure, share, unit in TIMES:
        values = {name: figures[name][measure][share] / unit for name in names}
        cells = [written(value) + ratio(name, value / values[OURS]) for name, value in values.items()]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    for row, verdicts in COUNTS:
        counts = [sum(figures[name]["verdicts"][verdict] for verdict in verdicts) for name in names]
        lines.append(f"| {row} | {' | '.join(str(count) for count in counts)} |")
    return "\n".join(lines)


def written(value: float) -> str:
    """Two or three digits, or all of a large number."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"


def ratio(name: str, value: float) -> str:
    """How many times llmask's."""
    return "" if name == OURS else f" ({written(value)}×)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="results.json of a measurement")
    print(table(json.loads(parser.parse_args().results.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
