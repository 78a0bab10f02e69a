"""The table and plots of a recorded measurement, made again from its lines: `python -m bench.replay results`.

Nothing is measured. It serves to check recorded figures, and to look at them in another way: against another reference,
with more of the slowest steps, for some of the engines or schemas only.

In: the folder that `--output` named. Out: the table; with `--output` files as `bench.maskbench` writes them. Cost:
reading a million times a run, ten seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from bench.maskbench import Plan, evaluate
from bench.report import Result

Runs = dict[str, list[list[Result]]]


def load(folder: Path, engines: list[str], match: str = "") -> tuple[Plan, dict[str, Any], Runs]:
    """The plan, what is known besides, and the lines of all runs of a measurement.

    Parameters
    ----------
    engines : only these; all of them when empty.
    match : only schemas whose id contains this.
    """
    recorded = json.loads((folder / "results.json").read_text())
    known = Plan(**recorded["plan"])
    plan = known._replace(engines=tuple(engines or known.engines), match=match or known.match, output=None)
    runs = {
        name: [_lines(folder / "raw" / f"{name}-run{turn + 1}.jsonl.gz", match) for turn in range(plan.repeat)]
        for name in plan.engines
    }
    facts = {
        "plan": recorded["plan"],
        "versions": {name: recorded["versions"][name] for name in plan.engines},
        "machine": recorded["machine"],
        "digests": {name: found for name, found in recorded["digests"].items() if name in plan.engines},
        "is_wrong": recorded["is_wrong"],
    }
    return plan, facts, runs


def _lines(path: Path, match: str) -> list[Result]:
    with gzip.open(path, "rt") as lines:
        return [result for result in map(json.loads, lines) if match in result["id"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what --output named when it was measured")
    parser.add_argument("--engines", default="", help="comma-separated; only these")
    parser.add_argument("--reference", help="the engine that ratios are to")
    parser.add_argument("--match", default="", help="only schemas whose id contains this")
    parser.add_argument("--slowest", type=int, default=0, help="print so many of the slowest steps of each engine")
    parser.add_argument("--output", type=Path, help="folder for results.json and plots")
    options = parser.parse_args()
    plan, facts, runs = load(options.folder, [name for name in options.engines.split(",") if name], options.match)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
    changes = {"reference": options.reference or plan.reference, "slowest": options.slowest, "output": options.output}
    evaluate(plan._replace(**changes), facts, runs)


if __name__ == "__main__":
    main()
