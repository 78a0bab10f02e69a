"""Progress: nothing for quick work, a rewritten line on a terminal, a rare line in a log."""

from __future__ import annotations

import io
import sys

import pytest

from llmask.cli import progress as module
from llmask.cli.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def report_every_tenth_of_a_second(clock: Clock, n_seconds: int) -> None:
    with Progress() as progress:
        for step in range(10 * n_seconds):
            clock.now = 100.0 + step / 10
            progress(f"step {step}")


def test_work_of_less_than_a_second_is_silent(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        report_every_tenth_of_a_second(clock, 1)
        assert stream.getvalue() == ""


def test_a_log_gets_a_line_every_ten_seconds(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    report_every_tenth_of_a_second(clock, 25)
    assert stream.getvalue() == "llmask: step 10\nllmask: step 110\nllmask: step 210\n"


def test_a_terminal_gets_one_line_that_is_removed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    report_every_tenth_of_a_second(clock, 2)
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[0] == lines[-1] == ""
    assert lines[1] == "llmask: step 10"
    assert 4 <= len(lines[1:-1]) <= 5
