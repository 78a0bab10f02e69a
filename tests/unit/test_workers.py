"""Work is run in as many threads as asked for, errors come back, and a forked child starts threads of its own."""

from __future__ import annotations

import os
import threading

import pytest

from llmask.workers import run_together


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_thread_runs_the_work_at_the_same_time(n_threads: int) -> None:
    meeting = threading.Barrier(n_threads)
    seen: list[int] = []

    def work() -> None:
        meeting.wait(timeout=60)
        seen.append(threading.get_ident())

    for _ in range(3):
        seen.clear()
        run_together(work, n_threads)
        assert len(set(seen)) == n_threads
        assert threading.get_ident() in seen


def test_a_failure_of_any_thread_reaches_the_caller() -> None:
    caller = threading.get_ident()

    def work() -> None:
        if threading.get_ident() != caller:
            raise KeyError("from afar")

    with pytest.raises(KeyError, match="from afar"):
        run_together(work, 3)
    run_together(lambda: None, 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads() -> None:
    run_together(lambda: None, 2)
    child = os.fork()
    if child == 0:
        meeting = threading.Barrier(2)
        run_together(lambda: meeting.wait(timeout=30), 2)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
