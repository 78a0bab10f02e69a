"""Bitmasks are applied to logits of every kind; the judge is a loop over single bits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from llmask.errors import LimitExceeded, LlmaskError
from llmask.mask.apply import allocate_bitmask, apply_bitmask, id_mask


def twin(logits: list[float], words: list[int]) -> list[float]:
    """What the logits must become, by the definition of the layout."""
    return [
        logit if token // 32 < len(words) and words[token // 32] >> (token % 32) & 1 else -math.inf
        for token, logit in enumerate(logits)
    ]


def random_mask(rng: random.Random, batch: int, n_words: int) -> np.ndarray:
    words = [[rng.getrandbits(32) - 2**31 for _ in range(n_words)] for _ in range(batch)]
    return np.array(words, np.int64).astype(np.int32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n_logits", [1, 31, 32, 33, 95, 96, 97, 130])
def test_numpy_logits_of_every_width_follow_the_definition(rng: random.Random, dtype: Any, n_logits: int) -> None:
    mask = random_mask(rng, 3, 3)
    logits = np.arange(3 * n_logits).reshape(3, n_logits).astype(dtype)
    expected = [twin(row.tolist(), words.tolist()) for row, words in zip(logits, mask, strict=True)]
    apply_bitmask(logits, mask)
    assert logits.tolist() == expected


@pytest.mark.parametrize("n_rows", [40, 80])
def test_batches_that_do_not_fit_the_caches(n_rows: int) -> None:
    """5 and 10 MB: of the larger one memory is asked for ahead. Words refuse few tokens, many, all, and none."""
    numbers = np.random.default_rng(7)
    n_logits = 32_000 + 5
    mask = numbers.integers(-(2**31), 2**31, (n_rows, 1001)).astype(np.int32)
    mask[numbers.random(mask.shape) < 0.3] = -1
    mask[numbers.random(mask.shape) < 0.2] = 0
    few = numbers.random(mask.shape) < 0.4
    mask[few] = ~(1 << numbers.integers(0, 31, few.sum())).astype(np.int32)
    allowed = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little")[:, :n_logits].astype(bool)
    logits = numbers.random((n_rows, n_logits), np.float32)
    expected = np.where(allowed, logits, np.float32(-np.inf))
    beside = logits.copy()
    apply_bitmask(logits[::2], mask[::2])
    assert np.array_equal(logits[::2], expected[::2])
    assert np.array_equal(logits[1::2], beside[1::2])
    apply_bitmask(beside, mask)
    assert np.array_equal(beside, expected)


def test_strided_logits_are_changed_in_place(rng: random.Random) -> None:
    records = np.zeros(70, np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True))
    records["id"] = np.arange(70)
    mask = random_mask(rng, 1, 3)
    apply_bitmask(records["logit"], mask[0])
    assert records["logit"].tolist() == twin([0.0] * 70, mask[0].tolist())
    assert records["id"].tolist() == list(range(70))
    assert not records["p"].any()
    columns = np.zeros((70, 2), np.float32)[::-1].T
    both = random_mask(rng, 2, 3)
    apply_bitmask(columns, both)
    assert columns.tolist() == [twin([0.0] * 70, words) for words in both.tolist()]


def test_a_mask_of_one_row_fits_logits_of_one_dimension() -> None:
    logits = np.zeros(4, np.float32)
    apply_bitmask(logits, np.array([[0b0110]], np.int32))
    assert logits.tolist() == [-math.inf, 0, 0, -math.inf]


def test_strided_masks_are_read_row_by_row(rng: random.Random) -> None:
    wide = random_mask(rng, 4, 6)
    mask = wide[::2, ::3]
    logits = np.zeros((2, 64), np.float32)
    apply_bitmask(logits, mask)
    assert logits.tolist() == [twin([0.0] * 64, words) for words in mask.tolist()]


def test_a_new_bitmask_allows_everything_and_covers_the_vocabulary() -> None:
    mask = allocate_bitmask(2, 33)
    assert mask.shape == (2, 2)
    assert mask.dtype == np.int32
    assert (mask == -1).all()
    assert allocate_bitmask(0, 32).shape == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1, size), f"vocab_size must be an integer of at least 1, not {size}") for size in (0, -5, 3.0)]
    + [((batch, 3), f"batch must be an integer of at least 0, not {batch}") for batch in (-1, True)],
)
def test_bad_sizes_are_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        allocate_bitmask(*arguments)
    assert caught.value.message == message


@pytest.mark.parametrize(("batch", "vocab_size"), [(2**40, 128_256), (2**70, 1), (1, 2**70), (2**62, 2**62)])
def test_a_bitmask_for_which_there_is_no_memory_is_refused(batch: int, vocab_size: int) -> None:
    with pytest.raises(LimitExceeded) as caught:
        allocate_bitmask(batch, vocab_size)
    n_words = -(-vocab_size // 32)
    assert str(caught.value) == (
        f"a bitmask of {batch} rows of {n_words} words needs {4 * batch * n_words} bytes, and there is no memory for "
        "them\n  give one row for each sequence of a batch, and the size of the vocabulary"
    )


MAKE_ONE = "\n  make one with llmask.allocate_bitmask(batch, vocab_size)"
ROWS = "\n  each row of logits needs the row of the mask with the same number"
ONE_WORD = np.full((1, 1), -1, np.int32)
BAD_CALLS = [
    (
        np.zeros((1, 4), np.float32),
        ONE_WORD.astype(np.int64),
        "the mask has dtype int64; it must be int32, one bit a token" + MAKE_ONE,
    ),
    (np.zeros((1, 4), np.float32), [[-1]], "the mask is a list; it must be a NumPy array or a torch tensor" + MAKE_ONE),
    (
        np.zeros((1, 4), np.float32),
        ONE_WORD[0],
        "logits of shape (1, 4) and a mask of shape (1,) do not have the same rows" + ROWS,
    ),
]


@pytest.mark.parametrize(("logits", "mask", "message"), BAD_CALLS)
def test_what_does_not_fit_is_refused_with_its_reason(logits: Any, mask: Any, message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, mask)
    assert str(caught.value) == message


def test_a_row_of_ids() -> None:
    assert id_mask([0, 33, 64], 2).tolist() == [1, 2]
    assert id_mask([], 2).tolist() == [0, 0]
    assert id_mask([31], 1).tolist() == [-(2**31)]


def test_read_only_logits_are_refused() -> None:
    logits = np.zeros(4, np.float32)
    logits.flags.writeable = False
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, ONE_WORD)
    assert str(caught.value) == "logits are read-only and cannot be changed in place\n  pass logits.copy()"


def define(logits: np.ndarray, mask: np.ndarray, rows: list[int]) -> tuple[np.ndarray, list[int]]:
    """Logits after the mask by NumPy, and the dead rows among `rows`."""
    n_rows, n_logits = logits.shape
    bits = np.unpackbits(mask.astype("<i4").view(np.uint8), axis=-1, bitorder="little")
    is_allowed = np.zeros((n_rows, n_logits), np.bool_)
    n_masked = min(n_logits, bits.shape[1])
    is_allowed[:, :n_masked] = bits[:, :n_masked]
    masked = logits.copy()
    for row in rows:
        masked[row, ~is_allowed[row]] = -np.inf
    return masked, [row for row in rows if np.isneginf(masked[row]).all()]


def random_words(rng: random.Random, n_rows: int, n_words: int) -> np.ndarray:
    """Masks in which words of all ones and of zero are as frequent as in real ones."""
    few = rng.choice([0.0, 0.5, 1.0])
    words = [
        rng.choice([0, -1]) if rng.random() < few else rng.getrandbits(32) - 2**31 for _ in range(n_rows * n_words)
    ]
    return np.array(words, np.int64).astype(np.int32).reshape(n_rows, n_words)


def random_logits(rng: random.Random, n_rows: int, n_logits: int) -> np.ndarray:
    """Logits with infinities and NaN among them; some rows are minus infinity, or nearly."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    logits = numbers.normal(size=(n_rows, n_logits))
    if rng.random() < 0.5:
        logits[numbers.random(logits.shape) < 0.3] = rng.choice([-math.inf, math.inf, math.nan])
    for row in logits:
        if row.size and rng.random() < 0.3:
            row[:] = -math.inf
            row[rng.randrange(n_logits)] = rng.choice([-math.inf, math.inf, math.nan, 1.0])
    return logits


