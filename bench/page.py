"""The README's table of engines, from a recorded measurement: `python -m bench.page bench/recorded/peers.json`.

Speed, what is refused and what is unsound are side by side, because each is bought with the others: an engine may
refuse what would be slow, or take more by checking less. Times are over the schemas that all engines compile; after
each is how many times it is llmask's. Verdicts count all schemas of the run. Where engines are many few schemas are
left that all compile: with `--pairs` each engine stands beside llmask alone, over the schemas that these two compile.

In: results.json of `llmask bench`; for pairs of one whose reference is llmask. Out: tables in Markdown. Cost: none.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from llmask.errors import LlmaskError

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
PAIRED = (  # columns
    *(("TBM us", share) for share in ("mean", "p50", "p90", "p99", "p99.9", "max")),
    *(("TTFM us", share) for share in ("p50", "p90", "p99", "p99.9", "max")),
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


def pairs(results: dict[str, Any]) -> str:
    """Engines as rows, each beside llmask over the schemas that both compile.

    Raises
    ------
    LlmaskError : the results have no pairs with llmask.
    """
    found = {name: pair for name, pair in results["pairs"].items() if OURS in pair}
    if not found or any(name == OURS for name in found):
        raise LlmaskError(
            "the results have no pairs of llmask with each other engine",
            help="python -m bench.replay FOLDER --reference llmask --output OTHER makes them of the same runs",
        )
    titles = [f"{measure.split()[0]} {share}" for measure, share in PAIRED]
    lines = [
        f"| µs: llmask / engine (times llmask's) | schemas | {' | '.join(titles)} |",
        f"|---|{'---:|' * (len(titles) + 1)}",
    ]
    for name, pair in found.items():
        cells = []
        for measure, share in PAIRED:
            ours, theirs = (pair[one][measure].get(share) for one in (OURS, name))
            cells.append("-" if not ours else f"{written(ours)} / {written(theirs)}{ratio(name, theirs / ours)}")
        head = f"{NAMES.get(name, name)} {results['versions'][name]}"
        lines.append(f"| {head} | {pair[OURS]['schemas timed']:,} | {' | '.join(cells)} |")
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
    parser.add_argument("--pairs", action="store_true", help="each engine beside llmask alone")
    options = parser.parse_args()
    results = json.loads(options.results.read_text(encoding="utf-8"))
    try:
        print(pairs(results) if options.pairs else table(results))
    except LlmaskError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
