"""What tests run beside themselves: fresh interpreters that import the checkout, and threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.conftest import ROOT


def fresh_python(
    *arguments: str, folder: Path = ROOT, given: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with such arguments, in a folder, with a text as its input, and more variables."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )


def side_by_side(work: Callable[[Any], object], values: Iterable[Any]) -> None:
    """Call `work` with each value in a thread of its own, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
