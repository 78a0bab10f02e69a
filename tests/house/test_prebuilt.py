"""The libraries in llmask/prebuilt are those of the sources beside them."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from llmask.kernels.machine import prebuilt
from llmask.prebuilt.build import PINS, TARGETS

MEND = "the kernels have changed: run `python -m llmask.prebuilt.build`"


def manifest() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((prebuilt.FOLDER / prebuilt.MANIFEST).read_bytes())
    return found


def declared_doors() -> set[str]:
    found = []
    for path in prebuilt.KERNELS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                calls = [name.func for name in node.decorator_list if isinstance(name, ast.Call)]
                found += [node.name for call in calls if isinstance(call, ast.Name) and call.id == "door"]
    assert len(found) == len({*found}), "two doors have the same name"
    return {*found}


def test_libraries_are_of_these_sources() -> None:
    assert manifest()["sources"] == prebuilt.sources_digest(), MEND
    assert manifest()["built_with"] == PINS
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in prebuilt.FOLDER.glob("*.so")}
    assert manifest()["libraries"] == digests
    assert {*digests} == {f"{target}.so" for target in TARGETS}


def test_a_library_has_the_doors_that_are_declared() -> None:
    doors = prebuilt.find()
    if doors is None:
        pytest.skip(f"no library for {prebuilt.target()}")
    assert {*doors} == declared_doors()


def test_a_library_holds_no_path_of_the_machine_that_built_it() -> None:
    for path in prebuilt.FOLDER.glob("*.so"):
        assert not re.findall(rb"[\w./-]*/[\w-]+\.py", path.read_bytes())


def test_a_library_runs_on_every_processor_of_its_target() -> None:
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump is not installed")
    command = [objdump, "-d", str(prebuilt.FOLDER / "linux-x86_64.so")]
    code = subprocess.run(command, capture_output=True, text=True, check=False)
    if code.returncode != 0:
        pytest.skip("objdump of another platform")
    assert "call" in code.stdout
    assert not re.findall(r"%[yz]mm\d|\bv(?:mov|add|p)\w+ ", code.stdout), "code for AVX"


@pytest.mark.long
def test_a_document_is_written_without_numba(project_root: Path) -> None:
    code = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
from llmask.cli import main
raise SystemExit(main(["generate", "--schema", "grammars/person.schema.json", "--seed", "1"]))
"""
    if prebuilt.find() is None:
        pytest.skip(f"no library for {prebuilt.target()}")
    run = [sys.executable, "-c", code]
    variables = {name: value for name, value in os.environ.items() if name != "LLMASK_PREBUILT"}
    done = subprocess.run(run, cwd=project_root, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"]
    progress = "llmask: document 1 of 1"  # what a busy machine is told after a second
    assert [line for line in done.stderr.splitlines() if not line.startswith(progress)] == []
