"""The site of docs/, built once for the tests of it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

NEEDED = ("mkdocs", "material", "mkdocstrings")


@pytest.fixture(scope="session")
def site(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, which is built without a warning."""
    for module in NEEDED:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=project_root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return folder


def loaded(name: str) -> ModuleType:
    """A module of docs/ or of a folder there, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name.replace('/', '_')}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
