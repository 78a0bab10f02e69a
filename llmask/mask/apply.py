"""From bitmask to logits: allocate a bitmask, and set every refused logit to minus infinity.

A bitmask is `int32[batch, ceil(vocab_size / 32)]`; token t is bit `t % 32` of word `t // 32`, and 1 means allowed: the
layout that vLLM, SGLang, XGrammar and llguidance read, so masks may be passed between them. Models often have more
logits than the tokenizer has tokens, because their matrices are padded to a round size. Nobody may sample the rest, so
logits beyond the mask become minus infinity too.

The bits are spread to one byte a token and applied with one masked copy. A compiled loop over the words was not worth a
kernel: this costs 0.2 ms a row of 128k logits, and the sampling that follows costs more.

In: logits (NumPy or torch, any strides, any device) and a bitmask. Out: the same logits, changed in place.
Cost: O(logits); a scratch array of one byte a logit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from llmask.errors import LimitExceeded, LlmaskError

if TYPE_CHECKING:
    import torch

BITS_PER_WORD = 32
_FLOATS = (np.float16, np.float32, np.float64)


def allocate_bitmask(batch: int, vocab_size: int) -> npt.NDArray[np.int32]:
    """Make a bitmask in which every token is allowed.

    Parameters
    ----------
    batch : number of rows, one a sequence.
    vocab_size : number of tokens of the tokenizer.

    Returns
    -------
    int32[batch, ceil(vocab_size / 32)], every bit set, those at or beyond `vocab_size` in the last word included;
    `Matcher.fill_bitmask` writes every word of its row and clears them. The caller owns the array and reuses it.

    Raises
    ------
    LlmaskError
        when a size is not a positive integer (`batch` may be 0).
    LimitExceeded
        when the machine has no memory for so many words.

    Examples
    --------
    >>> allocate_bitmask(1, 70)
    array([[-1, -1, -1]], dtype=int32)
    """
    for name, value, least in (("batch", batch, 0), ("vocab_size", vocab_size, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise LlmaskError(f"{name} must be an integer of at least {least}, not {value!r}")
    shape = int(batch), -(-int(vocab_size) // BITS_PER_WORD)
    try:
        return np.full(shape, -1, np.int32)
    except (MemoryError, ValueError):  # more than there is, or more than an array can have
        raise LimitExceeded(
            f"a bitmask of {shape[0]} rows of {shape[1]} words needs {4 * shape[0] * shape[1]} bytes, and there is no "
            "memory for them",
            help="give one row for each sequence of a batch, and the size of the vocabulary",
        ) from None


def apply_bitmask(logits: npt.NDArray[Any] | torch.Tensor, mask: npt.NDArray[np.int32] | torch.Tensor) -> None:
    """Set the logits of refused tokens, and logits beyond the mask, to minus infinity, in place.

    Parameters
    ----------
    logits : float[vocab] or float[batch, vocab]; NumPy (16, 32 or 64 bits) or torch (any floating dtype and device).
        Any strides: a column of a record array works as well as a contiguous block.
    mask : int32[words] or int32[batch, words], NumPy or torch; a single row also fits logits of one dimension.

    Raises
    ------
    LlmaskError
        when a dtype or shape does not fit; the logits are unchanged then.

    Examples
    --------
    >>> logits = np.zeros(4, np.float32)
    >>> apply_bitmask(logits, np.array([0b0101], np.int32))
    >>> logits
    array([  0., -inf,   0., -inf], dtype=float32)
    """
    if _is_torch(logits):
        _apply_to_torch(logits, mask)
        return
    if not isinstance(logits, np.ndarray):
        raise LlmaskError(
            f"logits are a {type(logits).__name__}; only a NumPy array or a torch tensor can be changed in place",
            help="convert them first, for instance with numpy.asarray(logits, dtype=numpy.float32)",
        )
    if logits.dtype.type not in _FLOATS:
        raise LlmaskError(
            f"logits have dtype {logits.dtype}, which cannot hold minus infinity as a score",
            help="use float16, float32 or float64",
        )
    if not logits.flags.writeable:
        raise LlmaskError("logits are read-only and cannot be changed in place", help="pass logits.copy()")
    words = _match_rows(mask, logits.shape)
    if _is_torch(words):
        words = words.detach().cpu().numpy()
    n_masked = min(logits.shape[-1], words.shape[-1] * BITS_PER_WORD)
    octets = np.ascontiguousarray(words, dtype="<i4").view(np.uint8)
    is_allowed = np.unpackbits(octets, axis=-1, count=n_masked, bitorder="little").view(np.bool_)
    np.copyto(logits[..., :n_masked], -np.inf, where=~is_allowed)
    logits[..., n_masked:] = -np.inf


def _apply_to_torch(logits: Any, mask: Any) -> None:
    """`apply_bitmask` for a torch tensor; the bits are spread on the logits' own device."""
    import torch

    _check_dense(logits, "logits are")
    if not logits.is_floating_point() or logits.dtype.itemsize == 1:
        raise LlmaskError(
            f"logits have dtype {logits.dtype}, which cannot hold minus infinity as a score",
            help="use torch.float16, torch.bfloat16, torch.float32 or torch.float64",
        )
    if logits.requires_grad and logits.is_leaf and torch.is_grad_enabled():
        raise LlmaskError("logits are parameters that gradients are kept of", help="pass logits.detach()")
    words = _match_rows(mask if _is_torch(mask) else np.asarray(mask), tuple(logits.shape))
    if not _is_torch(words):
        words = torch.from_numpy(np.ascontiguousarray(words))
    octets = words.to(logits.device).contiguous().view(torch.uint8)
    shifts = torch.arange(8, dtype=torch.uint8, device=logits.device)
    is_refused = octets.unsqueeze(-1).bitwise_right_shift(shifts).bitwise_and_(1).eq_(0).flatten(-2).bool()
    n_masked = min(logits.shape[-1], is_refused.shape[-1])
    logits[..., :n_masked].masked_fill_(is_refused[..., :n_masked], -torch.inf)
    logits[..., n_masked:].fill_(-torch.inf)


