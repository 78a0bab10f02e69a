"""Kernels compiled on this machine: declared, cached on disk and announced; what `jit` hands on without a library.

A door has one explicit signature, so that a drifting dtype is an error and never a silent second compilation in the
middle of a generation. Machine code lies in a folder named after a digest of every file in `llmask/kernels`, because
numba's own cache notices changes in the decorated function's file only, and helpers live in many files.

    LLMASK_CACHE_DIR      where the folder is made (default: the user's cache directory)
    LLMASK_CHECK_BOUNDS   "1" compiles every table access with a bounds check (slow, for tests)

In: functions. Out: compiled dispatchers. Cost: about one minute for all doors on an empty cache, then about 20 ms a
process for each door.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

from llmask import forks
from llmask.kernels.machine.linking import (
    DoorCompiler,
    HelperCompiler,
    InlineCompiler,
    without_machine_code,
    without_wrappers,
)
from llmask.kernels.machine.prebuilt import CHECK_BOUNDS, KERNELS, sources_digest, tell

_OPTIONS = {"nogil": True, "error_model": "numpy"}
DECLARED: dict[str, list[tuple[Any, str]]] = {}
READY: set[str] = set()
_making_ready = forks.new_lock(forks.KERNELS)


def kernel(function: Callable[..., Any]) -> Any:
    """Declare a helper that only compiled code calls, and that stays a function. All its integers are int64.

    Left to itself numba compiles a helper anew for every literal argument and integer width: 540 functions instead of
    150, and three times the waiting.
    """
    return _helper(function, HelperCompiler)


def inline(function: Callable[..., Any]) -> Any:
    """The same for a small one, which may be copied to where it is called."""
    return _helper(function, InlineCompiler)


def _helper(function: Callable[..., Any], pipeline: Any) -> Any:
    dispatcher = numba.njit(**_OPTIONS, pipeline_class=pipeline)(function)
    without_machine_code(dispatcher)
    resolve = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        types = tuple(_widen(numba.types.unliteral(given)) for given in args)
        if types not in dispatcher.overloads:
            dispatcher.add_overload(dispatcher._compiler.compile(types, None))
            _progress.helper_done()
        return resolve(types, kws)

    _progress.n_helpers += 1
    dispatcher.get_call_template = get_call_template
    dispatcher._compiler._customize_flags = without_wrappers
    return dispatcher


def _widen(given: Any) -> Any:
    return numba.int64 if isinstance(given, (numba.types.Integer, numba.types.Boolean)) else given


@cache
def kernels_digest() -> str:
    """Digest of the kernels' sources, the versions they are compiled with and the bounds-check switch."""
    told = f"{sources_digest()} {numba.__version__} {sys.version_info[:2]} {CHECK_BOUNDS}"
    return hashlib.sha256(told.encode()).hexdigest()[:20]


def cache_folder() -> Path:
    """Folder of the compiled kernels; created on first use."""
    root = os.environ.get("LLMASK_CACHE_DIR")
    if root is None:
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA", str(Path.home()))
        elif sys.platform == "darwin":
            base = str(Path.home() / "Library" / "Caches")
        else:
            base = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        root = str(Path(base) / "llmask")
    return Path(root) / kernels_digest()


class _FolderLocator(caching._CacheLocator):
    """Tells numba to keep all doors in `cache_folder()`, valid as long as the digest is."""

    def __init__(self, py_func: Any) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return kernels_digest()

    def get_disambiguator(self) -> str:
        return self._name

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _FolderLocator | None:
        locator = cls(py_func)
        if not sources_digest():
            return None  # nothing would tell code of other sources
        try:
            locator.ensure_cache_path()
        except OSError:
            return None  # a read-only home: numba then reports that it cannot cache
        return locator


class _FolderCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = (_FolderLocator,)


class _Damaged(OSError):
    """A file of the cache folder is not what was written; numba takes an OSError for a file that is not there."""


class _SealedFiles(caching.IndexDataCacheFile):
    """A door's index and machine code, each after the digest of its bytes.

    A file that was cut short or overwritten is compiled and written again. Without the digest, half an index was an
    EOFError at every start, and machine code with a wrong byte would run.
    """

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return hashlib.sha256(data).digest() + data

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_index(self, overloads: Any) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump(overloads))

    def _load_index(self) -> Any:
        try:
            return self._read(self._index_path)
        except OSError:
            return {}

    @staticmethod
    def _read(path: str) -> Any:
        content = Path(path).read_bytes()
        n_seal = hashlib.sha256().digest_size
        if hashlib.sha256(content[n_seal:]).digest() != content[:n_seal]:
            tell(f"{path} is damaged, its code is compiled again")
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise _Damaged(path)
        return pickle.loads(content[n_seal:])


