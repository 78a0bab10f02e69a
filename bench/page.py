"""The README's table of engines, from what was recorded: `python -m bench.page results.json requests.json`.

`python -m bench.page --measure` records it first, in three quarters of an hour.

First what a server notices: a grammar's ready time, what a token costs, the worst step of a batch, masks that are not
there when they are asked for (bench/requests.py). Then MaskBench's times of a mask alone, and verdicts: what is refused
and what is unsound are beside the speed, because each is bought with the others: an engine may refuse what would be
slow, or take more by checking less. Times are over the schemas that all engines compile; after
each is how many times it is llmask's. Verdicts count all schemas of the run. Where engines are many few schemas are
left that all compile: with `--pairs` each engine stands beside llmask alone, over the schemas that these two compile.

In: results.json of `llmask bench`, of pairs one whose reference is llmask; what `bench.requests --output` wrote.
Out: tables in Markdown. Cost: none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.vocabularies import ROOT
from llmask.errors import LlmaskError

OURS = "llmask"
RESULTS, REQUESTS = (ROOT / "bench" / "recorded" / name for name in ("peers.json", "requests.json"))
ENGINES = ("--engines", "llmask,llmask-documents,llguidance,xgrammar,glrmask")
MASKS = ("bench.maskbench", *ENGINES, "--limit", "400", "--repeat", "2", "--no-digests")
BATCH = ("bench.requests", *ENGINES, "--live", "64", "--requests", "192", "--model-ms", "5", "--cpu")
NAMES = {
    "xgrammar": "XGrammar",
    "llmask-documents": "llmask, documents ahead,",
}  # as they are written; the others as their packages are called
MICROSECONDS = 1.0
MILLISECONDS = 1000.0
READY = (  # row, measure, share, its unit in microseconds
    ("**ready**: compiling and the first mask, p50, ms", "TTFM us", "p50", MILLISECONDS),
    ("... p99", "TTFM us", "p99", MILLISECONDS),
)
TIMES = (
    ("a mask and its token, mean, µs", "TBM us", "mean", MICROSECONDS),
    ("... p50", "TBM us", "p50", MICROSECONDS),
    ("... p90", "TBM us", "p90", MICROSECONDS),
    ("... p99", "TBM us", "p99", MICROSECONDS),
    ("... p99.9", "TBM us", "p99.9", MICROSECONDS),
)
BATCHES = (  # row, what bench.requests says, its unit
    ("**a token** in {live} sequences, mean, µs", "a token us", 1.0),
    ("... with what is built beside it", "with ahead us", 1.0),
    ("**the worst step** of {live}, p99, % of the model's", "step share p99", 0.01),
    ("... the longest", "step share max", 0.01),
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


def table(results: dict[str, Any], requests: dict[str, Any] | None = None) -> str:
    """Engines as columns; what a server notices, times of masks, verdicts as rows."""
    figures = results["figures"]
    names = sorted(figures, key=lambda name: name != OURS)
    n_schemas, n_timed = figures[OURS]["schemas"], figures[OURS]["schemas timed"]
    heads = [f"{NAMES.get(name, name)} {results['versions'][name]}" for name in names]
    lines = [
        f"| {n_schemas:,} schemas; times over the {n_timed:,} that all compile | {' | '.join(heads)} |",
        "|---|" + "---:|" * len(names),
    ]

    def add(row: str, values: dict[str, float | None]) -> None:
        ours = values[OURS]
        cells = ["-" if value is None else written(value) + ratio(name, value, ours) for name, value in values.items()]
        lines.append(f"| {row} | {' | '.join(cells)} |")

    for row, measure, share, unit in READY:
        add(row, {name: figures[name][measure][share] / unit for name in names})
    for live, runs in (requests or {}).items():
        for row, key, unit in BATCHES:
            add(row.format(live=live), {name: runs[name][key] / unit if name in runs else None for name in names})
    for row, measure, share, unit in TIMES:
        add(row, {name: figures[name][measure][share] / unit for name in names})
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
            cells.append("-" if not ours else f"{written(ours)} / {written(theirs)}{ratio(name, theirs, ours)}")
        head = f"{NAMES.get(name, name)} {results['versions'][name]}"
        lines.append(f"| {head} | {pair[OURS]['schemas timed']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure() -> None:
    """Record what the README's table says."""
    python = (sys.executable, "-m")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*python, *MASKS, "--output", folder], cwd=ROOT, stdout=sys.stderr, check=True)
        RESULTS.write_bytes(Path(folder, "results.json").read_bytes())
    subprocess.run([*python, *BATCH, "--output", str(REQUESTS)], cwd=ROOT, stdout=sys.stderr, check=True)


def written(value: float) -> str:
    """Two or three digits, or all of a large number."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"


def ratio(name: str, value: float, ours: float | None) -> str:
    """How many times llmask's."""
    return f" ({written(value / ours)}×)" if name != OURS and ours else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("results", type=Path, nargs="?", help="results.json of a measurement")
    parser.add_argument("requests", type=Path, nargs="?", help="what bench.requests --output wrote")
    what.add_argument("--measure", action="store_true", help="measure both first")
    parser.add_argument("--pairs", action="store_true", help="each engine beside llmask alone")
    options = parser.parse_args()
    if options.measure:
        measure()
        options.results, options.requests = RESULTS, REQUESTS
    results = json.loads(options.results.read_text(encoding="utf-8"))
    requests = None if options.requests is None else json.loads(options.requests.read_text(encoding="utf-8"))
    try:
        print(pairs(results) if options.pairs else table(results, requests))
    except LlmaskError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
