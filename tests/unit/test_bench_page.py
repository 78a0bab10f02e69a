"""The README's table of engines is the recorded measurement, and counts what its rows say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import page
from bench.report import VERDICTS


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


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1,234"), (99.96, "100"), (99.94, "99.9"), (9.96, "10.0"), (9.94, "9.9"), (0.284, "0.28")],
)
def test_numbers_have_two_or_three_digits(value: float, text: str) -> None:
    assert page.written(value) == text
