"""Doors as machine code that came with the package, where it fits the kernels' sources and the platform.

`llmask/prebuilt/` holds a shared library for each platform, and a manifest: the digest of the sources that the
libraries were made of, and the digest of each library (`llmask/prebuilt/build.py` writes both). A library has one
symbol, `llmask_methods`, an array of CPython's PyMethodDef; numba is not needed to call what it lists. What does not
fit is left alone, with one line on standard error, and the kernels are compiled: a library of other sources would
write wrong masks.

    LLMASK_PREBUILT       "0" compiles the kernels although there is a library
    LLMASK_CHECK_BOUNDS   "1" does, too: a library has no bounds checks
    LLMASK_KERNELS        "python" compiles nothing and runs them as they are, with bounds checks, see interpreted.py

In: llmask/prebuilt/. Out: `DOORS`, a builtin function for each name, or None. Cost: 5 ms, mostly the sources' digest.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import platform
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).parent.parent
FOLDER = KERNELS.parent / "prebuilt"
MANIFEST = "manifest.json"
INTERPRETED = os.environ.get("LLMASK_KERNELS", "") == "python"
CHECK_BOUNDS = INTERPRETED or os.environ.get("LLMASK_CHECK_BOUNDS") == "1"


class Unfit(Exception):
    """Why a library is not used."""


class _Method(ctypes.Structure):
    """CPython's PyMethodDef; the array of them ends with one without a name."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    )


@cache
def sources_digest() -> str:
    """Digest of every file of the kernels, subfolders too, with its path; "" if none can be read (a zip file)."""
    digest = hashlib.sha256()
    paths = sorted(KERNELS.rglob("*.py"))
    for path in paths:
        digest.update(path.relative_to(KERNELS).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20] if paths else ""


def target() -> str:
    """Name of the platform, as in the names of the libraries: "linux-x86_64"."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{ {'amd64': 'x86_64', 'arm64': 'aarch64'}.get(machine, machine) }"


def find(folder: Path = FOLDER) -> dict[str, Any] | None:
    """The doors of the library in `folder`, by name; None where this platform has none.

    Raises
    ------
    Unfit : there is one, and it must not be used here.
    """
    path = folder / f"{target()}.so"
    if not path.is_file() or sys.implementation.name != "cpython":
        return None
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        sources, expected = manifest["sources"], manifest["libraries"][path.name]
        content = path.read_bytes()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unfit(f"{folder / MANIFEST}: {error!r}") from error
    if not sources_digest():
        raise Unfit("the sources of the kernels cannot be read, so nothing tells whether they fit")
    if sources != sources_digest():
        raise Unfit("they were made of other sources than those in llmask/kernels")
    if hashlib.sha256(content).hexdigest() != expected:
        raise Unfit(f"{path} is damaged")
    if target().endswith("x86_64") and not _has_v2():
        raise Unfit("this processor lacks SSE 4.2 or POPCNT")
    try:
        library = ctypes.PyDLL(str(path))
    except OSError as error:  # another C library, a folder whose files may not be run
        raise Unfit(str(error)) from error
    return _functions(library)


def _has_v2() -> bool:
    """Whether the processor has what x86-64-v2 says; NumPy looked when it was imported."""
    try:
        numpy = import_module("numpy._core._multiarray_umath")
    except ImportError:  # NumPy 1
        numpy = import_module("numpy.core._multiarray_umath")
    has = numpy.__cpu_features__
    return bool(has.get("SSE42") and has.get("POPCNT"))


def _functions(library: ctypes.PyDLL) -> dict[str, Any]:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes, make.restype = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object], ctypes.py_object
    address = ctypes.addressof(ctypes.c_char.in_dll(library, "llmask_methods"))
    doors = {}
    while (method := _Method.from_address(address)).name is not None:
        doors[method.name.decode()] = make(address, library, "llmask.kernels")  # a function holds its library
        address += ctypes.sizeof(_Method)
    return doors


def tell(message: str) -> None:
    """Write a line to standard error, where there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"llmask: {message}\n")


def _find_or_say_why() -> dict[str, Any] | None:
    if CHECK_BOUNDS or os.environ.get("LLMASK_PREBUILT") == "0":
        return None
    try:
        return find()
    except Unfit as reason:
        tell(f"the prebuilt kernels are not used, they are compiled instead: {reason}")
        return None


if os.environ.get("LLMASK_KERNELS", "") not in ("", "python"):
    raise ImportError(f"LLMASK_KERNELS is {os.environ['LLMASK_KERNELS']!r}: set it to python, or not at all")
DOORS = _find_or_say_why()
if DOORS is None and not INTERPRETED and find_spec("numba") is None:
    raise ImportError("the kernels of llmask have to be compiled here, and numba is not installed: pip install numba")
