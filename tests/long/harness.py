"""What every attack shares: seeded cases, counts, the verdict, one line of JSON.

An attack is a module of this folder with `run(tally)`. It draws case after case from `tally.cases()`, each with random
numbers of its own (`Random("SEED CASE")`, so a case can be repeated alone), counts what it did, and reports what is
wrong. It ends when its size is reached. What it needs and does not find is a skip with the reason. A case that takes
longer than HANG_SECONDS hangs: a watching thread prints the summary and ends the process, for compiled code cannot be
interrupted.

In: a seed, a size. Out: a `Tally`, its summary. Cost: 2 us a case.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.scaling.results import Plot, Result
from bench.tables import write_json

HANG_SECONDS = 120.0
SHOWN_CASES = 20  # of what is wrong, in the summary
SHOWN_LETTERS = 1200  # of a case


class Skipped(Exception):
    """Something that the attack needs is not there; the message says what."""


class Tally:
    """What one attack did.

    Attributes
    ----------
    seed, size : as asked for; the module says of what the size counts.
    done : how much of the size.
    sums : counts by name.
    worst : by name the largest value and its case.
    wrong, hung : descriptions of cases.
    rows : figures that were recorded on the way, for attacks that take long.
    skipped : why there was nothing to do, or None.
    """

    def __init__(self, seed: int, size: int, minutes: float = float("inf")) -> None:
        self.seed, self.size = seed, size
        self.done = 0
        self.sums: Counter[str] = Counter()
        self.worst: dict[str, tuple[float, str]] = {}
        self.wrong: list[str] = []
        self.hung: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.skipped: str | None = None
        self.started = time.monotonic()
        self.last_sign = self.started  # of life, for the watching thread
        self.case = "start"
        self._end = self.started + 60 * minutes

    def cases(self) -> Iterator[random.Random]:
        """Random numbers of one case after the other, until the size, or the time, is spent."""
        number = 0
        while self.done < self.size and time.monotonic() < self._end:
            self.begin(f"{self.seed} {number}")
            yield random.Random(self.case)
            number += 1
        self.begin("end")

    def begin(self, case: str) -> None:
        """Name the case that begins now, and show that the attack lives."""
        self.case, self.last_sign = case, time.monotonic()

    def most(self, what: str, value: float, case: object) -> None:
        """Note a value if it is the largest of its name."""
        if what not in self.worst or value > self.worst[what][0]:
            self.worst[what] = (round(value, 3), str(case)[:SHOWN_LETTERS])

    def fault(self, what: str, *case: object) -> None:
        """Note something wrong, at once also on standard error."""
        text = f"case {self.case}: {what}: " + "; ".join(str(part) for part in case)
        text = text.encode("utf-8", "backslashreplace").decode()[:SHOWN_LETTERS]
        self.sums[f"wrong: {what}"] += 1
        self.wrong.append(text)
        if len(self.wrong) <= SHOWN_CASES:
            print(text, file=sys.stderr, flush=True)

    @property
    def code(self) -> int:
        """Exit code: 1 when anything is wrong or hung."""
        return int(bool(self.wrong or self.hung))

    def summary(self, name: str) -> dict[str, Any]:
        """What the summary line says."""
        return {
            "attack": name,
            "seed": self.seed,
            "size": self.size,
            "done": self.done,
            "wrong": len(self.wrong),
            "hung": len(self.hung),
            "skipped": self.skipped,
            "seconds": round(time.monotonic() - self.started, 1),
            "sums": dict(sorted(self.sums.items())),
            "worst": {what: list(pair) for what, pair in sorted(self.worst.items())},
            "cases": (self.hung + self.wrong)[:SHOWN_CASES],
            "rows": self.rows,
        }

    def print_summary(self, name: str) -> None:
        """One line of JSON on standard output."""
        print(json.dumps(self.summary(name)), flush=True)


def run_attack(name: str, seed: int, size: int) -> Tally:
    """Run the attack of this name to its end, or skip it."""
    tally = Tally(seed, size)
    run_into(tally, name)
    return tally


def run_into(tally: Tally, name: str) -> None:
    """Run the attack of this name with a tally."""
    try:
        import_module(f"tests.long.{name}").run(tally)
    except Skipped as reason:
        tally.skipped = str(reason)


def needed(module: str) -> Any:
    """An optional module.

    Raises
    ------
    Skipped : it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise Skipped(f"{module} is not installed: {error}") from None


def watch(name: str, tally: Tally) -> threading.Event:
    """End this process when a case hangs, with its summary and the stacks of all threads; until the event is set."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(1):
            if time.monotonic() - tally.last_sign > HANG_SECONDS:
                tally.hung.append(f"case {tally.case}: no end after {HANG_SECONDS:g} s")
                faulthandler.dump_traceback()
                tally.print_summary(name)
                os._exit(1)

    threading.Thread(target=look, daemon=True).start()
    return ended


def write(folder: Path, name: str, tally: Tally) -> None:
    """Write the summary with everything that is wrong, and plots of what was recorded on the way."""
    stem = f"{name}-{tally.seed}"
    write_json(folder, f"{stem}.json", {**tally.summary(name), "cases": tally.hung + tally.wrong})
    if not tally.rows or find_spec("matplotlib") is None:
        return
    along = next(iter(tally.rows[0]))
    x = [float(row[along]) for row in tally.rows]
    plots = []
    for unit in ("MiB", "us"):
        lines = {what: (x, [row[what] for row in tally.rows]) for what in tally.rows[0] if what.endswith(unit)}
        if lines:
            plots.append(Plot(unit, along, unit, lines, log_x=False, log_y=False))
    Result(plots=plots).write(folder, f"{stem}-plots")
