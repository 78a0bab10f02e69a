"""The name of the distribution is not that of the package: nobody is told to install what another project is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

import llmask
from llmask.errors import DISTRIBUTION, how_to_install

from .test_readme import ROOT

TEXTS = {".md", ".py", ".toml", ".txt", ".cff", ".yml", ".json", ".cfg", ""}
FOLDERS = ("llmask", "docs", "tests", "bench", "tools", "examples", "grammars", ".ci")
INSTALLERS = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx|poetry|pdm|conda|mamba)\b[^\n|;&`]*?\b(?:install|add|run|download)\b([^\n|;&`#]*)"
)
OTHER = re.compile(r"llmask(\[[\w,\s-]*\])?([=<>~!]=?[\w.*]*)?")


def texts() -> Iterator[Path]:
    """Every file of the project that people read, this one aside."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in TEXTS)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXTS and "__pycache__" not in path.parts and path != Path(__file__):
                yield path


def wrong_names(text: str) -> list[str]:
    """What a text tells to install that is not ours."""
    named = (word.strip("'\"\\(),:.") for found in INSTALLERS.finditer(text) for word in found[1].split())
    return [word for word in named if OTHER.fullmatch(word)]


@pytest.mark.parametrize(
    "line",
    [
        "pip install llmask", "pip install -U 'llmask[bench]'", "pip3 install vllm llmask", "uv add llmask>=0.2",
        'run pip install "llmask[schema,bench]".', "`uv pip install llmask`", "pipx run llmask",
        "pip install numpy 'llmask==1.0', then",
    ],
)  # fmt: skip
def test_an_instruction_with_the_other_name_is_found(line: str) -> None:
    assert wrong_names(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install . && llmask generate", "pip install '.[test]'  # in a checkout of llmask",
        "pip install llmask-engine", "pip install 'llmask-engine[bench]'", "pip uninstall llmask llmask-engine",
        "pip install vllm .  # llmask is there",
    ],
)  # fmt: skip
def test_other_lines_are_left_alone(line: str) -> None:
    assert not wrong_names(line)


def test_nobody_is_told_to_install_another_project() -> None:
    assert {
        str(path.relative_to(ROOT)): found for path in texts() if (found := wrong_names(path.read_text("utf-8")))
    } == {}


def test_extras_that_messages_name_are_those_of_the_project() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'name = "{DISTRIBUTION}"' in project
    assert how_to_install("bench") == "pip install 'llmask-engine[bench]'"
    named = {
        extra
        for path in (ROOT / "llmask").rglob("*.py")
        for extra in re.findall(r"""how_to_install\(["'](.*?)["']\)""", path.read_text(encoding="utf-8"))
    }
    assert named
    assert [extra for extra in named if not re.search(rf"^{extra} = \[", project, re.MULTILINE)] == []


def test_what_is_installed_has_the_name_and_the_version() -> None:
    try:
        installed = metadata(DISTRIBUTION)
    except PackageNotFoundError:
        pytest.skip("the project is not installed: pip install '.[test]'")
    assert installed["Version"] == llmask.__version__
