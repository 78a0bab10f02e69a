"""From bitmask to logits on a GPU: one Triton kernel, for logits that are nothing but numbers in its memory.

A program takes `BLOCK` logits of one row. It reads the words of the mask (32 neighbours read the same one), writes
minus infinity where a bit is 0 or beyond the mask, and reads the other logits to tell whether one is left. Each program
has a place of its own for its answer, so that nothing has to be cleared before and no program waits for another.

The first call on a device compiles, about a second a dtype; Triton keeps what it compiled on the disk. The module is
imported only when there are logits on a GPU. `TRITON_INTERPRET=1` runs the kernel in NumPy on the CPU, as its tests do.

In: logits, mask and rows, all on one device. Out: the logits, changed in place, and for each block of each row whether
it has nothing left. Cost: the launch of one kernel, and each logit of a row read or written once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BLOCK = 4096  # logits a program, 128 words of the mask


@triton.jit
def _refuse(
    logits,
    logits_row,
    logits_stride,
    n_logits,
    words,
    words_row,
    words_stride,
    n_words,
    rows,
    is_dead,
    has_rows: tl.constexpr,
    block: tl.constexpr,
):
    """Apply the mask to one block of one row; strides are in items, and products with them may need 64 bits."""
    number = tl.program_id(0).to(tl.int64)
    row = tl.load(rows + number) if has_rows else number
    token = tl.program_id(1).to(tl.int64) * block + tl.arange(0, block)
    is_inside = token < n_logits
    word = tl.load(words + row * words_row + (token // 32) * words_stride, mask=token // 32 < n_words, other=0)
    is_allowed = ((word >> (token % 32).to(tl.int32)) & 1) == 1
    places = logits + row * logits_row + token * logits_stride
    tl.store(places, float("-inf"), mask=is_inside & ~is_allowed)
    left = tl.load(places, mask=is_inside & is_allowed, other=float("-inf"))
    n_left = tl.sum((left != float("-inf")).to(tl.int32), axis=0)  # NaN is left, too
    tl.store(is_dead + number * tl.num_programs(1) + tl.program_id(1), (n_left == 0).to(tl.int8))


def apply_rows(logits: torch.Tensor, words: torch.Tensor, rows: torch.Tensor | None) -> torch.Tensor:
    """Set refused logits, and those beyond the mask, to minus infinity, in place; waits for nothing.

    Parameters
    ----------
    logits : float[n_rows, n_logits], any strides, no two logits in one place.
    words : int32[n_rows, n_words], any strides.
    rows : int64[n], the rows to change; None: all.

    Returns
    -------
    int8[n, n_blocks]: 1 where a block of a row has only minus infinity left.
    """
    n_rows = logits.shape[0] if rows is None else rows.shape[0]
    grid = n_rows, triton.cdiv(logits.shape[1], BLOCK)
    is_dead = torch.empty(grid, dtype=torch.int8, device=logits.device)
    if 0 not in grid:
        with torch.cuda.device_of(logits):  # Triton launches on the current device
            _refuse[grid](
                logits,
                logits.stride(0),
                logits.stride(1),
                logits.shape[1],
                words,
                words.stride(0),
                words.stride(1),
                words.shape[1],
                rows,
                is_dead,
                has_rows=rows is not None,
                block=BLOCK,
                enable_fp_fusion=False,  # nothing to fuse, and Triton 3.9 warns where nobody decides
            )
    return is_dead
