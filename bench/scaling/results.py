"""What a study hands back, and how it is written: tables to the terminal, JSON and plots to a folder.

In: a `Result`. Out: text, `<study>.json`, `<study>-<plot>.png` and `.svg`. Cost: a second a plot.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Table:
    """Rows of cells under columns' names."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)

    def text(self) -> str:
        cells = [self.columns, *[[_shown(cell) for cell in row] for row in self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        ]
        return "\n".join([self.title, *("  " + line.rstrip() for line in lines)])


@dataclass
class Plot:
    """Lines over one axis: name -> (x values, y values)."""

    name: str
    x_label: str
    y_label: str
    lines: dict[str, tuple[list[float], list[float]]]
    log_x: bool = True
    log_y: bool = True


@dataclass
class Target:
    """A figure with the bound it should keep."""

    what: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def text(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{'met   ' if self.is_met else 'MISSED'}  {self.what}: {_shown(self.value)} {sign} {_shown(self.bound)}"


@dataclass
class Result:
    """Everything one study found."""

    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join([*(table.text() for table in self.tables), *(target.text() for target in self.targets)])

    def write(self, folder: Path, study: str) -> None:
        """Write JSON and plots; a folder is made where there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        content = asdict(self)
        for target, told in zip(self.targets, content["targets"], strict=True):
            told["is_met"] = target.is_met
        (folder / f"{study}.json").write_text(json.dumps(content, indent=1))
        for plot in self.plots:
            _draw(plot, study, folder / f"{study}-{plot.name}")


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}" if abs(cell) < 1 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else "-" if cell is None else str(cell)


def _draw(plot: Plot, study: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    is_crowded = len(plot.lines) > 4
    figure, axes = pyplot.subplots(figsize=(8.4 if is_crowded else 6.4, 4))
    colours: dict[str, str] = {}  # one for each thing measured: the engine is told by the style of the line
    for name, (x, y) in plot.lines.items():
        engine, _, measured = name.partition(" ")
        colour = colours.setdefault(measured, f"C{len(colours)}")
        style = "--" if engine.startswith("llguidance") else "-"
        axes.plot(x, y, marker="o", markersize=3, label=name, linestyle=style, color=colour)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.set_title(f"{study}: {plot.name}")
    axes.grid(alpha=0.3)
    if is_crowded:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    else:
        axes.legend()
    figure.tight_layout()
    for suffix in (".png", ".svg"):
        figure.savefig(path.with_suffix(suffix))
    pyplot.close(figure)
