"""Percentile curves of all engines: time between masks and time to first mask, microseconds on a log axis.

The horizontal axis spreads the tail: each step to the right leaves a tenth of the values (50, 90, 99, 99.9 %), as the
histograms of latencies do that Gil Tene's HdrHistogram draws. The last point of a curve is the largest value.

In: sorted or unsorted microseconds of each engine. Out: a PNG and an SVG. Cost: two seconds, most of it matplotlib's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TICKS = (0, 50, 90, 99, 99.9, 99.99, 99.999)
N_POINTS = 200
COLORS = {
    "llmask": "#0b6e4f",
    "llguidance": "#c8553d",
    "xgrammar": "#3b5ba5",
    "outlines-core": "#8a6fb0",
    "glrmask": "#b8860b",
    "glrmask-fast": "#6b8e23",
}
FALLBACK_COLOR = "#666666"


def draw(curves: Mapping[str, Mapping[str, Sequence[float]]], title: str, folder: Path) -> list[Path]:
    """Draw a panel for each measure with a curve for each engine.

    Parameters
    ----------
    curves : microseconds by measure and engine.
    title : what was measured.
    folder : gets percentiles.png and percentiles.svg.

    Returns
    -------
    list[Path] : the files.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters as text: a fifth of the size
    from matplotlib import pyplot

    n_engines = max(len(engines) for engines in curves.values())
    size = (6.5 * len(curves), 4.8 + 0.25 * n_engines)
    figure, panels = pyplot.subplots(1, len(curves), figsize=size, squeeze=False, layout="constrained")
    for axes, (measure, engines) in zip(panels[0], curves.items(), strict=True):
        n_largest = max((len(values) for values in engines.values()), default=1)
        for name, values in engines.items():
            if values:
                _draw_curve(axes, name, np.sort(np.array(values)))
        shown = [tick for tick in TICKS if tick == 0 or (1 - tick / 100) * n_largest >= 1]
        axes.set_xticks([_nines(tick / 100) for tick in shown], [f"{tick:g}" for tick in shown])
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axes.set_xlabel("percentile")
        axes.set_ylabel("microseconds")
        axes.set_title(measure)
        axes.grid(True, which="major", color="#cccccc", linewidth=0.8)
        axes.grid(True, which="minor", axis="y", color="#eeeeee", linewidth=0.5)
        axes.set_axisbelow(True)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)  # below, where no curve is
    figure.suptitle(title, fontsize=11)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"percentiles.{kind}" for kind in ("png", "svg")]
    for file in files:
        figure.savefig(file, dpi=150)
    pyplot.close(figure)
    return files


def _draw_curve(axes: Any, name: str, values: np.ndarray) -> None:
    """One engine; the value of rank k of n stands at the share (k - 1/2) / n of all values."""
    n = len(values)
    ends = _nines(0.5 / n), _nines((n - 0.5) / n)
    places = np.linspace(*ends, N_POINTS) if n > 1 else np.array([ends[0]])
    ranks = np.clip(np.round((1 - 10.0**-places) * n - 0.5).astype(int), 0, n - 1)
    color = COLORS.get(name, FALLBACK_COLOR)
    label = f"{name}: n = {n:,}, median {_short(np.median(values))} µs, largest {_short(values[-1])} µs"
    axes.plot(places, values[ranks], color=color, linewidth=2, label=label)
    axes.plot(places[-1:], values[-1:], "o", color=color, markersize=4)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _nines(share: float) -> float:
    """Place of a percentile on the axis: 0 for none, 1 for 90 %, 2 for 99 %."""
    return float(-np.log10(1 - share))