def _check_dense(tensor: Any, what: str) -> None:
    """Refuse a tensor of torch whose values do not lie in memory at strides: sparse, nested."""
    if tensor.is_nested or str(tensor.layout) != "torch.strided":
        kind = "nested" if tensor.is_nested else str(tensor.layout)
        raise LlmaskError(f"{what} a tensor that is {kind}, not dense", help="pass tensor.to_dense()")


def _match_rows(mask: Any, logits_shape: tuple[int, ...]) -> Any:
    """Check the mask against the shape of the logits; returns it with as many dimensions as they have."""
    if not isinstance(mask, np.ndarray) and not _is_torch(mask):
        raise LlmaskError(
            f"the mask is a {type(mask).__name__}; it must be a NumPy array or a torch tensor",
            help="make one with llmask.allocate_bitmask(batch, vocab_size)",
        )
    if _is_torch(mask):
        _check_dense(mask, "the mask is")
        if mask.device.type == "meta":
            raise LlmaskError(
                "the mask lies on no device, so it has no bits",
                help="make one with llmask.allocate_bitmask(batch, vocab_size)",
            )
    if str(mask.dtype).removeprefix("torch.") != "int32":
        raise LlmaskError(
            f"the mask has dtype {mask.dtype}; it must be int32, one bit a token",
            help="make one with llmask.allocate_bitmask(batch, vocab_size)",
        )
    if len(logits_shape) not in (1, 2):
        raise LlmaskError(
            f"logits have shape {logits_shape}; they must have one dimension, or two for a batch",
            help="pass one position of the sequences: logits[:, -1, :]",
        )
    shape = tuple(mask.shape)
    if len(logits_shape) == 1 and len(shape) == 2 and shape[0] == 1:
        return mask[0]
    if len(shape) != len(logits_shape) or shape[:-1] != logits_shape[:-1]:
        raise LlmaskError(
            f"logits of shape {logits_shape} and a mask of shape {shape} do not have the same rows",
            help="each row of logits needs the row of the mask with the same number",
        )
    return mask


def _is_torch(value: object) -> bool:
    """Whether `value` is a torch tensor, found out without importing torch."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "is_floating_point")
