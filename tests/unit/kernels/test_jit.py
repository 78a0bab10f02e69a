"""Where compiled kernels are kept, and what makes the folder a new one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llmask.kernels import engine, jit


def test_the_folder_is_named_after_the_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LLMASK_CACHE_DIR", str(tmp_path))
    assert jit.cache_folder() == tmp_path / jit.kernels_digest()
    assert len(jit.kernels_digest()) == 20
    assert set(jit.kernels_digest()) <= set("0123456789abcdef")


def test_the_folder_follows_the_users_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LLMASK_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert jit.cache_folder() == tmp_path / "llmask" / jit.kernels_digest()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert jit.cache_folder() == tmp_path / "local" / "llmask" / jit.kernels_digest()


def test_bounds_checks_and_versions_have_folders_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {jit.kernels_digest()}
    for name, value in (("CHECK_BOUNDS", not jit.CHECK_BOUNDS), ("numba", type("Other", (), {"__version__": "0"}))):
        with monkeypatch.context() as patch:
            patch.setattr(jit, name, value)
            digests.add(jit.kernels_digest.__wrapped__())
    assert len(digests) == 3
    assert jit.kernels_digest.__wrapped__() == jit.kernels_digest()


def test_the_digest_is_the_same_in_every_process() -> None:
    code = "from llmask.kernels.jit import kernels_digest; print(kernels_digest(), end='')"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == jit.kernels_digest()


@pytest.mark.parametrize("door", ["build", "fill_mask", "accept", "is_accepting", "free_table", "put_block"])
def test_a_door_has_one_signature(door: str) -> None:
    jit.make_ready("engine")
    dispatcher = getattr(engine, door)
    assert len(dispatcher.signatures) == 1
    assert not dispatcher._can_compile, "another type of argument must be an error, not a compilation"
