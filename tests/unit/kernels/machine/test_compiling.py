"""Where compiled kernels are kept, and what makes the folder a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from llmask.kernels import engine
from llmask.kernels.machine import compiling, jit


def test_the_folder_is_named_after_the_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LLMASK_CACHE_DIR", str(tmp_path))
    assert compiling.cache_folder() == tmp_path / compiling.kernels_digest()
    assert len(compiling.kernels_digest()) == 20
    assert set(compiling.kernels_digest()) <= set("0123456789abcdef")


def test_the_folder_follows_the_users_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LLMASK_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert compiling.cache_folder() == tmp_path / "llmask" / compiling.kernels_digest()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert compiling.cache_folder() == tmp_path / "local" / "llmask" / compiling.kernels_digest()


def test_bounds_checks_and_versions_have_folders_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {compiling.kernels_digest()}
    other = type("Other", (), {"__version__": "0"})
    for name, value in (("CHECK_BOUNDS", not compiling.CHECK_BOUNDS), ("numba", other)):
        with monkeypatch.context() as patch:
            patch.setattr(compiling, name, value)
            digests.add(compiling.kernels_digest.__wrapped__())
    assert len(digests) == 3
    assert compiling.kernels_digest.__wrapped__() == compiling.kernels_digest()


@pytest.mark.long
def test_the_digest_is_the_same_in_every_process() -> None:
    code = "from llmask.kernels.machine.compiling import kernels_digest; print(kernels_digest(), end='')"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == compiling.kernels_digest()


@pytest.mark.skipif(jit.PREBUILT, reason="the kernels are prebuilt; LLMASK_PREBUILT=0 compiles them")
@pytest.mark.parametrize("door", ["build", "fill_mask", "accept", "is_accepting", "free_table", "put_block"])
def test_a_door_has_one_signature(door: str) -> None:
    compiling.make_ready("engine")
    dispatcher = getattr(engine, door)
    assert len(dispatcher.signatures) == 1
    assert not dispatcher._can_compile, "another type of argument must be an error, not a compilation"


def doubled(number: int) -> int:
    return 2 * number


def told(written: str) -> str:
    """What is written to standard error, but for the announcements of what is compiled."""
    return "".join(line for line in written.splitlines(True) if not line.endswith("on the first start only\n"))


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], Any]:
    """Make a door ready as a process does that starts with what is in the cache folder."""
    monkeypatch.setenv("LLMASK_CACHE_DIR", str(tmp_path))

    def started() -> Any:
        monkeypatch.setattr(compiling, "DECLARED", {})
        monkeypatch.setattr(compiling, "READY", set())
        dispatcher = compiling.door("int64(int64)", "one door")(doubled)
        compiling.make_ready("one door")
        assert dispatcher(21) == 42
        return dispatcher.stats

    return started


def flipped(data: bytes) -> bytes:
    """One bit of the machine code or the index is another."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["nbi", "nbc", "nb*"])
@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"garbage\n" * 100, flipped]
)
def test_what_is_damaged_in_the_cache_folder_is_compiled_again(
    start: Any, suffix: str, damage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    # half an index was an EOFError at every start, a wrong byte of machine code ran
    assert not start().cache_hits
    assert start().cache_hits
    files = [*compiling.cache_folder().glob(f"*.{suffix}")]
    assert files
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    assert not start().cache_hits, "it was read as if nothing had happened"
    first = files[0] if suffix != "nb*" else next(path for path in files if path.suffix == ".nbi")
    assert told(capsys.readouterr().err) == f"llmask: {first} is damaged, its code is compiled again\n"
    assert start().cache_hits, "it was not written again"


def test_a_folder_without_room_for_code_is_no_error(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, path: str) -> Any:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(compiling._SealedFiles, "_open_for_write", full)
    assert not start().cache_hits
    assert not start().cache_hits


def test_a_folder_that_cannot_be_written_is_told_once(
    start: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LLMASK_CACHE_DIR", str(tmp_path / "file"))  # root writes everywhere, but not below a file
    monkeypatch.setattr(compiling, "_tell_once", cache(compiling.tell))
    assert not start().cache_hits
    assert not start().cache_hits
    expected = f"llmask: {compiling.cache_folder()} cannot be written (Not a directory), so every start compiles;"
    assert told(capsys.readouterr().err) == f"{expected} see LLMASK_CACHE_DIR\n"


TOGETHER = """
import pathlib, sys, time
from llmask.kernels.machine import compiling
from tests.unit.kernels.machine.test_compiling import doubled
door = compiling.door("int64(int64)", "one door")(doubled)
compile = door.compile
def slowly(signature):
    time.sleep(1)
    compile(signature)
door.compile = slowly
pathlib.Path(sys.argv[1]).touch()
while len(list(pathlib.Path(sys.argv[1]).parent.glob("*.begun"))) < 2:
    time.sleep(0.01)
compiling.make_ready("one door")
print(door(21), len(door.stats.cache_hits))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_of_two_processes_one_compiles(tmp_path: Path, project_root: Path) -> None:
    environment = os.environ | {"LLMASK_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(project_root)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, str(tmp_path / f"{number}.begun")],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(2)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=100) for process in running]
    assert sorted(out for out, _ in outputs) == ["42 0\n", "42 1\n"], outputs
    assert sorted(told(err) for _, err in outputs) == [
        "",
        "llmask: another process compiles the kernels, waiting for it\n",
    ]


def test_without_sources_nothing_is_kept(
    start: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # in a zip file code of other sources was found under the digest of none, and run
    monkeypatch.setattr(compiling, "sources_digest", lambda: "")
    monkeypatch.setattr(compiling, "_tell_once", cache(compiling.tell))
    assert not start().cache_hits
    assert not start().cache_hits
    assert not list(tmp_path.iterdir())
    expected = "llmask: the sources of the kernels cannot be read, so every start compiles them\n"
    assert told(capsys.readouterr().err) == expected
