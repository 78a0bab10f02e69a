"""Bitmasks on torch tensors: every floating dtype, any strides, masks from NumPy and from torch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from llmask.errors import LlmaskError
from llmask.mask.apply import apply_bitmask

torch = pytest.importorskip("torch", reason="torch is not installed")
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def random_mask(rng: random.Random, batch: int, n_words: int) -> np.ndarray:
    words = [[rng.getrandbits(32) - 2**31 for _ in range(n_words)] for _ in range(batch)]
    return np.array(words, np.int64).astype(np.int32)


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
