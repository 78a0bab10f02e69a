"""Several threads write one batch, whoever comes late, and a forked child starts threads of its own."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels import engine
from llmask.kernels.mask.batch import CONTROL_FIELDS, BatchField
from llmask.matching import workers
from tests.processes import side_by_side


@pytest.fixture
def batch(tiny_tokenizer: Any) -> tuple[list[Any], Any, Any]:
    """Matchers whose masks are known, an empty bitmask for them, and what has to stand in it."""
    compiler = llmask.Compiler(tiny_tokenizer)
    grammars = [compiler.regex("[ab]*c"), compiler.json_schema({"type": "integer"}), compiler.choice(["name", "nul"])]
    matchers = [grammars[number % 3].matcher() for number in range(100)]
    expected, given = (llmask.allocate_bitmask(len(matchers), tiny_tokenizer.vocab_size) for _ in range(2))
    for row, matcher in enumerate(matchers):
        matcher.fill_bitmask(expected, row)
    given[:] = 0x1234567
    return matchers, given, expected


@pytest.mark.parametrize("n_threads", [2, 3, 8])
@pytest.mark.parametrize("pause", [0, 0.002], ids=["helpers awake", "helpers asleep"])
def test_every_mask_is_written_once(batch: Any, n_threads: int, pause: float) -> None:
    matchers, given, expected = batch
    for _ in range(200 if pause == 0 else 20):
        given[:] = 0x1234567
        assert llmask.fill_bitmasks(matchers, given, threads=n_threads) == [True] * len(matchers)
        assert np.array_equal(given, expected)
        time.sleep(pause)


def test_helpers_take_part(batch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = workers._helpers.get()
    monkeypatch.setattr(helpers, "wake", lambda n: None)
    llmask.fill_bitmasks(batch[0], batch[1], threads=2)  # nobody helps: the caller writes all
    assert np.array_equal(batch[1], batch[2])
    monkeypatch.undo()
    assert helpers.n_threads <= 8
    llmask.fill_bitmasks(batch[0], batch[1], threads=2)
    assert helpers.n_threads >= 1


def test_a_helper_works_on_a_batch_that_is_open(batch: Any) -> None:
    matchers, given, expected = batch
    cells = np.array([matcher._sequence.cell_address for matcher in matchers])
    rows, statuses = np.arange(len(matchers)), np.zeros(len(matchers), np.int8)
    control = engine.new_control()
    fields = np.ctypeslib.as_array((ctypes.c_int64 * CONTROL_FIELDS).from_address(control))
    fields[BatchField.CELLS : BatchField.N_ROWS] = [each.ctypes.data for each in (cells, rows, given)]
    fields[BatchField.N_ROWS : BatchField.STATUSES + 1] = *given.shape, statuses.ctypes.data
    fields[[BatchField.N_MATCHERS, BatchField.BATCH, BatchField.SEATS]] = len(matchers), 1, 1
    engine.help_with_masks(control, 1)
    assert np.array_equal(given, expected)


def test_batches_at_the_same_time_do_not_mix(batch: Any, tiny_tokenizer: Any) -> None:
    matchers, _, expected = batch
    wrong: list[int] = []

    def work(number: int) -> None:
        mine = llmask.allocate_bitmask(len(matchers), tiny_tokenizer.vocab_size)
        for _ in range(200):
            mine[:] = 0
            llmask.fill_bitmasks(matchers, mine, threads=3)
            if not np.array_equal(mine, expected):
                wrong.append(number)

    side_by_side(work, range(3))
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads(batch: Any) -> None:
    matchers, given, expected = batch
    llmask.fill_bitmasks(matchers, given, threads=2)
    child = os.fork()
    if child == 0:
        given[:] = 0
        for _ in range(20):
            llmask.fill_bitmasks(matchers, given, threads=2)
        os._exit(7 if np.array_equal(given, expected) else 8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
