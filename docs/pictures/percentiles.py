"""Percentiles of engines beside each other, of what `bench/recorded/` keeps of a run of `llmask bench`.

As in `bench/plot.py`, which draws all points of a run, the horizontal axis spreads the tail: each step to the right
leaves a tenth of the values (90, 99, 99.9 %), and microseconds are on a log axis. The marks are the percentiles that
were recorded, the last one is the largest value; the lines between them are straight.

In: results.json of a run. Out: the picture. Cost: none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from .svg import MARGIN, WIDTH, Picture

RECORDED = Path(__file__).resolve().parents[2] / "bench" / "recorded"
MEASURES = (("TBM us", "a mask and its token"), ("TTFM us", "compiling and the first mask"))
SHARES = ("p25", "p50", "p75", "p90", "p95", "p99", "p99.9")
FIRST_SHARE = 0.25
TICKS = (50, 90, 99, 99.9, 99.99, 99.999)
MARKS = {
    **dict.fromkeys(("llmask", "llmask-documents"), "circle"),
    "llguidance": "square",
    "xgrammar": "triangle",
    "glrmask": "diamond",
}
NAMES = {"xgrammar": "XGrammar", "llmask-documents": "... ahead"}  # documents that are read ahead
UNITS = ((1_000_000, "s"), (1_000, "ms"), (1, "µs"))
LEFT = 62  # of the axes
RIGHT = WIDTH - 88  # names of the curves come after it
HEIGHT = 190
LEAST_STEP = 15  # between two names


class Curve(NamedTuple):
    """One engine: shares of the values, and microseconds at each."""

    name: str
    points: list[tuple[float, float]]


def curves(figures: dict[str, Any], measure: str) -> list[Curve]:
    """The curves of a measure; the largest of n values is at the share (n - 1/2) / n."""
    found = []
    for name, by_measure in figures.items():
        values = by_measure[measure]
        points = [(float(share[1:]) / 100, values[share]) for share in SHARES if share in values]
        last = 1 - 0.5 / values["n"]
        found.append(Curve(name, [point for point in points if point[0] < last] + [(last, values["max"])]))
    return found


def drawn(file: str) -> str:
    """The picture of a run.

    Parameters
    ----------
    file : name of its results in bench/recorded/.
    """
    results = json.loads((RECORDED / file).read_text(encoding="utf-8"))
    figures = results["figures"]
    names = [f"{NAMES.get(name, name)} {results['versions'][name]}" for name in figures]
    n_timed = min(values["schemas timed"] for values in figures.values())
    said = "; ".join(_said(figures, measure, title) for measure, title in MEASURES)
    picture = Picture(
        f"Percentiles of {len(names)} engines over {n_timed:,} schemas",
        f"Curves of {', '.join(names)} on logarithmic axes, from the 25th percentile to the largest value. {said}.",
    )
    top = 16.0
    for measure, title in MEASURES:
        top = _panel(picture, top, title, curves(figures, measure)) + 20
    return picture.written(top - 6)


def _said(figures: dict[str, Any], measure: str, title: str) -> str:
    """Three percentiles of each engine, in words."""
    parts = [
        f"{NAMES.get(name, name)} {', '.join(_time(by_measure[measure][share]) for share in ('p50', 'p99', 'max'))}"
        for name, by_measure in figures.items()
    ]
    return f"{title}, median, 99th percentile and largest: {'; '.join(parts)}"


def _panel(picture: Picture, top: float, title: str, shown: list[Curve]) -> float:
    """A measure. Where it ends."""
    values = [value for curve in shown for _, value in curve.points]
    least, most = math.floor(math.log10(min(values)) * 2) / 2, math.log10(max(values)) + 0.1
    first, last = _nines(FIRST_SHARE), max(_nines(share) for curve in shown for share, _ in curve.points)
    base = top + 28 + HEIGHT

    def place(share: float, value: float) -> tuple[float, float]:
        x = LEFT + (_nines(share) - first) / (last - first) * (RIGHT - LEFT)
        return x, base - (math.log10(value) - least) / (most - least) * HEIGHT

    picture.text(MARGIN, top + 14, title, size=13, is_bold=True)
    for decade in range(math.ceil(least), math.floor(most) + 1):
        y = place(0.5, 10**decade)[1]
        picture.curve(((LEFT, y), (RIGHT, y)), "grid", 1)
        picture.text(LEFT - 6, y + 4, _time(10**decade), "soft", 11.5, "end")
    for tick in TICKS:
        x = place(tick / 100, 1)[0]
        if x <= RIGHT:
            picture.curve(((x, top + 28), (x, base)), "grid", 1)
            picture.text(x, base + 15, f"{tick:g}", "soft", 11.5, "middle")
    picture.text(RIGHT + 10, base + 15, "% of values", "soft", 11.5)
    ends = []
    for curve in shown:
        points = [place(share, value) for share, value in curve.points]
        picture.curve(points, curve.name, 2.6 if curve.name == "llmask" else 1.8)
        for x, y in points:
            picture.mark(x, y, MARKS[curve.name], curve.name)
        ends.append((points[-1][1], curve.name))
    for y, name in _apart(sorted(ends), base):
        picture.text(RIGHT + 8, y + 4, NAMES.get(name, name), name, is_bold=True)
    return base + 20


def _apart(ends: list[tuple[float, str]], base: float) -> Iterator[tuple[float, str]]:
    """Names with their heights, moved so that none is over another one."""
    heights = [y for y, _ in ends]
    for upper, lower in pairwise(range(len(heights))):
        heights[lower] = max(heights[lower], heights[upper] + LEAST_STEP)
    for lower in reversed(range(len(heights))):
        most = base if lower == len(heights) - 1 else heights[lower + 1] - LEAST_STEP
        heights[lower] = min(heights[lower], most)
    return zip(heights, (name for _, name in ends), strict=True)


def _nines(share: float) -> float:
    """Place of a percentile on the axis: 1 for 90 %, 2 for 99 %."""
    return -math.log10(1 - share)


def _time(microseconds: float) -> str:
    """A time with its unit, two digits of it where it is small."""
    unit, name = next((one for one in UNITS if microseconds >= one[0]), UNITS[-1])
    value = microseconds / unit
    return f"{value:.0f} {name}" if value >= 9.95 or value == int(value) else f"{value:.1f} {name}"
