"""Children of fork() find every lock open, whatever the threads of their parent do."""

from __future__ import annotations

import gc
import os
import random
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import llmask
from llmask import forks
from llmask.compiling import stores
from llmask.kernels.machine import compiling, jit
from llmask.tokenizer import tokenizer as tokenizer_module
from tests.processes import fresh_python
from tests.unit import forked

CAN_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

# what each of the scripts below begins with; a child ends by itself when it hangs
BEGIN = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of every fork beside threads
from llmask import forks

def child_says(ask):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(7 if ask() else 8)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


def check(root: Path, *arguments: str) -> None:
    """Run a process of its own, because forking beside threads is a warning, and warnings are errors here."""
    found = fresh_python(*arguments, folder=root)
    assert found.returncode == 0, found.stdout + found.stderr


@CAN_FORK
def test_a_child_of_a_parent_whose_threads_build_comes_to_its_end(
    project_root: Path, costly: Callable[[int], int]
) -> None:
    # two of three hung for ever: the thread that held the store's lock is not there in the child
    check(project_root, "-m", "tests.unit.forked", str(costly(4)))


@CAN_FORK
def test_a_fork_waits_for_a_module_that_wants_the_lock_of_logging(project_root: Path, tmp_path: Path) -> None:
    # logging held its lock already while the import was waited for, which waited for that lock: both for ever
    (tmp_path / "lark.py").write_text(
        "import logging, time\nbegun.set()\ntime.sleep(0.3)\nlogging.getLogger('lark')\n".replace("begun", "time.begun")
    )
    script = f"""
import logging
sys.path.insert(0, {str(tmp_path)!r})
signal.alarm(20)
time.begun = threading.Event()
threading.Thread(target=lambda: __import__("lark")).start()
time.begun.wait()
sys.exit(child_says(lambda: "lark" in sys.modules) != 7)
"""
    check(project_root, "-c", BEGIN + script)


@CAN_FORK
def test_a_lock_that_another_thread_holds_is_open_on_both_sides(project_root: Path) -> None:
    script = """
for place, kind in enumerate((forks.KERNELS, forks.STORE, forks.SENTENCES, forks.STORE)):
    locks = [forks.new_lock(kind) for kind in (forks.KERNELS, forks.STORE, forks.SENTENCES, forks.STORE)]
    is_held = threading.Event()

    def hold():
        with locks[place]:
            is_held.set()
            time.sleep(0.05)

    def take():
        taken.extend(lock.acquire(timeout=5) for lock in locks)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    assert child_says(lambda: all(lock.acquire(timeout=5) for lock in locks)) == 7
    thread.join()
    taken = []
    other = threading.Thread(target=take)
    other.start()
    other.join()
    assert taken == [True] * 4, taken  # the parent's are open, too
"""
    check(project_root, "-c", BEGIN + script)


@CAN_FORK
@pytest.mark.parametrize("place", ["find_spec", "exec_module"])
@pytest.mark.parametrize("name", ["llmask.slow", "lark.slow"])
def test_a_module_that_another_thread_imports_is_whole_in_the_child(project_root: Path, name: str, place: str) -> None:
    # a module is locked while it is imported: the child's first use of a part of the package hung
    script = f"""
import importlib, importlib.machinery, lark, llmask

class Slow:
    def find_spec(self, name, path=None, target=None):
        self.wait("find_spec")
        return importlib.machinery.ModuleSpec(name, self) if name == "{name}" else None
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        self.wait("exec_module")
        module.is_whole = True
    def wait(self, place):
        if place == "{place}":
            has_begun.set()
            time.sleep(0.1)

sys.meta_path.insert(0, Slow())
has_begun = threading.Event()

def use():
    return importlib.import_module("{name}").is_whole

thread = threading.Thread(target=use)
thread.start()
has_begun.wait()
assert child_says(use) == 7
thread.join()
"""
    check(project_root, "-c", BEGIN + script)


