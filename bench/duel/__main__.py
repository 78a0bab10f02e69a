"""`python -m bench.duel --against llguidance,xgrammar`: where masks differ, who is right?

Each pair of engines has a process of its own, which writes what it found after every schema. A schema that takes too
long, or a crash, ends the process; the schema is counted and the next process goes on after it.

In: command line. Out: tables in Markdown on standard output, every finding as a JSON line in the file `--out`.
Cost: 0.1 s a schema with llguidance and glrmask, two seconds with xgrammar, which takes them to compile.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.data import Row, chosen_numbers, maskbench_rows
from bench.duel import report
from bench.duel.settings import engine_of, settings_of
from bench.engines import ADAPTERS, adapter, is_installed

OURS = "llmask"
PEERS = tuple(name for name in ADAPTERS if not name.startswith(OURS))
MOST_FACTOR = 10  # of the time limit, for the documents of a schema


def work(theirs: str, is_widest: bool, rows: list[Row], seconds: int, path: Path) -> None:
    """Compare the rows in this process; a line each is appended to the file."""
    from bench.duel.places import Duel

    warnings.simplefilter("ignore")
    _keep_quiet(path.with_suffix(".log"))
    limit = adapter(theirs).memory_gb
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_AS, (int(limit * 2**30), int(limit * 2**30)))
    duel = Duel(engine_of(OURS, is_widest), engine_of(theirs, is_widest))
    compiles = duel.theirs.compile

    def compile_in_time(grammar: Any, kind: str = "schema") -> Any:
        signal.alarm(seconds)
        try:
            return compiles(grammar, kind)
        finally:
            signal.alarm(MOST_FACTOR * seconds)

    duel.theirs.compile = compile_in_time  # type: ignore[method-assign]
    with path.open("a") as lines:
        for row in rows:
            signal.alarm(MOST_FACTOR * seconds)
            started = time.monotonic()
            result = duel.row(row)
            signal.alarm(0)
            entry = result._asdict() | {"findings": [finding._asdict() for finding in result.findings]}
            lines.write(json.dumps(entry | {"seconds": time.monotonic() - started}) + "\n")
            lines.flush()


def _keep_quiet(path: Path) -> None:
    """What engines print of their own goes into a file."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)


def compared(theirs: str, is_widest: bool, rows: list[Row], seconds: int) -> list[dict[str, Any]]:
    """A result for every row, from as many processes as are needed."""
    context = multiprocessing.get_context("fork")
    import_module(adapter(theirs).package.replace("-", "_"))  # once, and not in every process
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.jsonl"
        path.touch()
        while True:
            results: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
            if len(results) >= len(rows):
                return results
            process = context.Process(target=work, args=(theirs, is_widest, rows[len(results) :], seconds, path))
            process.start()
            while process.is_alive():
                process.join(5)
                n_done = path.read_text().count("\n")
                print(f"\r{theirs}: {n_done} of {len(rows)} schemas", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
            n_done = path.read_text().count("\n")
            if n_done < len(rows):
                if process.exitcode == 0 or (n_done == 0 and process.exitcode == 1):
                    log = path.with_suffix(".log")
                    raise SystemExit(f"{theirs} does not start:\n{log.read_text()[-2000:] if log.exists() else ''}")
                why = "too slow" if process.exitcode == -signal.SIGALRM else "crashed"
                entry = {"schema": rows[n_done].id, "status": why, "counts": {}, "findings": [], "seconds": 0}
                if why == "crashed":
                    print(path.with_suffix(".log").read_text()[-1500:], file=sys.stderr)
                with path.open("a") as lines:
                    lines.write(json.dumps(entry) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.duel", description=__doc__)
    parser.add_argument("--against", default="llguidance", help=f"names out of {', '.join(PEERS)}")
    parser.add_argument("--limit", type=int, help="so many schemas, drawn with the seed; default all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--match", default="", help="schemas whose name contains this")
    parser.add_argument("--widest", action="store_true", help="each engine with the widest settings that it has")
    parser.add_argument("--timeout", type=int, default=20, help="seconds that the other engine may take to compile")
    parser.add_argument("--show", type=int, default=report.MOST_SHOWN, help="so many cases of a kind")
    parser.add_argument("--out", type=Path, help="file for every finding, a JSON line each")
    options = parser.parse_args()
    names = options.against.split(",")
    for name in names:
        if name not in PEERS:
            parser.error(f"no engine {name!r}: {', '.join(PEERS)}")
        if not is_installed(name):
            parser.error(f"{name} is not installed")
    rows = maskbench_rows()
    rows = [rows[number] for number in chosen_numbers(rows, options.match, options.limit, options.seed)]
    for name in names:
        started = time.monotonic()
        results = compared(name, options.widest, rows, options.timeout)
        print(report.table(OURS, name, results))
        version = adapter(name).package_version()
        print(f"\n{name} {version}: {settings_of(name, options.widest)}; ", end="")
        print(f"{OURS}: {settings_of(OURS, options.widest)}; {time.monotonic() - started:.0f} s", flush=True)
        print(report.cases(OURS, name, results, options.show), flush=True)
        if options.out:
            with options.out.open("a") as lines:
                for result in results:
                    for finding in result["findings"] or [{"schema": result["schema"], "kind": result["status"]}]:
                        lines.write(json.dumps({"against": name, **finding}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