class _FolderCache(caching.Cache):
    _impl_class = _FolderCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        name, stamp = self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = _SealedFiles(cache_path=self._cache_path, filename_base=name, source_stamp=stamp)

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with contextlib.suppress(OSError):  # a full disk, or a file that may not be read: compile for this process
            yield


def door(signature: str, group: str, holds_lock: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Declare an entry point of compiled code; `make_ready(group)` compiles it or loads it from the cache.

    With `holds_lock` the interpreter's lock is held while it runs: it works on objects of Python.
    """

    def declare(function: Callable[..., Any]) -> Any:
        options = {**_OPTIONS, "nogil": not holds_lock}
        dispatcher = numba.njit(**options, pipeline_class=DoorCompiler)(function)
        DECLARED.setdefault(group, []).append((dispatcher, signature))
        return dispatcher

    return declare


def entry_point(door: Any) -> Callable[..., Any]:
    """The compiled function of a door that is ready and takes numbers only.

    The dispatcher looks at the types of the arguments first, which takes 0.1 us a call; without it nothing would stop
    an array of the wrong type, while what is no number is a TypeError still.
    """
    (result,) = door.overloads.values()
    function: Callable[..., Any] = result.entry_point
    return function


def is_cached(group: str) -> bool:
    """Whether every door of `group` lies in the cache folder already."""
    folder = cache_folder()
    if not sources_digest() or not folder.is_dir():
        return False
    present = "\n".join(entry.name for entry in folder.glob("*.nbi"))
    return all(f".{dispatcher.py_func.__name__}-" in present for dispatcher, _ in DECLARED.get(group, []))


def import_everything() -> None:
    """Have every door declared."""
    package = __name__.removesuffix(".machine.compiling")
    for path in sorted(KERNELS.rglob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(".".join([package, *path.relative_to(KERNELS).with_suffix("").parts]))


def make_everything_ready() -> str:
    """Compile all kernels, or load them from the cache folder; returns where they come from, for people."""
    import_everything()
    were_cached = all(is_cached(group) for group in DECLARED)
    for group in DECLARED:
        make_ready(group)
    return f"loaded from {cache_folder()}" if were_cached else f"compiled into {cache_folder()}"


def make_ready(group: str) -> None:
    """Compile the doors of `group`, or load them from the cache folder; does nothing the second time."""
    if group in READY:
        return
    with _making_ready:  # two threads may make their first compilers at the same time
        doors = DECLARED.get(group, [])
        if group in READY:
            return
        with contextlib.nullcontext() if is_cached(group) else _alone():
            _progress.begin(group, not is_cached(group))
            for dispatcher, signature in doors:
                if not dispatcher.signatures:
                    with contextlib.suppress(RuntimeError):  # no writable folder: compile for this process only
                        dispatcher._cache = _FolderCache(dispatcher.py_func)
                    dispatcher.compile(signature)
                    dispatcher.disable_compile()
            _progress.end()
        READY.add(group)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process compiles into the cache folder: what it has compiled is then loaded.

    Where files cannot be locked (Windows, some network folders) each process compiles for itself.
    """
    folder = cache_folder()
    if not sources_digest():
        _tell_once("the sources of the kernels cannot be read, so every start compiles them")
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / "lock", "w")
    except OSError as error:
        _tell_once(f"{folder} cannot be written ({error.strerror}), so every start compiles; see LLMASK_CACHE_DIR")
        yield
        return
    with file:
        _lock(file)
        yield


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _tell_once("another process compiles the kernels, waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)


_tell_once = cache(tell)


class _Progress:
    """The bar on standard error while kernels are compiled for the first time; helpers are what takes the time."""

    def __init__(self) -> None:
        self.n_helpers = 0  # declared so far
        self.n_done = 0
        self.group: str | None = None
        self.started = 0.0

    def begin(self, group: str, announce: bool) -> None:
        announce = announce and sys.stderr is not None
        self.group = group if announce else None
        self.started = time.perf_counter()
        if announce and not sys.stderr.isatty():
            sys.stderr.write(f"llmask: compiling {group} kernels, on the first start only\n")
            self.group = None  # no bar into a file
        self.draw(self.n_done / max(self.n_helpers, 1))

    def helper_done(self) -> None:
        self.n_done += 1
        self.draw(min(self.n_done / max(self.n_helpers, 1), 0.99))

    def end(self) -> None:
        self.draw(1.0)
        if self.group is not None:
            sys.stderr.write("\n")
        self.group = None

    def draw(self, share: float) -> None:
        if self.group is None:
            return
        filled = round(24 * share)
        seconds = time.perf_counter() - self.started
        sys.stderr.write(
            f"\rllmask: compiling {self.group} kernels, on the first start only "
            f"[{'#' * filled}{'.' * (24 - filled)}] {seconds:3.0f} s"
        )
        sys.stderr.flush()


_progress = _Progress()
