"""`llmask bench`: a table from a checkout, and clear words where it cannot work."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from llmask.cli import main
from llmask.cli.bench import load_bench, reference_of
from llmask.errors import LlmaskError
from tests.processes import fresh_python

# A whole measurement with as little as there is: two of our own cases, one run, no shared data.
SMALLEST = ("bench", "--against", "", "--limit", "2", "--repeat", "1")


def run(root: Path, shared: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return fresh_python("-m", "llmask", *arguments, folder=root, LLMASK_SHARED=str(shared), **variables)


@pytest.mark.long
def test_without_shared_data_our_own_cases_are_measured_and_without_matplotlib_the_table_still_comes(
    project_root: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "modules" / "matplotlib.py"
    hidden.parent.mkdir()
    hidden.write_text("raise ImportError('hidden by the test')\n")
    output = tmp_path / "results"
    arguments = (*SMALLEST, "--slowest", "1", "--output", str(output))
    done = run(project_root, tmp_path, *arguments, PYTHONPATH=str(hidden.parent))
    assert done.returncode == 0, done.stderr
    assert "the project's own cases are measured" in done.stderr
    assert "no plots: matplotlib is not installed; pip install 'llmask-engine[bench]'" in done.stderr
    assert "(100.0 %); 0 schemas not compiled" in done.stdout
    assert "2 of 42 of the project's own cases, on a warm store (of llmask: each ran once before)" in done.stdout
    assert "TBM us p99.9" in done.stdout
    assert "slowest steps of llmask" in done.stdout
    results = json.loads((output / "results.json").read_text())
    assert results["figures"]["llmask"]["schemas timed"] == 2
    assert [path.name for path in sorted((output / "raw").iterdir())] == ["llmask-run1.jsonl.gz"]


def test_a_vocabulary_that_the_cases_are_not_made_for_is_refused(project_root: Path, tmp_path: Path) -> None:
    done = run(project_root, tmp_path, *SMALLEST, "--vocabulary", "qwen2")
    assert done.returncode == 1
    assert "tokenized for the vocabulary default, not qwen2" in done.stderr
    assert "LLMASK_SHARED" in done.stderr


def test_an_unknown_engine_is_refused_with_the_names_of_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--against", "outlines"]) == 1
    own = "llmask, llmask-warm, llmask-documents, llmask-ahead"
    known = f"{own}, llguidance, xgrammar, outlines-core, glrmask, glrmask-fast"
    expected = f'there is no engine "outlines"\n  the engines are {known}\n'
    assert capsys.readouterr().err.endswith(expected)


@pytest.mark.parametrize("name", ["glrmask", "glrmask-fast"])
def test_white_space_that_an_engine_cannot_write_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--against", name, "--whitespace", "compact"]) == 1
    expected = (
        f"{name} has no option for white space and cannot write compact documents\n"
        f"  leave {name} out, or --whitespace compact\n"
    )
    assert capsys.readouterr().err.endswith(expected)


def test_ratios_are_to_llguidance_or_to_the_first_engine_that_is_named() -> None:
    assert reference_of(["xgrammar", "llguidance"]) == "llguidance"
    assert reference_of(["glrmask", "xgrammar"]) == "glrmask"


def test_numbers_below_one_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--repeat", "0"]) == 1
    assert "--repeat is a number of at least 1, not 0" in capsys.readouterr().err


def test_an_installed_package_says_where_the_benchmark_is(tmp_path: Path) -> None:
    with pytest.raises(LlmaskError) as caught:
        load_bench(tmp_path)
    assert str(caught.value) == (
        "the benchmark is not part of the installed package\n"
        f"  at {tmp_path / 'bench'} is not there\n"
        "  run `llmask bench` from a checkout of the project, with pip install -e '.[bench]'"
    )