def _records(n_rows: int, n_logits: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    table = np.zeros((n_rows, n_logits), [("id", np.uint8), ("logit", dtype), ("p", np.uint8)])
    return table, table["logit"]


VIEWS: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "side by side": lambda table, n_rows, n_logits: table[:n_rows, :n_logits],
    "every third": lambda table, n_rows, n_logits: table[1::2, 2::3][:n_rows, :n_logits],
    "backwards": lambda table, n_rows, n_logits: table[::-1, ::-1][:n_rows, 1 : n_logits + 1],
    "columns": lambda table, n_rows, n_logits: table.reshape(table.shape[::-1]).T[:n_rows, :n_logits],
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8"])
@pytest.mark.parametrize("layout", [*VIEWS, "packed records"])
def test_random_masks_follow_the_definition_bit_for_bit(
    rng: random.Random, scaled: Callable[[int], int], dtype: str, layout: str
) -> None:
    for _ in range(scaled(40)):
        n_rows, n_logits = rng.randrange(5), rng.choice([0, 1, 2, 31, 32, 33, 64, 97, 130, 1000])
        if layout in VIEWS:
            table = np.zeros((2 * n_rows + 2, 3 * n_logits + 3), dtype)
            logits = VIEWS[layout](table, n_rows, n_logits)
        else:
            table, logits = _records(n_rows, n_logits, dtype)
        logits[...] = given = random_logits(rng, n_rows, n_logits).astype(dtype)
        wide = random_words(rng, n_rows, 2 * (n_logits // 32 + rng.randrange(3)))
        mask = rng.choice([wide, wide[:, ::2], wide[:, ::-1], wide[::-1]])
        rows = rng.choice([None, [row for row in range(n_rows)[::-1] if rng.random() < 0.5]])
        expected, dead = define(given, mask, list(range(n_rows)) if rows is None else rows)
        assert apply_bitmask(logits, mask, rows) == dead
        assert logits.tobytes() == expected.tobytes()
        logits[...] = 0
        assert not np.frombuffer(table.tobytes(), np.uint8).any()  # nothing between the logits was written


def test_rows_that_have_nothing_left_are_told() -> None:
    logits = np.full((4, 40), -np.inf, np.float32)
    logits[1, 3] = np.nan
    logits[2, 3] = 1.0
    logits[3, 39] = np.inf
    mask = np.array([[-1, -1], [-1, -1], [~8, -1], [0, 128]], np.int32)
    assert apply_bitmask(logits, mask) == [0, 2]
    assert apply_bitmask(logits, mask, np.array([3, 2])) == [2]
    assert apply_bitmask(np.zeros(8, np.float16), np.array([256], np.int32)) == [0]
    assert apply_bitmask(np.zeros((2, 0), np.float64), mask[:2]) == [0, 1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 2], "row 2 is named and the logits have 2\n  rows count from 0"),
        ([-1], "row -1 is named and the logits have 2\n  rows count from 0"),
        ([0.5], "a row is an integer, not float\n  give it as an int"),
        (1, "rows are a sequence of integers, not int\n  for one row use a list of one"),
    ],
)
def test_rows_that_do_not_exist_are_refused(rows: Any, message: str) -> None:
    logits = np.zeros((2, 4), np.float32)
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, np.zeros((2, 1), np.int32), rows)
    assert str(caught.value) == message
    assert not logits.any()


def test_threads_apply_masks_at_once(rng: random.Random) -> None:
    masks = [random_words(rng, 4, 300) for _ in range(8)]
    given = random_logits(rng, 4, 9600).astype(np.float32)

    def apply(mask: np.ndarray) -> np.ndarray:
        logits = given.copy()
        apply_bitmask(logits, mask)
        return logits

    with ThreadPoolExecutor(8) as pool:
        for mask, logits in zip(masks * 20, pool.map(apply, masks * 20), strict=True):
            assert logits.tobytes() == define(given, mask, [0, 1, 2, 3])[0].tobytes()
