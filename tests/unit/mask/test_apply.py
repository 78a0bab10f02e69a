"""Bitmasks are applied to logits of every kind; the judge is a loop over single bits."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from llmask.errors import LimitExceeded, LlmaskError
from llmask.mask.apply import allocate_bitmask, apply_bitmask


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
    [
        ((1, 0), "vocab_size must be an integer of at least 1, not 0"),
        ((1, -5), "vocab_size must be an integer of at least 1, not -5"),
        ((1, 3.0), "vocab_size must be an integer of at least 1, not 3.0"),
        ((-1, 3), "batch must be an integer of at least 0, not -1"),
        ((True, 3), "batch must be an integer of at least 0, not True"),
    ],
)
def test_bad_sizes_are_refused(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        allocate_bitmask(*arguments)
    assert str(caught.value) == message


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
        [0.0],
        ONE_WORD,
        "logits are a list; only a NumPy array or a torch tensor can be changed in place\n"
        "  convert them first, for instance with numpy.asarray(logits, dtype=numpy.float32)",
    ),
    (
        np.zeros((1, 4), np.int64),
        ONE_WORD,
        "logits have dtype int64, which cannot hold minus infinity as a score\n  use float16, float32 or float64",
    ),
    (
        np.zeros((1, 4), np.float32),
        ONE_WORD.astype(np.int64),
        "the mask has dtype int64; it must be int32, one bit a token" + MAKE_ONE,
    ),
    (
        np.zeros((1, 4), np.float32),
        [[-1]],
        "the mask is a list; it must be a NumPy array or a torch tensor" + MAKE_ONE,
    ),
    (
        np.zeros((2, 4), np.float32),
        ONE_WORD,
        "logits of shape (2, 4) and a mask of shape (1, 1) do not have the same rows" + ROWS,
    ),
    (
        np.zeros((1, 4), np.float32),
        ONE_WORD[0],
        "logits of shape (1, 4) and a mask of shape (1,) do not have the same rows" + ROWS,
    ),
    (
        np.zeros((1, 1, 4), np.float32),
        ONE_WORD,
        "logits have shape (1, 1, 4); they must have one dimension, or two for a batch\n"
        "  pass one position of the sequences: logits[:, -1, :]",
    ),
]


@pytest.mark.parametrize(("logits", "mask", "message"), BAD_CALLS)
def test_what_does_not_fit_is_refused_with_its_reason(logits: Any, mask: Any, message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, mask)
    assert str(caught.value) == message


def test_read_only_logits_are_refused() -> None:
    logits = np.zeros(4, np.float32)
    logits.flags.writeable = False
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, ONE_WORD)
    assert str(caught.value) == "logits are read-only and cannot be changed in place\n  pass logits.copy()"
