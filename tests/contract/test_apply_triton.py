"""The Triton kernel gives what the compiled loop on the CPU gives, bit for bit.

Triton's interpreter runs the kernel on the CPU; it has to be asked for before Triton is imported, so the cases run in a
process of their own. A thousand of them: `LLMASK_TEST_EFFORT=40`. Where there is a GPU, the cases run on it, too, and
torch's operations, which are used where Triton is missing, are held to the same.
"""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

for framework in ("torch", "triton"):
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed", allow_module_level=True)


def run_cases(n_cases: int, seed: str, device: str) -> None:
    """Compare both on random logits, masks, rows and strides; for the CPU in a process with TRITON_INTERPRET=1."""
    import numpy as np
    import torch

    from llmask.mask.apply import _apply_in_torch, _apply_on_device, _triton_kernel, apply_bitmask
    from llmask.mask.apply_triton import BLOCK

    kernel = _triton_kernel(torch.device(device))
    assert kernel is not None
    rng = random.Random(seed)
    for case in range(n_cases):
        numbers = torch.Generator().manual_seed(rng.getrandbits(32))
        dtype = rng.choice([torch.float16, torch.bfloat16, torch.float32, torch.float64])
        n_rows = rng.randrange(1, 6)
        n_logits = rng.choice([1, 2, 31, 32, 33, 97, 130, BLOCK - 1, BLOCK, BLOCK + 1, rng.randrange(1, 4 * BLOCK)])
        step = rng.choice([1, 1, 1, 2, 3])
        table = torch.randn((2 * n_rows, step * n_logits + rng.randrange(4)), generator=numbers).to(dtype)
        if rng.random() < 0.3:
            table = table.T.contiguous().T
        logits = table[rng.randrange(2) :: 2, : step * n_logits : step]
        few = rng.choice([-torch.inf, torch.inf, torch.nan])
        logits[torch.rand(logits.shape, generator=numbers) < 0.1] = few
        for row in logits:
            if rng.random() < 0.5:
                row[:] = -torch.inf
                row[rng.randrange(n_logits)] = rng.choice([-torch.inf, torch.inf, torch.nan, 1.0])
        n_words = max(0, -(-n_logits // 32) + rng.choice([0, 0, 0, -100, -2, -1, 1, 100]))
        words = torch.randint(-(2**31), 2**31, (n_rows, 2 * n_words), dtype=torch.int64, generator=numbers).int()
        for extreme in (0, -1):  # as frequent as in real masks
            words[torch.rand(words.shape, generator=numbers) < rng.choice([0, 0.3, 1])] = extreme
        words = rng.choice([words[:, :n_words], words[:, ::2]])
        rows = rng.choice([None, [row for row in range(n_rows)[::-1] if rng.random() < 0.5]])

        whole = table.clone(memory_format=torch.preserve_format)
        expected = whole.as_strided(logits.shape, logits.stride(), logits.storage_offset())
        dead = apply_bitmask(expected, words, rows)
        chosen = None if rows is None else np.array(rows, np.int64)
        bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
        is_row = n_rows == 1 and rng.random() < 0.5
        words = rng.choice([words, words.numpy(), words.to(device)])
        for apply_rows in (kernel,) if device == "cpu" else (kernel, _apply_in_torch):
            there = table.to(device, copy=True, memory_format=torch.preserve_format)
            changed = there.as_strided(logits.shape, logits.stride(), logits.storage_offset())
            row, mask = (changed[0], words[0]) if is_row else (changed, words)
            assert _apply_on_device(row, mask, chosen, apply_rows) == dead, case
            assert torch.equal(there.cpu().view(bits), whole.view(bits)), case  # what is between the logits, too


def devices() -> list[str]:
    """The CPU, where the kernel is interpreted, and a GPU if there is one."""
    import torch

    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.mark.parametrize("device", devices())
def test_the_kernel_gives_what_the_cpu_gives(
    rng: random.Random, scaled: Callable[[int], int], project_root: Path, device: str
) -> None:
    subprocess.run(
        [sys.executable, __file__, str(scaled(25)), str(rng.getrandbits(32)), device],
        env={**os.environ, "TRITON_INTERPRET": str(int(device == "cpu")), "PYTHONPATH": str(project_root)},
        check=True,
    )


if __name__ == "__main__":
    run_cases(int(sys.argv[1]), sys.argv[2], sys.argv[3])
