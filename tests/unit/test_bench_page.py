"""The README's table of engines is the recorded measurement, and counts what its rows say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import page
from bench.report import VERDICTS
from llmask.errors import LlmaskError


def engine(scale: float, **verdicts: int) -> dict[str, Any]:
    """Figures of an engine whose every time is `scale` microseconds."""
    shares = {"mean": scale, "p50": scale, "p90": scale, "p99": scale, "p99.9": scale}
    counts = dict.fromkeys(VERDICTS, 0) | {name.replace("_", " "): count for name, count in verdicts.items()}
    return {"TBM us": shares, "TTFM us": shares, "verdicts": counts, "schemas": 9, "schemas timed": 5}


def test_the_table_of_the_readme_is_what_was_recorded(project_root: Path) -> None:
    results, requests = (json.loads(path.read_text(encoding="utf-8")) for path in (page.RESULTS, page.REQUESTS))
    assert page.table(results, requests) in (project_root / "README.md").read_text(encoding="utf-8")


def test_engines_are_columns_and_llmask_is_the_first() -> None:
    figures = {"xgrammar": engine(50, compile_error=2, timeout=1, crash=1), "llmask": engine(20, invalid_accepted=3)}
    table = page.table({"figures": figures, "versions": {"llmask": "0.1.0", "xgrammar": "0.2.8"}})
    lines = table.splitlines()
    assert lines[0] == "| 9 schemas; times over the 5 that all compile | llmask 0.1.0 | XGrammar 0.2.8 |"
    assert lines[2] == "| **ready**: compiling and the first mask, p50, ms | 0.02 | 0.05 (2.5×) |"
    assert "| a mask and its token, mean, µs | 20.0 | 50.0 (2.5×) |" in lines
    assert "| **refused**: schemas without a grammar | 0 | 2 |" in lines
    assert "| **unsound**: an invalid document is accepted | 3 | 0 |" in lines
    assert "| no result: a crash, or out of time | 0 | 2 |" in lines


def test_batches_are_rows_and_an_engine_may_lack_them() -> None:
    figures = {name: engine(20) for name in ("llmask", "one", "two")}
    batch = {"a token us": 4.0, "with ahead us": 5.0, "step share p99": 0.2, "step share max": 0.5}
    versions = dict.fromkeys(figures, "1")
    requests = {"64": {"llmask": batch, "one": {name: 2 * value for name, value in batch.items()}}}
    lines = page.table({"figures": figures, "versions": versions}, requests).splitlines()
    assert "| **a token** in 64 sequences, mean, µs | 4 | 8 (2×) | - |" in lines
    assert "| ... with what is built beside it | 5 | 10.0 (2×) | - |" in lines
    assert "| **the worst step** of 64, p99, % of the model's | 20.0 | 40.0 (2×) | - |" in lines
    assert "| ... the longest | 50.0 | 100 (2×) | - |" in lines


def test_pairs_are_each_engine_beside_llmask() -> None:
    def figures(scale: float, n: int) -> dict[str, Any]:
        shares = {"mean": scale, "p50": scale, "p90": scale, "p99": scale, "p99.9": scale, "max": 3 * scale}
        return {"TBM us": shares, "TTFM us": shares, "schemas timed": n}

    both = {"one": {"one": figures(5, 7), "llmask": figures(10, 7)}, "xgrammar": {"xgrammar": {}, "llmask": {}}}
    for name in both["xgrammar"]:
        both["xgrammar"][name] = {"TBM us": {"n": 0}, "TTFM us": {"n": 0}, "schemas timed": 0}
    results = {"pairs": both, "versions": {"one": "1", "xgrammar": "2", "llmask": "3"}}
    lines = page.pairs(results).splitlines()
    assert lines[0].startswith("| µs: llmask / engine (times llmask's) | schemas | TBM mean | TBM p50 | TBM p90 |")
    assert lines[0].endswith("| TBM max | TTFM p50 | TTFM p90 | TTFM p99 | TTFM p99.9 | TTFM max |")
    assert lines[2].startswith("| one 1 | 7 | 10.0 / 5 (0.5×) |")
    assert lines[2].endswith("| 30.0 / 15.0 (0.5×) |")
    assert lines[3].startswith("| XGrammar 2 | 0 | - | - |")
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize("found", [{}, {"llmask": {"llmask": {}, "one": {}}}, {"two": {"two": {}, "one": {}}}])
def test_pairs_with_another_reference_are_refused(found: dict[str, Any]) -> None:
    with pytest.raises(LlmaskError, match="no pairs of llmask") as caught:
        page.pairs({"pairs": found, "versions": {}})
    assert "--reference llmask" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1,234"), (99.96, "100"), (99.94, "99.9"), (9.96, "10.0"), (9.94, "9.9"), (0.284, "0.28")],
)
def test_numbers_have_two_or_three_digits(value: float, text: str) -> None:
    assert page.written(value) == text
