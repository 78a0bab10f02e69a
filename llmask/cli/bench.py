"""`llmask bench`: measure llmask and other engines, from a checkout of the project.

    $ llmask bench --against llguidance --limit 100 --output results

The benchmark itself is the folder `bench/` next to the package; it is not installed with it. It is looked for next to
the package, then in the current folder. Method and bias are in `bench/README.md`; `python -m bench.fetch` makes the
data from a checkout of MaskBench.

In: a plan. Out: a table on standard output; in a folder results.json, percentile curves as PNG and SVG, the raw times.
Cost: over all of MaskBench's part three minutes a run of llmask and llguidance, hours of the others; `--limit` takes a
sample.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llmask.errors import LlmaskError, how_to_install

REFERENCE = "llguidance"  # ratios are to it, or to the first engine where it is not among them
VOCABULARIES = ("llama3", "qwen2", "default")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "bench",
        help="measure llmask beside other engines",
        description="Measure the time to the first mask and between masks, beside other engines, after their masks "
        "have been compared with the expected ones. Without MaskBench's data (python -m bench.fetch) the project's own "
        "cases are measured, on a warm store.",
        epilog="example: llmask bench --against llguidance,xgrammar --limit 100 --output results",
    )
    parser.add_argument(
        "--against",
        metavar="ENGINES",
        help="comma-separated: llmask-documents, llmask-warm, llguidance, xgrammar, outlines-core, glrmask, "
        "glrmask-fast (default: llguidance if it is installed; none: '')",
    )
    parser.add_argument("--limit", metavar="N", type=int, help="only N schemas, drawn with a fixed seed")
    parser.add_argument(
        "--vocabulary", choices=VOCABULARIES, help="default: llama3 if it is there; default is the package's own"
    )
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible", help="default: flexible")
    parser.add_argument(
        "--repeat", metavar="N", type=int, default=3, help="runs an engine, the smallest time counts (default: 3)"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=60, help="seconds a schema may take (default: 60)"
    )
    parser.add_argument("--slowest", metavar="N", type=int, default=0, help="also print the N slowest steps an engine")
    parser.add_argument("--output", metavar="FOLDER", type=Path, help="write results.json, plots and raw times there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, and print the table; 1 when a mask of llmask is not as expected."""
    for name in ("limit", "repeat"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise LlmaskError(
                f"--{name} is a number of at least 1, not {value}", help=f"leave --{name} out or raise it"
            )
    maskbench = load_bench(Path(__file__).resolve().parents[2], Path.cwd())
    against = arguments.against
    if against is None:
        against = REFERENCE if find_spec(REFERENCE) else ""
        if not against:
            sys.stderr.write(
                f"llmask: llguidance is not installed: llmask is measured alone; {how_to_install('bench')}\n"
            )
    peers = [name for name in against.split(",") if name]
    plan = maskbench.plan_of(
        None,
        arguments.vocabulary,
        engines=("llmask", *peers),
        reference=reference_of(peers),
        whitespace=arguments.whitespace,
        limit=arguments.limit,
        repeat=arguments.repeat,
        timeout_s=arguments.timeout,
        slowest=arguments.slowest,
        output=arguments.output,
    )
    if plan.corpus == "own":
        sys.stderr.write(
            "llmask: MaskBench's data are not there: the project's own cases are measured; "
            "python -m bench.fetch --help says how to get them\n"
        )
    elif plan.vocabulary == "default" and arguments.vocabulary is None:
        sys.stderr.write(
            "llmask: Llama 3's vocabulary is not there: the package's own is measured; "
            "python -m bench.fetch --help says how to get it\n"
        )
    return int(maskbench.measure(plan)["is_wrong"])


def reference_of(peers: list[str]) -> str:
    """The engine that ratios are to."""
    return peers[0] if peers and REFERENCE not in peers else REFERENCE


def load_bench(*folders: Path) -> Any:
    """Import `bench.maskbench` from the first of `folders` that has it.

    Raises
    ------
    LlmaskError : none has it, or a package that it needs is missing.
    """
    for folder in folders:
        if (folder / "bench" / "maskbench.py").is_file():
            if str(folder) not in sys.path:
                sys.path.insert(0, str(folder))
            try:
                return importlib.import_module("bench.maskbench")
            except ImportError as error:
                raise LlmaskError(
                    f"the benchmark needs a package that is missing: {error}",
                    where=str(folder / "bench"),
                    help=how_to_install("bench"),
                ) from error
    raise LlmaskError(
        "the benchmark is not part of the installed package",
        where=" and ".join(f"{folder / 'bench'} is not there" for folder in folders),
        help="run `llmask bench` from a checkout of the project, with pip install -e '.[bench]'",
    )
