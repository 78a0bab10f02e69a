"""A handler in a process of its own that may hang, crash or take all memory without taking the measurement along.

The process is started when it is first asked, and started again after it died or was killed.

In: a function that makes the handler, requests. Out: `Reply`s. Cost: that of the handler; a start after each failure.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

STARTING_SECONDS = 300  # kernels may have to be compiled, on a busy machine


class Reply(NamedTuple):
    """What became of a request: `kind` is "done", "error" (an exception), "timeout" or "crash"."""

    kind: str
    value: Any
    seconds: float


Make = Callable[..., Callable[[Any], Any]]


def limit_memory(n_bytes: int) -> None:
    """Let this process have no more address space than that."""
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def resident_mib() -> float:
    """MiB in memory now; freed memory that the allocator keeps is given back to the system first."""
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    return _memory_bytes(1) / 2**20


def address_space() -> int:
    """Bytes of address space that this process has now."""
    return _memory_bytes(0)


def _memory_bytes(field: int) -> int:
    with open("/proc/self/statm") as fields:
        return int(fields.read().split()[field]) * resource.getpagesize()


def _serve(connection: Connection, make: Make, arguments: tuple[Any, ...]) -> None:
    handler = make(*arguments)
    connection.send(None)
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            reply = ("done", handler(request))
        except Exception as error:  # the handler's own failure is a result
            reply = ("error", f"{type(error).__name__}: {error}"[:2000])
        connection.send(reply)


class Worker:
    """One handler at a time.

    Parameters
    ----------
    make : a function of a module; called in the new process, returns the handler.
    arguments : of `make`.
    method : "spawn" (a clean process) or "fork" (one that has everything that this one has loaded).
    """

    def __init__(self, make: Make, arguments: tuple[Any, ...] = (), method: str = "spawn") -> None:
        self._context: Any = multiprocessing.get_context(method)
        self._what = make, arguments
        self._process: Any = None
        self._connection: Any = None

    def ask(self, request: Any, timeout_s: float) -> Reply:
        """What the handler replies within `timeout_s` seconds of wall-clock time, its start left out.

        Raises
        ------
        RuntimeError : the handler could not be made.
        """
        if self._process is None:
            self._start()
        started = time.monotonic()
        try:
            self._connection.send(request)
            if not self._connection.poll(timeout_s):
                self.close()
                return Reply("timeout", f"no answer after {timeout_s:g} s", time.monotonic() - started)
            kind, value = self._connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self.close()
            return Reply("crash", f"the process ended with exit code {code}", time.monotonic() - started)
        return Reply(kind, value, time.monotonic() - started)

    def _start(self) -> None:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(theirs, *self._what), daemon=True)
        self._process.start()
        theirs.close()
        try:
            if not self._connection.poll(STARTING_SECONDS):
                raise RuntimeError("the process does not start")
            self._connection.recv()
        except (EOFError, RuntimeError) as error:
            self.close()
            raise RuntimeError("the handler could not be made; its message stands above") from error

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None