@CAN_FORK
def test_a_program_that_runs_inside_of_an_import_can_fork(project_root: Path, tmp_path: Path) -> None:
    # a fork that waited for every import would wait for ever for a server that its own module's import runs
    (tmp_path / "server.py").write_text(
        """
done = threading.Event()
thread = threading.Thread(target=lambda: (answers.append(child_says(lambda: True)), done.set()))
thread.start()
assert done.wait(20)
"""
    )
    script = f"""
import builtins
builtins.threading, builtins.answers, builtins.child_says = threading, [], child_says
sys.path.append({str(tmp_path)!r})
signal.alarm(40)
import server
assert answers == [7]
"""
    check(project_root, "-c", BEGIN + script)


@CAN_FORK
def test_a_value_that_another_thread_makes_is_made_by_the_child(project_root: Path) -> None:
    # functools.cached_property had one lock for all objects of a class, until Python 3.12
    script = """
class Slow:
    @forks.cached_property
    def value(self):
        has_begun.set()
        time.sleep(0.1)
        return 3

has_begun = threading.Event()
thread = threading.Thread(target=lambda: Slow().value)
thread.start()
has_begun.wait()
assert child_says(lambda: Slow().value == 3) == 7
thread.join()
"""
    check(project_root, "-c", BEGIN + script)


def test_threads_that_make_a_value_together_get_the_same_one() -> None:
    both_make = threading.Barrier(2)

    class Slow:
        @forks.cached_property
        def value(self) -> object:
            """Made once."""
            both_make.wait(timeout=20)
            return object()

    slow = Slow()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is slow.value
    assert Slow.value.__doc__ == "Made once."


def test_a_lock_dies_with_its_owner() -> None:
    lock = forks.new_lock(forks.STORE)
    forks._take_all()
    forks._open_all()
    alive = weakref.ref(lock)
    n_locks = len(forks._locks)
    del lock
    gc.collect()
    assert alive() is None
    assert len(forks._locks) < n_locks


def test_a_fork_under_a_lock_of_its_own_thread_leaves_it_taken() -> None:
    lock = forks.new_lock(forks.STORE)
    is_free: list[bool] = []
    with lock:
        forks._take_all()
        forks._open_all_in_child()
        other = threading.Thread(target=lambda: is_free.append(lock.acquire(blocking=False)))
        other.start()
        other.join()
    assert is_free == [False]
    assert not forks._held


class Watched:
    """A lock that notes where it was taken while a later one was held."""

    held: ClassVar[threading.local] = threading.local()  # tables that tokenizers share may keep a lock beyond its test
    wrong: ClassVar[set[tuple[int, int]]] = set()
    kinds: ClassVar[set[int]] = set()

    def __init__(self, kind: int, make: object = None) -> None:
        self._kind = kind
        self._lock, self.turn = threading.RLock(), threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        held = self.held.__dict__.setdefault("locks", [])
        self.wrong.update((lock._kind, self._kind) for lock in held if lock is not self and lock._kind >= self._kind)
        self.kinds.add(self._kind)
        held.append(self)

    def __exit__(self, *_: object) -> None:
        self.held.locks.pop()
        self._lock.release()


@pytest.mark.long
def test_locks_are_taken_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # a fork that takes them in this order waits for nobody who waits for it
    monkeypatch.setattr(Watched, "held", threading.local())
    monkeypatch.setattr(Watched, "wrong", set())
    monkeypatch.setattr(Watched, "kinds", set())
    monkeypatch.setattr(forks, "new_lock", Watched)
    monkeypatch.setattr(compiling, "_making_ready", Watched(forks.KERNELS))
    monkeypatch.setattr(compiling, "READY", set())
    for module in (stores, tokenizer_module):
        monkeypatch.setattr(module, "_arriving", Watched(forks.ARRIVALS))
    tokenizer = llmask.Tokenizer.default()
    limits = llmask.Limits(renew_store_bytes=1)
    for is_canonical in (False, True):
        compilers: list[Any] = [llmask.Compiler(tokenizer, limits, canonical=is_canonical)]
        for seed in range(3):
            forked.build(compilers, random.Random(seed))
    tokenizer.encode("abc", method="heap")
    taken = {*range(forks.SENTENCES, forks.KERNELS + 1)}
    assert Watched.kinds == (taken - {forks.KERNELS} if jit.PREBUILT else taken)  # prebuilt kernels are ready
    assert not Watched.wrong
