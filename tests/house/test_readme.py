"""What the README shows is true: its Python code runs, its commands exist, its links to files lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_code_runs(number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


def test_there_is_python_code_to_run() -> None:
    assert BLOCKS


@pytest.mark.parametrize("document", ["README.md", "tests/README.md", "bench/README.md"])
def test_links_to_files_lead_somewhere(document: str) -> None:
    path = ROOT / document
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []
