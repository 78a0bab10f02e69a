"""Bitmasks on torch tensors: every floating dtype, any strides, masks from NumPy and from torch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llmask.errors import LlmaskError
from llmask.mask.apply import DeadRows, apply_bitmask, masked_copy
from tests.unit.mask.test_apply import random_mask

torch = pytest.importorskip("torch", reason="torch is not installed")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("n_logits", [31, 64, 96, 97, 130])
def test_torch_and_numpy_agree(rng: random.Random, dtype: torch.dtype, n_logits: int) -> None:
    mask = random_mask(rng, 3, 3)
    expected = np.zeros((3, n_logits), np.float32)
    apply_bitmask(expected, mask)
    for words in (mask, torch.from_numpy(mask), torch.from_numpy(mask.repeat(2, axis=1))[:, ::2]):
        logits = torch.zeros((3, n_logits), dtype=dtype)
        apply_bitmask(logits, words)
        assert logits.float().numpy().tolist() == expected.tolist()


def test_a_view_of_torch_logits_is_changed_in_place(rng: random.Random) -> None:
    mask = random_mask(rng, 2, 2)
    expected = np.zeros((2, 64), np.float32)
    apply_bitmask(expected, mask)
    logits = torch.zeros((64, 5, 2))
    apply_bitmask(logits[:, 3, :].T, mask)
    assert logits[:, 3, :].T.tolist() == expected.tolist()
    assert torch.isfinite(logits[:, [0, 1, 2, 4]]).all()


def test_numpy_logits_take_a_torch_mask() -> None:
    logits = np.zeros(4, np.float32)
    apply_bitmask(logits, torch.tensor([5], dtype=torch.int32))
    assert logits.tolist() == [0, -np.inf, 0, -np.inf]


def test_integer_logits_are_refused() -> None:
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(torch.zeros(4, dtype=torch.int64), np.array([5], np.int32))
    assert str(caught.value) == (
        "logits have dtype torch.int64, which cannot hold minus infinity as a score\n"
        "  use torch.float16, torch.bfloat16, torch.float32 or torch.float64"
    )


@pytest.mark.parametrize("device", DEVICES)
def test_logits_stay_on_their_device(rng: random.Random, device: str) -> None:
    mask = random_mask(rng, 2, 4)
    expected = np.zeros((2, 130), np.float32)
    apply_bitmask(expected, mask)
    for words in (mask, torch.from_numpy(mask), torch.from_numpy(mask).to(device)):
        logits = torch.zeros((2, 130), device=device)
        apply_bitmask(logits, words)
        assert logits.device.type == device
        assert logits.cpu().tolist() == expected.tolist()


MAKE_ONE = "\n  make one with llmask.allocate_bitmask(batch, vocab_size)"
INT32 = "the mask has dtype torch.bfloat16; it must be int32, one bit a token" + MAKE_ONE
WORDS = torch.full((1, 2), -1, dtype=torch.int32)
MASKS = [
    (WORDS.to(torch.bfloat16), INT32),
    (WORDS.to_sparse(), "the mask is a tensor that is torch.sparse_coo, not dense\n  pass tensor.to_dense()"),
    (WORDS.to("meta"), "the mask lies on no device, so it has no bits" + MAKE_ONE),
]
LOGITS = [
    (
        torch.zeros(1, 64).to_sparse(),
        "logits are a tensor that is torch.sparse_coo, not dense\n  pass tensor.to_dense()",
    ),
    (
        torch.zeros((1, 64), dtype=torch.float8_e4m3fn),
        "logits have dtype torch.float8_e4m3fn, which cannot hold minus infinity as a score\n"
        "  use torch.float16, torch.bfloat16, torch.float32 or torch.float64",
    ),
    (
        torch.zeros((1, 64), requires_grad=True),
        "logits are parameters that gradients are kept of\n  pass logits.detach()",
    ),
]


@pytest.mark.parametrize(("mask", "message"), MASKS)
@pytest.mark.parametrize("make_logits", [torch.zeros, np.zeros])
def test_masks_that_cannot_be_read_are_refused_with_their_reason(mask: Any, message: str, make_logits: Any) -> None:
    # torch's own error came through, which names no argument
    logits = make_logits((1, 64))
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, mask)
    assert str(caught.value) == message
    assert not logits.any()


@pytest.mark.parametrize(("logits", "message"), LOGITS)
def test_logits_that_cannot_be_changed_are_refused_with_their_reason(logits: Any, message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        apply_bitmask(logits, WORDS)
    assert str(caught.value) == message


def test_logits_on_the_way_to_a_gradient_are_changed() -> None:
    weights = torch.ones(32, requires_grad=True)
    logits = weights * 2
    apply_bitmask(logits, torch.tensor([1], dtype=torch.int32))
    assert logits[0] == 2
    assert torch.isneginf(logits[1:]).all()
    with torch.no_grad():
        apply_bitmask(weights, torch.tensor([1], dtype=torch.int32))
    assert torch.isneginf(weights[1:]).all()


def test_a_gradient_that_needs_the_old_logits_is_an_error() -> None:
    """The kernel writes past torch, which has to be told of it."""
    weights = torch.ones(32, requires_grad=True)
    logits = torch.ones(32)
    product = weights * logits
    apply_bitmask(logits, torch.tensor([1], dtype=torch.int32))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


VIEWS: dict[str, Callable[[Any, int, int], Any]] = {
    "side by side": lambda table, n_rows, n_logits: table[:n_rows, :n_logits],
    "every third": lambda table, n_rows, n_logits: table[1::2, 2::3][:n_rows, :n_logits],
    "columns": lambda table, n_rows, n_logits: table.T.reshape(table.shape).T[:n_rows, :n_logits],
    "negated": lambda table, n_rows, n_logits: torch._neg_view(table)[:n_rows, :n_logits],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("layout", VIEWS)
def test_random_masks_follow_the_definition(
    rng: random.Random, scaled: Callable[[int], int], layout: str, dtype: torch.dtype, device: str
) -> None:
    for _ in range(scaled(40)):
        n_rows, n_logits = rng.randrange(1, 5), rng.choice([1, 2, 31, 32, 33, 64, 97, 130, 1000])
        side = max(2 * n_rows + 2, 3 * n_logits + 3) if layout == "columns" else 0
        table = torch.zeros((side or 2 * n_rows + 2, side or 3 * n_logits + 3), dtype=dtype, device=device)
        logits = VIEWS[layout](table, n_rows, n_logits)
        values = [rng.choice([-torch.inf, torch.inf, torch.nan, -2.0, 1.0]) for _ in range(n_rows * n_logits)]
        given = torch.tensor(values, dtype=dtype, device=device).reshape(n_rows, n_logits)
        given[rng.randrange(n_rows)] = -torch.inf
        logits.copy_(given)
        n_words = n_logits // 32 + rng.randrange(3)
        words = random_mask(rng, n_rows, n_words)
        mask = rng.choice([words, words[:, ::-1], torch.from_numpy(words), torch.from_numpy(words).to(device)])
        rows = rng.choice([None, [row for row in range(n_rows)[::-1] if rng.random() < 0.5]])
        spread = np.asarray(mask.cpu() if isinstance(mask, torch.Tensor) else mask).astype("<i4").view(np.uint8)
        bits = np.unpackbits(spread, axis=-1, bitorder="little")
        is_allowed = np.zeros((n_rows, max(n_logits, bits.shape[1])), np.bool_)
        is_allowed[:, : bits.shape[1]] = bits
        refused = torch.from_numpy(~is_allowed[:, :n_logits]).to(device)
        copied, dead_copies = masked_copy(logits, mask)
        every_row = torch.where(refused, torch.tensor(-torch.inf, dtype=dtype, device=device), given)
        is_dead = every_row.isneginf().all(-1)
        torch.testing.assert_close(copied, every_row, rtol=0, atol=0, equal_nan=True)
        assert copied.is_contiguous()
        assert dead_copies == is_dead.nonzero().flatten().tolist()
        torch.testing.assert_close(logits, given, rtol=0, atol=0, equal_nan=True)
        chosen = list(range(n_rows)) if rows is None else rows
        expected = given.clone()
        expected[chosen] = every_row[chosen]
        assert apply_bitmask(logits, mask, rows) == [row for row in chosen if is_dead[row]]
        torch.testing.assert_close(logits, expected, rtol=0, atol=0, equal_nan=True)
        logits.zero_()
        assert not table.any()


def test_logits_of_inference_and_parameters_without_gradient_are_changed() -> None:
    mask = torch.tensor([1], dtype=torch.int32)
    with torch.inference_mode():
        inferred = torch.zeros(3)
    for logits in (inferred, torch.nn.Parameter(torch.zeros(3), False)):
        assert apply_bitmask(logits, mask) == []
        assert logits.tolist() == [0, -torch.inf, -torch.inf]


def test_expanded_scores_are_copied_row_by_row() -> None:
    copied, dead = masked_copy(torch.zeros(4).expand(2, 4), np.array([[1], [2]], np.int32))
    assert dead == []
    assert copied.isfinite().tolist() == [[True, False, False, False], [False, True, False, False]]


def test_dead_rows_of_a_device_are_a_sequence_of_their_numbers() -> None:
    is_dead = torch.tensor([[1, 1], [0, 1], [1, 1]], dtype=torch.int8)
    dead = DeadRows(is_dead, np.array([7, 5, 3]))
    assert dead == [7, 3] == list(dead)
    assert (len(dead), dead[0], dead[-1:], 3 in dead, str(dead)) == (2, 7, [3], True, "[7, 3]")
    is_dead[:] = 0
    assert dead == DeadRows(torch.ones((2, 0)), np.array([7, 3]))  # looked at once; a row without logits is dead
    assert DeadRows(is_dead, None) == []
    assert not DeadRows(is_dead, None)
    scores = torch.zeros((8, 2))
    scores[dead] = 1.0
    assert scores[:, 0].nonzero().flatten().tolist() == [3, 7]


if "cuda" in DEVICES:

    @pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
    def test_a_gpu_is_not_waited_for_and_the_mask_may_be_written_again_at_once() -> None:
        logits = torch.zeros((4, 128_000), device="cuda")
        apply_bitmask(logits, np.full((4, 4000), -1, np.int32))  # what is done once only
        for make_mask in (torch.Tensor.clone, torch.Tensor.pin_memory, torch.Tensor.numpy):
            mask = make_mask(torch.tensor([[-1], [0], [-1], [5]], dtype=torch.int32).repeat(1, 4000))
            logits.zero_()
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode("error")
            try:
                torch.cuda._sleep(100_000_000)
                dead, chosen = apply_bitmask(logits, mask), apply_bitmask(logits, mask, [1, 3])
                mask[:] = -1
            finally:
                torch.cuda.set_sync_debug_mode("default")
            assert dead == chosen == [1]
            assert logits.isfinite().sum(-1).tolist() == [128_000, 0, 128_000, 8_000]
