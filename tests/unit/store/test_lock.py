"""The lock of a store: threads get it in turn, those that wait are noted, and no interrupt leaves it closed."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

import llmask
from llmask import forks
from llmask.kernels.table import Table
from llmask.kernels.tables import store_layout
from llmask.kernels.tables.operations import Operation
from llmask.store.lock import StoreLock, Waits, new_store_lock
from tests.unit.interrupted import interrupted


def new_lock(long_us: int = 1000) -> Any:
    return new_store_lock(Table(store_layout.STORE.n_slots, 10**6, (), ()), Waits(long_us))


def while_another_thread_holds(lock: Any, seconds: float, act: Any) -> None:
    """Do something that needs the lock, which another thread opens after some seconds."""
    is_held = threading.Event()

    def hold() -> None:
        with lock:
            is_held.set()
            time.sleep(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    act()
    thread.join()


def is_free(lock: Any) -> bool:
    """Whether another thread gets it."""
    found: list[bool] = []

    def look() -> None:
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


def test_whoever_finds_the_lock_open_does_not_wait() -> None:
    lock = new_lock()
    with lock, lock:
        assert not is_free(lock)
    assert is_free(lock)
    assert lock.waits.statistics() == {"waits": 0, "long_waits": 0, "longest_wait_us": 0}


def test_waits_are_counted_and_long_ones_apart() -> None:
    lock = new_lock(long_us=20_000)

    def take() -> None:
        with lock:
            assert not is_free(lock)

    while_another_thread_holds(lock, 0.05, take)
    assert (lock.waits.n, lock.waits.n_long) == (1, 1)
    assert lock.waits.longest_us > 20_000
    lock.waits.long_us = 10**9
    while_another_thread_holds(lock, 0.01, take)
    assert (lock.waits.n, lock.waits.n_long) == (2, 1)
    assert is_free(lock)


def test_whoever_opens_the_lock_does_not_get_it_again_before_a_thread_that_waits() -> None:
    lock = new_lock()
    order = []

    def wait() -> None:
        with lock:
            order.append("the other one")

    thread = threading.Thread(target=wait)
    with lock:
        thread.start()
        while not lock.turn.locked():
            time.sleep(0)
        with lock:  # who has it may take it again
            order.append("within")
    with lock:
        order.append("again")
    thread.join()
    assert order == ["within", "the other one", "again"]


def test_who_ends_an_operation_lets_a_thread_that_waits_have_the_interpreter(
    tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it went on for the five milliseconds of the interpreter's switch, which came on top of the operation's
    store = llmask.Compiler(tiny_tokenizer)._newest_store()
    naps: list[bool] = []
    monkeypatch.setattr("llmask.store.lock.let_others_in", lambda: naps.append(is_free(store.lock)))
    store.run(Operation.BYTE_SET, data=np.ones(8, np.int32))
    assert naps == []  # nobody waits
    with store.lock, store.lock.turn:  # of a thread that waits
        store.lock.let_in()
    assert naps == []  # this thread has it still
    with store.lock.turn:
        store.lock.let_in()
    assert naps == [True]

    waiting = threading.Thread(target=store.run, args=(Operation.BYTE_SET,), kwargs={"data": np.ones(8, np.int32)})
    build = store.run.__self__._build

    def build_while_one_waits(*arguments: Any) -> int:
        if not waiting.ident:
            waiting.start()
            while not store.lock.turn.locked():
                time.sleep(0)
        return int(build(*arguments))

    monkeypatch.setattr(store.run.__self__, "_build", build_while_one_waits)
    monkeypatch.setattr("llmask.store.lock.let_others_in", lambda: (naps.append(True), time.sleep(0.01)))
    store.run(Operation.BYTE_SET, data=np.ones(8, np.int32))
    waiting.join()
    assert naps == [True, True]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_waits_for_no_thread_that_it_does_not_have() -> None:
    lock = forks.new_lock(forks.STORE, new_lock)
    with lock.turn:  # of a thread that is not in the child
        child = os.fork()
        if not child:
            with lock:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_step_and_a_compile_that_wait_are_in_the_compilers_statistics(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_step_work=1000))
    matcher = compiler.regex("a+b").matcher()
    bitmask = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
    assert compiler.statistics()["waits"] == 0
    while_another_thread_holds(compiler._newest_store().lock, 0.05, lambda: matcher.fill_bitmask(bitmask))
    assert compiler.statistics()["long_waits"] == 1
    while_another_thread_holds(compiler._newest_store().lock, 0.05, lambda: compiler.regex("c+d"))
    found = compiler.statistics()
    assert found["long_waits"] == found["waits"] == 2
    assert found["longest_wait_us"] > 1000


def test_no_interrupt_leaves_the_lock_closed() -> None:
    lock = new_lock()

    def take(_: object) -> None:
        with lock:
            len("")

    for _ in interrupted(lambda: None, take):
        assert is_free(lock)


def test_no_interrupt_of_a_wait_leaves_the_lock_closed() -> None:
    locks: list[Any] = []

    def make() -> Any:
        lock = new_lock()
        is_held = threading.Event()

        def hold() -> None:
            with lock:
                is_held.set()
                time.sleep(0.02)

        thread = threading.Thread(target=hold)
        thread.start()
        is_held.wait()
        locks.append(thread)
        return lock

    def take(lock: Any) -> None:
        with lock:
            len("")

    n = 0
    for lock in interrupted(make, take):
        locks[-1].join()
        assert is_free(lock)
        n += 1
    assert n > 3


def test_a_fork_takes_it_as_any_other_lock() -> None:
    lock = forks.new_lock(forks.STORE, new_lock)
    assert isinstance(lock, StoreLock)
    assert lock in forks._locks
