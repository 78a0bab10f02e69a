"""`llmask warm-up` compiles every kernel and says so."""

from __future__ import annotations

import re

import pytest

from llmask.cli import main


def test_kernels_are_compiled_and_the_time_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up"]) == 0
    captured = capfd.readouterr()
    assert captured.out == ""
    assert re.fullmatch(
        r"llmask: all kernels are ready: (?:prebuilt|compiled into|loaded from).* \(\d+\.\d s\)",
        captured.err.splitlines()[-1],
    )
