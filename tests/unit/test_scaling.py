"""The scaling studies' own parts: drawn input is what it says, results are written, every study is there."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.run import STUDIES
from tests.long.workers import resident_mib


def test_every_study_has_a_module_with_a_function() -> None:
    for name in STUDIES:
        module = importlib.import_module("bench.scaling." + name.replace("-", "_"))
        assert callable(module.study), name


def test_a_result_is_shown_and_written(tmp_path: Path) -> None:
    table = Table("sizes", ["engine", "n", "us"], [["llmask", 1000, 0.5], ["llguidance", 1000, None]])
    result = Result([table], [], [Target("us", 0.5, 1.0), Target("times", 1.0, 1.7, at_least=True)])
    assert result.text().splitlines() == [
        "sizes",
        "  engine          n   us",
        "  llmask      1,000  0.5",
        "  llguidance  1,000    -",
        "met     us: 0.5 <= 1.0",
        "MISSED  times: 1.0 >= 1.7",
    ]
    result.write(tmp_path, "sizes")
    written = json.loads((tmp_path / "sizes.json").read_text())
    assert [target["is_met"] for target in written["targets"]] == [True, False]


def test_a_plot_is_written_in_both_forms(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    Result(plots=[Plot("time", "n", "us", {"llmask": ([1.0, 10.0], [2.0, 3.0])})]).write(tmp_path, "sizes")
    assert {path.suffix for path in tmp_path.glob("sizes-time.*")} == {".png", ".svg"}


def test_resident_memory_is_a_plausible_number_of_mebibytes() -> None:
    assert 10 < resident_mib() < 100_000


def test_a_study_runs_both_engines(shared_dir: Path) -> None:
    for package in ("llguidance", "tiktoken"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    result = importlib.import_module("bench.scaling.batch").study(0.01)
    assert [row[:2] for row in result.tables[0].rows] == [[n, threads] for n in (1, 2, 4) for threads in (1, 2)]
