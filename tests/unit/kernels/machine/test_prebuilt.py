"""A library is loaded where it fits, and only there; its doors refuse what a compiled door refuses."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llmask.kernels import engine
from llmask.kernels.machine import jit, prebuilt
from tests.processes import fresh_python

LIBRARY = f"{prebuilt.target()}.so"
pytestmark = pytest.mark.skipif(not (prebuilt.FOLDER / LIBRARY).is_file(), reason=f"there is no {LIBRARY}")


def write_manifest(folder: Path, **changed: Any) -> None:
    digest = hashlib.sha256((folder / LIBRARY).read_bytes()).hexdigest()
    manifest = {"sources": prebuilt.sources_digest(), "libraries": {LIBRARY: digest}} | changed
    (folder / prebuilt.MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose library fits these sources."""
    shutil.copy(prebuilt.FOLDER / LIBRARY, tmp_path)
    write_manifest(tmp_path)
    return tmp_path


def test_a_library_that_fits_gives_its_doors(folder: Path) -> None:
    doors = prebuilt.find(folder)
    assert doors is not None
    assert {"build", "fill_mask", "accept", "free_table", "encode_text"} <= {*doors}
    assert doors["fill_mask"].__name__ == "fill_mask"


def test_a_platform_without_a_library_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: "riscv64")
    assert prebuilt.find(folder) is None


@pytest.mark.parametrize("spelling", ["AMD64", "x86_64"])
def test_a_machine_has_one_name(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt.platform, "machine", lambda: spelling)
    monkeypatch.setattr(sys, "platform", "linux")
    assert prebuilt.target() == "linux-x86_64"


def damage(folder: Path) -> None:
    content = bytearray((folder / LIBRARY).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / LIBRARY).write_bytes(content)


def put_garbage(folder: Path) -> None:
    (folder / LIBRARY).write_bytes(b"\x7fELF and nothing more")
    write_manifest(folder)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (damage, "is damaged"),
        (put_garbage, "too short|header"),
        (lambda folder: write_manifest(folder, sources="of another day"), "other sources than those in llmask/kernels"),
        (lambda folder: write_manifest(folder, libraries={}), "manifest.json: KeyError"),
        (lambda folder: (folder / prebuilt.MANIFEST).write_text("[1"), "manifest.json: JSONDecodeError"),
        (lambda folder: (folder / prebuilt.MANIFEST).write_text("[1]"), "manifest.json: TypeError"),
        (lambda folder: (folder / prebuilt.MANIFEST).unlink(), "manifest.json: FileNotFoundError"),
    ],
)
def test_a_library_that_does_not_fit_says_why(folder: Path, spoil: Callable[[Path], Any], reason: str) -> None:
    spoil(folder)
    with pytest.raises(prebuilt.Unfit, match=reason):
        prebuilt.find(folder)


def test_sources_that_cannot_be_read_are_no_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt, "KERNELS", folder / "nowhere")
    assert prebuilt.sources_digest.__wrapped__() == ""
    monkeypatch.setattr(prebuilt, "sources_digest", lambda: "")
    with pytest.raises(prebuilt.Unfit, match="sources of the kernels cannot be read"):
        prebuilt.find(folder)


def run_with(variable: str, code: str) -> subprocess.CompletedProcess[str]:
    return fresh_python("-c", code, LLMASK_PREBUILT=variable)


@pytest.mark.long
def test_where_numba_is_needed_and_missing_the_error_says_so() -> None:
    done = run_with("0", "import sys; sys.modules['numba'] = None; import llmask; llmask.Tokenizer.default().trie")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("numba is not installed: pip install numba")


def test_a_process_without_standard_error_can_be_told_nothing() -> None:
    done = run_with(
        "1", "import sys; sys.stderr = None; from llmask.kernels.machine import prebuilt; prebuilt.tell('a')"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not LIBRARY.endswith("x86_64.so"), reason="another processor")
def test_an_old_processor_compiles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt, "_has_v2", lambda: False)
    with pytest.raises(prebuilt.Unfit, match=r"lacks SSE 4\.2 or POPCNT"):
        prebuilt.find(folder)


@pytest.mark.long
def test_one_changed_byte_in_any_folder_of_the_kernels_is_seen(tmp_path: Path) -> None:
    # a stale library that is loaded in silence writes wrong masks
    package = tmp_path / "llmask"
    shutil.copytree(prebuilt.KERNELS.parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.gguf", "*.npz"))
    write_manifest(package / "prebuilt")
    code = "from llmask.kernels.machine import prebuilt; print(prebuilt.DOORS is not None)"
    environment = os.environ | {"LLMASK_PREBUILT": "1", "LLMASK_CHECK_BOUNDS": "0", "PYTHONPATH": str(tmp_path)}

    def run() -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr

    assert run() == ("True\n", "")
    kernels = package / "kernels"
    for stage in [kernels, *sorted({path.parent for path in kernels.rglob("*.py")} - {kernels})]:
        file = max(stage.glob("*.py"))
        content = file.read_bytes()
        file.write_bytes(content.replace(b'"', b"'", 1) if b'"' in content else content + b"\n")
        out, error = run()
        assert out == "False\n", file
        assert error.startswith("llmask: the prebuilt kernels are not used, they are compiled instead: "), file
        assert error.count("\n") == 1
        file.write_bytes(content)
    (kernels / "mask" / "one_more.py").write_text("")
    assert run()[0] == "False\n"


MASK = np.zeros((2, 4), np.int32)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (0, MASK),
        (0, MASK, 0, 0),
        ("0", MASK, 0),
        (None, MASK, 0),
        (0, MASK.astype(np.int64), 0),
        (0, MASK.astype(np.float32), 0),
        (0, MASK.astype(">i4"), 0),
        (0, MASK[0], 0),
        (0, MASK[None], 0),
        (0, MASK[:, ::2], 0),
        (0, MASK.T, 0),
        (0, memoryview(bytes(32)), 0),
        (0, [[0, 0, 0, 0]], 0),
        (0, b"\0" * 32, 0),
    ],
)
def test_a_door_refuses_what_is_of_another_type(arguments: tuple[Any, ...]) -> None:
    jit.make_ready("engine")
    with pytest.raises(TypeError):
        engine.fill_mask(*arguments)


def test_a_door_refuses_an_array_that_may_not_be_written() -> None:
    jit.make_ready("engine")
    mask = MASK.copy()
    mask.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        engine.fill_mask(0, mask, 0)


@pytest.mark.skipif(not jit.PREBUILT, reason="numba makes an integer of it")
@pytest.mark.parametrize("arguments", [(0.5, MASK, 0), (0, MASK, 1.0)])
def test_a_prebuilt_door_refuses_a_number_with_a_fraction(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        engine.fill_mask(*arguments)


@pytest.mark.skipif(not jit.PREBUILT, reason="numba compiles another message")
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**200])
def test_a_number_beyond_64_bits_is_no_other_number(number: int) -> None:
    with pytest.raises(OverflowError):
        engine.is_accepting(number, 0)


def test_an_argument_that_was_refused_is_not_held() -> None:
    jit.make_ready("engine")
    mask = np.zeros((1, 4), np.int32)
    before = sys.getrefcount(mask)
    for arguments in ((0, mask, "0"), (0, mask, 2**70), ("0", mask, 0)):
        with pytest.raises((TypeError, OverflowError)):
            engine.fill_mask(*arguments)
    del arguments
    assert sys.getrefcount(mask) == before
