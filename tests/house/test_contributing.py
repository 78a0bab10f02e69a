"""CONTRIBUTING.md tells the truth: its diff applies and passes the tests, its paths are there; CITATION.cff fits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import llmask

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TESTED = ("tests/unit/frontends/json_schema/test_every_keyword.py", "tests/unit/matching/test_explanation.py")


def apply_diff(folder: Path, *options: str) -> None:
    """Apply the diffs of the page to a copy of the project."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    diffs = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(diffs) == 1
    done = subprocess.run(
        ["git", "apply", *options, "-"], cwd=folder, input=diffs[0], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, f"{done.stderr}\nmake the change by hand, and put `git diff -U1` into the page"


def test_the_diff_applies() -> None:
    apply_diff(ROOT, "--check")


@pytest.mark.slow
def test_the_keyword_of_the_diff_passes_the_tests(tmp_path: Path) -> None:
    for name in ("llmask", "tests", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTED]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    for is_changed in (False, True):
        if is_changed:
            apply_diff(tmp_path)
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stdout
        assert ("startsWith" in (tmp_path / TESTED[0]).with_name("keyword_cases.py").read_text("utf-8")) == is_changed


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "tests/README.md", "examples/README.md", "grammars/README.md"])
def test_paths_that_a_page_names_are_there(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    paths = re.findall(r"(?<![\w/.])((?:llmask|tests|docs|examples|grammars|bench|tools|\.ci)/[\w./*-]*)", text)
    named = {path.rstrip(".") for path in paths if "NAME" not in path}
    assert [path for path in sorted(named) if not [*ROOT.glob(path.rstrip("/"))] and path != "llmask/grammars"] == []


def test_the_citation_is_that_of_the_package() -> None:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed: pip install '.[test]'")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert cited["version"] == llmask.__version__
    assert f'name = "{cited["title"]}-engine"' in project
    assert f'license = "{cited["license"]}"' in project
    assert [f'authors = [{{ name = "{author["name"]}" }}]' in project for author in cited["authors"]] == [True]
    assert all(f'"{keyword}"' in project for keyword in cited["keywords"])
