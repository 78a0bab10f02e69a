"""Run scaling studies: `python -m bench.scaling [study ...] [--output FOLDER] [--effort 0.1]`.

Each study runs in a fresh process, so that one's memory is not in the other's figures.

In: command line. Out: tables; with `--output` JSON and plots. Cost: some minutes in all at effort 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path

from bench.scaling.run import STUDIES, run_study


def study(name: str) -> str:
    """The name of a study, as an argument."""
    if name not in STUDIES:
        raise argparse.ArgumentTypeError(f"no study {name}; there are {', '.join(STUDIES)}")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "studies", nargs="*", type=study, metavar="study", help="all of them unless named: " + ", ".join(STUDIES)
    )
    parser.add_argument("--effort", type=float, default=1.0, help="share of the full sizes, 0.01 to 1")
    parser.add_argument("--output", type=Path, help="folder for JSON and plots")
    options = parser.parse_args()
    failed = []
    for name in options.studies or STUDIES:
        process = multiprocessing.get_context("spawn").Process(
            target=run_study, args=(name, options.effort, options.output)
        )
        process.start()
        process.join()
        if process.exitcode:
            failed.append(name)
    if failed:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
