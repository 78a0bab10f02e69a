"""Every figure of `bench.startup` is one that its programs print, and columns stay side by side."""

from __future__ import annotations

import contextlib
import io

import pytest

from bench import startup
from bench.vocabularies import SOURCES

PATH = SOURCES["default"].path


def seconds_of(code: str | None) -> list[float]:
    assert code is not None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "program", "exec"), {})
    return [float(line) for line in out.getvalue().splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("package", ["llmask", "llguidance"])
@pytest.mark.parametrize("steps", [startup.TO_MASK, *startup.FIGURES.values()])
def test_a_program_prints_the_time_of_each_step(package: str, steps: tuple[str, ...]) -> None:
    if package == startup.PEER:
        for name in startup.PEER_NEEDS:
            pytest.importorskip(name)
        if "budget" in steps:
            assert startup.program(package, steps, PATH) is None
            return
    seconds = seconds_of(startup.program(package, steps, PATH))
    assert len(seconds) == 1 + len(steps)
    assert min(seconds) > 0


def test_the_table_has_a_cell_for_every_figure_of_every_column() -> None:
    shown = startup.table({"a": {"import": 0.0051, "whole": 1.234}, "b": {"whole": 0.9}})
    assert shown.splitlines() == [
        "| | a | b |",
        "|---|---:|---:|",
        "| import | 5.1 ms | - |",
        "| whole | 1.23 s | 900 ms |",
    ]
