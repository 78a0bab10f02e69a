"""Locks that a forked child gets free, and values that are made once without a lock.

A child of `os.fork` has one thread. A lock that another thread of the parent held at that moment would stay closed for
ever, and what the lock protects be half written. So `os.fork` first waits for every lock that `new_lock` has made, in
the order in which threads take them (a deadlock otherwise), and both sides open them again: the child finds finished
tables. What a fork waits for is the longest step of another thread, and on the very first start the compiler.

What registered last with `os.fork` is called first. `logging` takes its lock then, which a module may want while it is
imported; so it is imported before anything is registered here, and takes its lock after imports have been waited for.

Two more things are held by threads. A module is locked while it is imported, so a fork waits for imports, too: of this
package and of what it imports when it is first needed. (Of nothing else: a program may run inside of an import.) And
until Python 3.12 `functools.cached_property` had a lock, one for all objects of a class; the one below has none.

In: `new_lock` in place of `threading.RLock`. Out: locks; `cached_property`. Cost: a fork takes some microseconds more.
"""

from __future__ import annotations

import _imp
import contextlib
import itertools
import logging  # noqa: F401 - it registers with os.fork, and must do so before this module does
import os
import threading
from collections.abc import Callable
from importlib import _bootstrap, import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

# the order: a thread that holds a lock takes only later ones; of one kind it holds one at a time
SENTENCES = 0
COMPILER = 1
GRAMMAR_CACHE = 2
ARRIVALS = 3
STORE = 4
SPLIT_STATES = 5
ENCODER = 6
KERNELS = 7

_PACKAGES = ("llmask", "gguf", "interegular", "jsonschema_specifications", "lark", "pydantic", "referencing", "regex")
_making = threading.RLock()  # the last of all: while it is held no lock is made
_locks: WeakKeyDictionary[Any, tuple[int, int]] = WeakKeyDictionary()
_numbers = itertools.count()
_held: dict[int, list[Any]] = {}  # by thread that forks: what it has taken, or is about to take


def new_lock(kind: int, make: Callable[[], Any] = threading.RLock) -> Any:
    """A lock that no forked child finds closed by a thread that it does not have.

    Parameters
    ----------
    kind : its place in the order, one of the numbers above.
    make : makes it, a `threading.RLock` or one of its kind.
    """
    lock = make()
    with _making:
        _locks[lock] = kind, next(_numbers)
    return lock


class _Imports:
    """The lock that a thread holds for a moment when it begins to import a module."""

    acquire = staticmethod(_imp.acquire_lock)
    release = staticmethod(_imp.release_lock)


def _take_all() -> None:
    """Take every lock; what another thread makes or imports meanwhile is waited for, too."""
    held = _held[threading.get_ident()] = []
    while True:
        with _making:
            known = dict(_locks)
        for lock in (*sorted(known, key=lambda lock: known[lock]), _making, _Imports):
            held.append(lock)  # before it is taken: an interrupt between the two must not leave it closed
            getattr(lock, "hold", lock.acquire)()
        imported = _imported_by_others()
        if not imported and all(lock in known for lock in list(_locks)):
            return
        _open_again(held)
        for name in imported:
            with contextlib.suppress(Exception):  # who imports it will be told
                import_module(name)  # waits for it


def _imported_by_others() -> list[str]:
    """Modules that other threads are importing, of this package and of those that it imports late."""
    locks = {name: reference() for name, reference in list(getattr(_bootstrap, "_module_locks", {}).items())}
    owners = {name: lock.owner for name, lock in locks.items() if lock is not None}
    nobody = (None, threading.get_ident())
    return [name for name, owner in owners.items() if owner not in nobody and name.partition(".")[0] in _PACKAGES]


def _open_again(held: list[Any]) -> None:
    while held:
        with contextlib.suppress(RuntimeError):  # an interrupted fork has not taken the last one
            lock = held.pop()
            getattr(lock, "let_go", lock.release)()


def _open_all() -> None:
    _open_again(_held.pop(threading.get_ident(), []))


def _open_all_in_child() -> None:
    _open_all()
    for lock in list(_locks):
        if hasattr(lock, "after_fork"):
            lock.after_fork()
    _held.clear()  # of threads that were about to fork, and are not here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_open_all, after_in_child=_open_all_in_child)


class OfProcess:
    """What a process makes at its first use; a forked child, which lacks the threads of its parent, makes its own.

    Parameters
    ----------
    make : makes it.
    lasts : whether it is still good; otherwise it is made again.
    """

    def __init__(self, make: Callable[[], Any], lasts: Callable[[Any], bool] = bool) -> None:
        self._make = make
        self._lasts = lasts
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._making = threading.Lock()
        self._made: Any = None

    def get(self) -> Any:
        """The one of this process."""
        with self._making:
            if self._made is None or not self._lasts(self._made):
                self._made = self._make()
            return self._made


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - the name that it has in functools
        """A property whose value is made at the first use and kept; threads that make it together get the same one."""

        def __init__(self, make: Callable[[Any], Any]) -> None:
            self._make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._make(instance))
