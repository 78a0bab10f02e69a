"""The builder's command; that what it builds is what lies here is checked where its pins are: `.ci/run`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from llmask.prebuilt import build


def test_nothing_is_built_with_other_versions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "PINS", {"python": "2.7", "numpy": build._here("numpy"), "no-such-package": "1"})
    assert build.main([]) == build.PINS_DIFFER
    assert "python 2.7, no-such-package 1;" in capsys.readouterr().err


def test_libraries_are_compared_byte_by_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    (tmp_path / "a.so").write_bytes(b"one")
    assert build._compare({"a.so": b"one"}) == 0
    assert build._compare({"a.so": b"two"}) == build.NOT_THE_SAME
    assert build._compare({"a.so": b"one", "b.so": b""}) == build.NOT_THE_SAME
    assert capsys.readouterr().err.splitlines() == [
        "a.so: the same, byte for byte",
        "a.so: differs from what was built now",
        "a.so: the same, byte for byte",
        "b.so: differs from what was built now",
    ]


def test_code_for_another_platform_names_it() -> None:
    code = 'source_filename = "a"\ntarget datalayout = "e-here"\ntarget triple = "here"\n\ndeclare void @f()'
    assert build._for_platform(code, "there", "e-there").split("\n")[1:3] == [
        'target datalayout = "e-there"',
        'target triple = "there"',
    ]


def test_settings_of_numba_do_not_reach_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    # with NUMBA_BOUNDSCHECK=1 the libraries were others
    found: list[dict[str, str]] = []

    def run(command: list[str], env: dict[str, str], check: bool) -> subprocess.CompletedProcess[str]:
        found.append(env)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(build, "PINS", {})
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    monkeypatch.setattr(build.subprocess, "run", run)
    assert build.main(["--check"]) == 0
    settings = {name: value for name, value in found[0].items() if name.startswith(("NUMBA_", "LLMASK_"))}
    assert settings == build.FRONT_END
