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


def test_a_process_has_the_environment_of_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(startup.PREBUILT, "7")
    code = f"import os; print(os.environ.get({startup.PREBUILT!r}))"
    assert [startup.run(["-c", code], column)[1].strip() for column in ({}, {startup.PREBUILT: "0"})] == ["None", "0"]


@pytest.mark.parametrize(
    ("built", "names"),
    [
        ((False, False), ["compiled (JIT)", "llguidance"]),
        ((True, False), ["prebuilt", "compiled (JIT)", "llguidance"]),
    ],
)
def test_what_a_process_used_is_what_it_says(
    monkeypatch: pytest.MonkeyPatch, built: tuple[bool, bool], names: list[str]
) -> None:
    monkeypatch.setattr(startup, "run", lambda arguments, variables: (0.0, str(built[startup.PREBUILT in variables])))
    assert [column.name for column in startup.columns(peer=True)] == names
    assert [column.name for column in startup.columns(peer=False)] == names[:-1]


def test_the_compiler_is_never_what_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "run", lambda arguments, variables: (0.0, "True"))
    with pytest.raises(RuntimeError, match="LLMASK_PREBUILT=0 loads prebuilt kernels all the same"):
        startup.columns(peer=False)


def test_medians_are_taken_of_fresh_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[list[str], dict[str, str]]] = []

    def run(arguments: list[str], variables: dict[str, str]) -> tuple[float, str]:
        runs.append((arguments, variables))
        n_lines = arguments[-1].count("print(")
        return float(len(runs)), "\n".join(str(len(runs) + number / 10) for number in range(n_lines))

    monkeypatch.setattr(startup, "run", run)
    column = startup.Column("x", "llmask", {startup.PREBUILT: "0"})
    found = startup.measure(column, PATH, 3, 1, lambda text: None)
    assert found["README's command, empty cache"] == 1  # then one that is not counted
    assert found["README's command"] == 4  # of 3, 4, 5; then again one
    assert (found["process start to first mask"], found["import"], found["  of which mask"]) == (8, 8, 8.4)
    assert found["first least_budget"] == len(runs) - 1 + 0.4
    assert len(runs) == 1 + 4 + 4 + 4 * len(startup.FIGURES)
    assert all(variables[startup.PREBUILT] == "0" for _, variables in runs)
    assert [startup.CACHE in variables for _, variables in runs] == [True] + [False] * (len(runs) - 1)
    theirs = startup.measure(startup.Column("y", startup.PEER, {}), PATH, 1, 1, lambda text: None)
    assert {name for name in found if name not in theirs} == {
        "README's command, empty cache",
        "README's command",
        "first least_budget",
    }


def test_the_table_has_a_cell_for_every_figure_of_every_column() -> None:
    shown = startup.table({"a": {"import": 0.0051, "whole": 1.234}, "b": {"whole": 0.9}})
    assert shown.splitlines() == [
        "| | a | b |",
        "|---|---:|---:|",
        "| import | 5.1 ms | - |",
        "| whole | 1.23 s | 900 ms |",
    ]
