"""MaskBench for llmask and its peers: `python -m bench.maskbench`, or `llmask bench`; bench.fetch makes the data.

First the masks of every engine are compared with the expected digests, outside the clock. Then the engines run in turn,
each time in a fresh process over the same schemas in the same order, and for every step the smallest time of the runs
counts. The method in full: `bench/README.md`.

In: `Plan`. Out: a table; in a folder results.json, percentiles.png and .svg, and the lines of every run. Cost: over all
4,435 schemas half a minute a run of llmask, two of llguidance; hours of the others, which is what `limit` is for.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench import report
from bench.data import MASKBENCH, Row, chosen_numbers, corpus_rows
from bench.digests import OURS, tasks_of, verify_engine
from bench.engines import ADAPTERS, adapter, is_installed
from bench.runs import Job, run_engine
from bench.vocabularies import ROOT, SOURCES
from llmask.cli.progress import Progress
from llmask.errors import LlmaskError, how_to_install

BAR_WIDTH = 24
N_SLOWEST = 20
N_SHOWN = 10  # wrong masks of our own engine
FETCH = "python -m bench.fetch PATH makes them from a checkout of MaskBench; or name their folder with LLMASK_SHARED"


class Plan(NamedTuple):
    """What is measured; the fields are the options of the command line."""

    engines: tuple[str, ...] = ("llmask", "llguidance")
    reference: str = "llguidance"
    corpus: str = "maskbench"
    vocabulary: str = "llama3"
    whitespace: str = "flexible"
    match: str = ""
    limit: int | None = None
    repeat: int = 3
    timeout_s: float = 60.0
    verify: bool = True
    slowest: int = 0
    output: Path | None = None


def plan_of(corpus: str | None, vocabulary: str | None, **fields: Any) -> Plan:
    """A plan whose corpus and vocabulary fit together: without MaskBench the own cases are measured, without Llama 3's
    vocabulary the tokenizer of the package.
    """
    chosen = corpus or ("maskbench" if MASKBENCH.exists() else "own")
    if chosen == "maskbench" and not MASKBENCH.exists():
        raise LlmaskError("MaskBench's data are not there", where=str(MASKBENCH), help=FETCH)
    default = "llama3" if chosen == "maskbench" and SOURCES["llama3"].path.exists() else "default"
    if chosen == "own" and vocabulary not in (None, "default"):
        raise LlmaskError(
            f"the project's own cases are tokenized for the vocabulary default, not {vocabulary}",
            where=f"{MASKBENCH} is not there" if corpus is None else None,
            help=f"{FETCH}; or leave --vocabulary out",
        )
    source = SOURCES[vocabulary or default].path
    if not source.exists():
        raise LlmaskError(
            f"the vocabulary {vocabulary} is not there",
            where=str(source),
            help="python -m bench.fetch PATH --vocabulary FILE writes that of Llama 3; or name the folder of shared "
            "data with LLMASK_SHARED",
        )
    return Plan(corpus=chosen, vocabulary=vocabulary or default, **fields)


def check_engines(names: tuple[str, ...], whitespace: str = "flexible") -> None:
    """Say at once what is wrong with a list of engines."""
    for name in names:
        if name not in ADAPTERS:
            raise LlmaskError(f'there is no engine "{name}"', help=f"the engines are {', '.join(ADAPTERS)}")
        if whitespace not in adapter(name).kinds_of_whitespace:
            raise LlmaskError(
                f"{name} has no option for white space and cannot write {whitespace} documents",
                help=f"leave {name} out, or --whitespace {whitespace}",
            )
        if not is_installed(name):
            raise LlmaskError(f"{name} is not installed", help=how_to_install("bench"))


def measure(plan: Plan) -> dict[str, Any]:
    """Carry out a plan: print the table, write the files, and return what results.json holds."""
    check_engines(plan.engines, plan.whitespace)
    if plan.output is not None:
        plan.output.mkdir(parents=True, exist_ok=True)
    with Progress() as progress, TemporaryDirectory() as folder:
        verified = _verify(plan, progress) if plan.verify else {}
        rows = corpus_rows(plan.corpus, plan.whitespace, plan.vocabulary)
        runs = _run(plan, rows, (plan.output or Path(folder)) / "raw", progress)
    facts = {
        "plan": plan._asdict() | {"output": str(plan.output)},
        "versions": {name: adapter(name).package_version() for name in plan.engines},
        "machine": machine(),
        "digests": {name: found._asdict() | {"text": str(found)} for name, found in verified.items()},
        "is_wrong": OURS in verified and not verified[OURS].is_complete,
        "rows": len(rows),
    }
    return evaluate(plan, facts, runs)


def evaluate(plan: Plan, facts: dict[str, Any], runs: dict[str, list[list[report.Result]]]) -> dict[str, Any]:
    """Figures, table and plots of the lines of all runs.

    Parameters
    ----------
    facts : what is known besides: "plan", "versions", "machine", "digests", "is_wrong", and "rows" of the corpus.
    """
    measured = {name: report.combine(results) for name, results in runs.items()}
    ids = set.intersection(*(set(found.timed) for found in measured.values()))
    result = facts | {
        "figures": {name: report.summarize(found, runs[name], ids) for name, found in measured.items()},
        "pairs": _pairs(plan, measured, runs),
        "slowest": {name: report.slowest(found, ids, max(plan.slowest, N_SLOWEST)) for name, found in measured.items()},
    }
    print(_text(plan, result, measured, len(ids)))
    if plan.output is not None:
        (plan.output / "results.json").write_text(json.dumps(result, indent=1))
        _plot(plan, measured, ids, plan.output)
    return result


def _verify(plan: Plan, progress: Progress) -> dict[str, Any]:
    tasks = tasks_of(plan.vocabulary, plan.whitespace)
    return {
        name: verify_engine(name, tasks, plan.timeout_s, lambda text, name=name: progress(f"digests, {name}: {text}"))
        for name in plan.engines
    }


def _run(plan: Plan, rows: list[Row], raw: Path, progress: Progress) -> dict[str, list[list[report.Result]]]:
    """The lines of all runs by engine; the engines take turns."""
    numbers = chosen_numbers(rows, plan.match, plan.limit)
    job = Job("measure", plan.corpus, plan.vocabulary, plan.whitespace, plan.timeout_s)
    raw.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list[list[report.Result]]] = {name: [] for name in plan.engines}
    n_all = plan.repeat * len(plan.engines)
    for number in range(n_all):
        turn, place = divmod(number, len(plan.engines))
        name = plan.engines[place]
        lines = raw / f"{name}-run{turn + 1}.jsonl"
        said = f"run {turn + 1} of {plan.repeat}, {name}"
        runs[name].append(run_engine(job, name, numbers, lines, _bar(progress, number, n_all, said)))
        with lines.open("rb") as plain, gzip.open(f"{lines}.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        lines.unlink()
    return runs


def _bar(progress: Progress, n_done: int, n_all: int, said: str) -> Callable[[str], None]:
    """Draws how far all runs together are; a worker says "n of m schemas"."""

    def draw(text: str) -> None:
        n_rows, _, n_all_rows, _ = text.split()
        share = (n_done + int(n_rows) / int(n_all_rows)) / n_all
        filled = round(share * BAR_WIDTH)
        progress(f"[{'#' * filled}{'-' * (BAR_WIDTH - filled)}] {share:4.0%}  {said}: {text}")

    return draw


def _pairs(
    plan: Plan, measured: dict[str, report.Measured], runs: dict[str, list[list[report.Result]]]
) -> dict[str, Any]:
    """Each engine beside the reference, over the schemas that these two compile."""
    pairs = {}
    for name in plan.engines:
        if name != plan.reference and plan.reference in measured:
            ids = measured[name].timed.keys() & measured[plan.reference].timed.keys()
            pairs[name] = {one: report.summarize(measured[one], runs[one], ids) for one in (name, plan.reference)}
    return pairs


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    models = [line for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "processor": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": _commit(),
    }


def _commit() -> str:
    """Commit of the checkout, with a plus sign when files have changed since."""
    try:
        command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def counted(plan: Plan, result: dict[str, Any]) -> str:
    """Which schemas the figures count, and how many."""
    n_counted = max(figures["schemas"] for figures in result["figures"].values())
    share = f"{n_counted:,} of {result['rows']:,}" if "rows" in result else f"{n_counted:,}"
    if plan.corpus == "own":
        kept = ", ".join(name for name in plan.engines if adapter(name).keeps_store)
        warm = f", on a warm store (of {kept}: each ran once before)" if kept else ""
        return f"{share} of the project's own cases{warm}; not MaskBench"
    return f"{share} schemas of MaskBench"


def _text(plan: Plan, result: dict[str, Any], measured: dict[str, report.Measured], n_common: int) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    lines = [
        f"{versions}; Python {result['machine']['python']}; {result['machine']['processor']}",
        f"{counted(plan, result)}, vocabulary {plan.vocabulary}, whitespace {plan.whitespace}; smallest of "
        f"{plan.repeat} runs; times over the {n_common:,} schemas that all engines compiled",
        *(f"digests, {name}: {found['text']}" for name, found in result["digests"].items()),
    ]
    if result["is_wrong"]:
        lines += [f"{OURS} IS WRONG, its times mean nothing:", *result["digests"][OURS]["lines"][:N_SHOWN]]
    if plan.reference in measured:
        for name in plan.engines:
            if name != plan.reference:
                n_both, n_theirs = report.share_compiled(measured[name], measured[plan.reference])
                share = f"{100 * n_both / n_theirs:.2f} %" if n_theirs else "none"
                lines.append(f"{name} compiles {n_both} of the {n_theirs} schemas that {plan.reference} does ({share})")
    lines += ["", report.table(result["figures"], plan.reference)]
    for name, steps in result["slowest"].items() if plan.slowest else ():
        lines += ["", f"slowest steps of {name}: us, schema, document, position"]
        lines += [f"{step:12,.1f}  {row_id} {number} {place}" for step, row_id, number, place in steps[: plan.slowest]]
    return "\n".join(lines)


def _plot(plan: Plan, measured: dict[str, report.Measured], ids: set[str], folder: Path) -> None:
    from bench import plot

    curves = {
        "time between masks": {name: report.steps(found, ids) for name, found in measured.items()},
        "time to first mask": {
            name: [timed.ttfm_us for row_id, timed in found.timed.items() if row_id in ids]
            for name, found in measured.items()
        },
    }
    title = (
        f"{plan.corpus}, {len(ids):,} schemas that all compile; vocabulary {plan.vocabulary}, "
        f"whitespace {plan.whitespace}; smallest of {plan.repeat} runs"
    )
    try:
        files = plot.draw(curves, title, folder)
    except ImportError:
        sys.stderr.write(f"no plots: matplotlib is not installed; {how_to_install('bench')}\n")
    else:
        sys.stderr.write("".join(f"written: {file}\n" for file in files))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="llmask,llguidance", help="comma-separated: " + ", ".join(ADAPTERS))
    parser.add_argument("--reference", default="llguidance", help="the engine that ratios are to")
    parser.add_argument("--corpus", choices=("maskbench", "own"), help="default: maskbench if it is there")
    parser.add_argument("--vocabulary", choices=list(SOURCES), help="default: llama3 if it is there, or default")
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--limit", type=int, help="only so many schemas, drawn with a fixed seed, in the file's order")
    parser.add_argument("--match", default="", help="only schemas whose id contains this")
    parser.add_argument("--repeat", type=int, default=3, help="runs an engine; the smallest time of each step counts")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a schema may take")
    parser.add_argument("--no-digests", action="store_true", help="measure without looking at the masks first")
    parser.add_argument("--slowest", type=int, default=0, help="print so many of the slowest steps of each engine")
    parser.add_argument("--output", type=Path, help="folder for results.json, plots and the lines of every run")
    options = parser.parse_args()
    try:
        return int(measure(_plan(options))["is_wrong"])
    except LlmaskError as error:
        raise SystemExit(f"error: {error}") from None


def _plan(options: argparse.Namespace) -> Plan:
    return plan_of(
        options.corpus,
        options.vocabulary,
        engines=tuple(options.engines.split(",")),
        reference=options.reference,
        whitespace=options.whitespace,
        match=options.match,
        limit=options.limit,
        repeat=options.repeat,
        timeout_s=options.timeout,
        verify=not options.no_digests,
        slowest=options.slowest,
        output=options.output,
    )


if __name__ == "__main__":
    sys.exit(main())
