"""Figures of the benchmark (bench/report.py, bench/masks.py, bench/plot.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bench.masks import digest
from bench.report import combine, share_compiled, spread, summarize, table


def line(row_id: str, ttfm: int, tbm: list[list[int]]) -> dict[str, object]:
    return {"id": row_id, "verdict": "passing", "ttfm_ns": ttfm, "tbm_ns": tbm, "wrong": {}, "max_rss_mb": 10}


RUNS = [
    [line("a", 9000, [[1000, 2000], [3000]]), {"id": "b", "verdict": "compile error", "ttfm_ns": 5}],
    [line("a", 8000, [[4000, 1000], [2000]]), {"id": "b", "verdict": "compile error", "ttfm_ns": 5}],
]


def test_the_smallest_time_of_each_position_counts() -> None:
    measured = combine(RUNS)
    assert measured.timed["a"].ttfm_us == 8
    assert measured.timed["a"].tbm_us == [[1, 1], [2]]
    assert measured.timed.keys() == {"a"}
    assert measured.verdicts == {"a": "passing", "b": "compile error"}


def test_runs_that_did_different_things_are_not_compared() -> None:
    other = [line("a", 8000, [[4000], [2000]]), RUNS[0][1]]
    measured = combine([RUNS[0], other])
    assert measured.timed == {}
    assert measured.unsteady == ["a"]
    lost = [{"id": "a", "verdict": "timeout"}, RUNS[0][1]]
    assert combine([RUNS[0], lost]).unsteady == ["a"]


def test_figures_and_table() -> None:
    measured = combine(RUNS)
    figures = summarize(measured, RUNS, {"a"})
    assert figures["TBM us"]["n"] == 3
    assert figures["TBM us"]["max"] == 2
    assert figures["TBM us, mean of each run"] == [2.0, pytest.approx(7 / 3)]
    assert figures["verdicts"]["compile error"] == 1
    text = table({"one": figures, "two": figures}, "two")
    assert "one/ref" in text
    assert "1.00" in text
    assert "/ref" not in table({"one": figures}, "two")
    assert share_compiled(measured, measured) == (1, 1)
    assert spread([]) == {"n": 0}


def test_a_digest_counts_the_bits_of_the_vocabulary_only() -> None:
    words = np.array([0b1011, -1], dtype=np.int32)
    assert digest(words, 32).startswith("3 ")
    assert digest(words, 34).startswith("5 ")
    assert digest(words, 33) == digest(np.array([0b1011, 1], dtype=np.int32), 33)


def test_a_recorded_measurement_gives_its_table_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bench.maskbench import Plan, evaluate
    from bench.replay import load

    plan = Plan(engines=("one", "two"), reference="two", repeat=2, output=tmp_path)
    facts = {
        "plan": plan._asdict() | {"output": str(tmp_path)},
        "versions": {"one": "1", "two": "2"},
        "machine": {"python": "3", "processor": "p"},
        "digests": {},
        "is_wrong": False,
    }
    (tmp_path / "raw").mkdir()
    for name in plan.engines:
        for turn, results in enumerate(RUNS):
            with gzip.open(tmp_path / "raw" / f"{name}-run{turn + 1}.jsonl.gz", "wt") as lines:
                lines.write("".join(json.dumps(result) + "\n" for result in results))
    evaluate(plan, facts, dict.fromkeys(plan.engines, RUNS))
    recorded = capsys.readouterr().out
    known, known_facts, runs = load(tmp_path, [])
    evaluate(known, known_facts, runs)
    assert capsys.readouterr().out == recorded
    assert "times over the 1 schemas that all engines compiled" in recorded
    assert "one compiles 1 of the 1 schemas that two does (100.00 %)" in recorded
    assert json.loads((tmp_path / "results.json").read_text())["slowest"]["one"][0] == [2.0, "a", 1, 0]
    assert load(tmp_path, ["two"], match="b")[2] == {"two": [[results[1]] for results in RUNS]}


def test_a_wrong_engine_cannot_look_fast(capsys: pytest.CaptureFixture[str]) -> None:
    from bench.digests import Verification
    from bench.maskbench import Plan, evaluate

    found = Verification(10, 9, 0, ["a document 0 position 3: 7 00 instead of 8 00"])
    assert not found.is_complete
    assert str(found) == (
        "9 of 10 masks as expected (90.0 %); 0 schemas not compiled; "
        "expected is llmask's reading, from which others differ on purpose, too (bench/README.md)"
    )
    facts = {
        "versions": {"llmask": "1"},
        "machine": {"python": "3", "processor": "p"},
        "digests": {"llmask": found._asdict() | {"text": str(found)}},
        "is_wrong": True,
    }
    evaluate(Plan(engines=("llmask",)), facts, {"llmask": RUNS})
    assert (
        "llmask IS WRONG, its times mean nothing:\na document 0 position 3: 7 00 instead of 8 00"
        in capsys.readouterr().out
    )
