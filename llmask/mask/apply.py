"""From bitmask to logits: allocate a bitmask, and set every refused logit to minus infinity.

A bitmask is `int32[batch, ceil(vocab_size / 32)]`; token t is bit `t % 32` of word `t // 32`, and 1 means allowed: the
layout that vLLM, SGLang, XGrammar and llguidance read, so masks may be passed between them. Models often have more
logits than the tokenizer has tokens, because their matrices are padded to a round size. Nobody may sample the rest, so
logits beyond the mask become minus infinity too.

Logits in this machine's memory are changed by one pass of compiled code (llmask/kernels/mask/apply_mask.py), which also
tells which rows have nothing but minus infinity left. On a GPU a Triton kernel does the same (apply_triton.py), where
Triton is installed. Tensors on other devices, and those that torch watches over (gradients, subclasses), are changed by
torch: bits are spread to one byte a token on their device.

Nothing waits for an accelerator: a mask in this machine's memory is copied first to memory that the device may read at
any time, so that the caller may write the next one at once, and dead rows are fetched when somebody looks at them.

In: logits (NumPy or torch, any strides, any device) and a bitmask. Out: the same logits, changed in place.
Cost: 3 us a call, and for a row of 128k logits 3-12 us; where torch does it, 0.2 ms a row on the CPU.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from llmask.arguments import as_integer
from llmask.errors import LimitExceeded, LlmaskError, level_outside

if TYPE_CHECKING:
    import torch

BITS_PER_WORD = 32
MOST_PADDED = 128  # logits that models add to round their number; or a tenth of them
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
        when the machine has no memory for these words.

    Examples
    --------
    >>> allocate_bitmask(1, 70)
    array([[-1, -1, -1]], dtype=int32)
    """
    for name, value, least in (("batch", batch, 0), ("vocab_size", vocab_size, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise LlmaskError(
                f"{name} must be an integer of at least {least}, not {value!r}",
                help="for example llmask.allocate_bitmask(1, tokenizer.vocab_size)",
            )
    shape = int(batch), -(-int(vocab_size) // BITS_PER_WORD)
    try:
        return np.full(shape, -1, np.int32)
    except (MemoryError, ValueError):  # more than there is, or more than an array can have
        raise LimitExceeded(
            f"a bitmask of {shape[0]} rows of {shape[1]} words needs {4 * shape[0] * shape[1]} bytes, and there is no "
            "memory for them",
            help="give one row for each sequence of a batch, and the size of the vocabulary",
        ) from None


def packed(is_allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """A row of a bitmask, int32[n_words], that allows these tokens: bool[32 * n_words]."""
    return np.packbits(is_allowed, bitorder="little").view(np.int32)


def id_mask(ids: Iterable[int], n_words: int) -> npt.NDArray[np.int32]:
    """The row of a bitmask, int32[n_words], that allows these tokens alone; those beyond it are left out."""
    flags = np.zeros(BITS_PER_WORD * n_words, bool)
    flags[[token for token in ids if token < len(flags)]] = True
    return packed(flags)


def apply_bitmask(
    logits: npt.NDArray[Any] | torch.Tensor,
    mask: npt.NDArray[np.int32] | torch.Tensor,
    rows: Iterable[int] | None = None,
) -> Sequence[int]:
    """Set the logits of refused tokens, and logits beyond the mask, to minus infinity, in place.

    Parameters
    ----------
    logits : float[vocab] or float[batch, vocab]; NumPy (16, 32 or 64 bits) or torch (16 to 64 bits, bfloat16 too, any
        device). Any strides: a column of a record array works as well as a contiguous block.
    mask : int32[words] or int32[batch, words], NumPy or torch; a single row also fits logits of one dimension.
    rows : the rows of logits to change, each by the row of the mask with the same number; None: all.

    Returns
    -------
    The dead ones among these rows, in their order: every logit is minus infinity, so nothing can be sampled. Logits of
    one dimension are row 0. NaN counts as a logit that is left. A list; for logits on an accelerator `DeadRows`, which
    waits for the device when it is first looked at: a loop that ignores it never waits.

    Raises
    ------
    LlmaskError
        when a dtype or shape does not fit, or a row does not exist; the logits are unchanged then.

    Examples
    --------
    >>> logits = np.zeros(4, np.float32)
    >>> apply_bitmask(logits, np.array([0b0101], np.int32))
    []
    >>> logits
    array([  0., -inf,   0., -inf], dtype=float32)
    """
    if _is_torch(logits):
        _check_torch(logits)
        words = _match_rows(mask, tuple(logits.shape))
        chosen = _checked_rows(rows, logits)
        return _apply_to_tensor(logits, words, chosen)
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
    chosen = _checked_rows(rows, logits)
    place = _in_numpy(logits)
    return _apply_compiled(place, place, words, chosen, _minus_infinity(logits.dtype))


class DeadRows(Sequence[int]):
    """The dead rows of logits on an accelerator; looking at them for the first time waits for the device.

    Look at them in the stream in which the mask was applied, or in one that waits for it: they are computed there, like
    any tensor. They are what the logits had left then, whatever is done to the logits later.

    Parameters
    ----------
    is_dead : integers or booleans [n_rows, n_parts], on the device; a row is dead when all of its parts are.
    rows : int64[n_rows], the number of each; None: 0, 1, ...
    """

    def __init__(self, is_dead: torch.Tensor, rows: npt.NDArray[np.int64] | None) -> None:
        self._is_dead = is_dead
        self._rows = rows

    @cached_property
    def _dead(self) -> list[int]:
        found = np.flatnonzero(self._is_dead.cpu().numpy().all(axis=1))
        dead: list[int] = (found if self._rows is None else self._rows[found]).tolist()
        return dead

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return self._dead[index]

    def __len__(self) -> int:
        return len(self._dead)

    def __eq__(self, other: object) -> bool:
        return self._dead == (list(other) if isinstance(other, DeadRows) else other)

    def __repr__(self) -> str:
        return repr(self._dead)


def masked_copy(scores: torch.Tensor, mask: npt.NDArray[np.int32]) -> tuple[torch.Tensor, Sequence[int]]:
    """Copy scores, and set the scores of refused tokens to minus infinity; one pass over memory on the CPU.

    Parameters
    ----------
    scores : float[batch, vocab], torch; unchanged.
    mask : int32[batch, words].

    Returns
    -------
    A new tensor of the same shape, dtype and device, and its dead rows. See `apply_bitmask`, also for errors.
    """
    import torch

    if not (_is_plain(scores) and scores.is_cpu) or (scores.shape[-1] > 1 and scores.stride(-1) != 1):
        _check_dense(scores, "scores are")
        masked = scores.clone(memory_format=torch.contiguous_format)
        return masked, apply_bitmask(masked, mask)
    words = _match_rows(mask, tuple(scores.shape))
    masked = torch.empty_like(scores, memory_format=torch.contiguous_format)
    source = _in_torch(scores)
    row_bytes = source.width * source.size
    target = _Place(masked.data_ptr(), source.n_rows, source.width, row_bytes, source.size, source.size)
    return masked, _apply_compiled(target, source, words, None, _minus_infinities_of_torch()[scores.dtype])


class _Place(NamedTuple):
    """Where a table of numbers lies in memory; one dimension is one row.

    address        of the first number
    n_rows, width  numbers a row
    row_bytes      from a row to the next; may be negative, as the next
    item_bytes     from a number to the next
    size           bytes of a number
    """

    address: int
    n_rows: int
    width: int
    row_bytes: int
    item_bytes: int
    size: int


def _in_numpy(array: npt.NDArray[Any]) -> _Place:
    shape, strides, size = array.shape, array.strides, array.itemsize
    n_rows, row_bytes = (shape[0], strides[0]) if len(shape) == 2 else (1, 0)
    # of a row with one number the stride says nothing
    item_bytes = strides[-1] if shape[-1] > 1 else size
    address = array.__array_interface__["data"][0]
    return _Place(address, n_rows, shape[-1], row_bytes, item_bytes, size)


def _in_torch(tensor: Any) -> _Place:
    shape, strides, size = tensor.shape, tensor.stride(), tensor.element_size()
    n_rows, row_bytes = (shape[0], strides[0] * size) if len(shape) == 2 else (1, 0)
    item_bytes = strides[-1] * size if shape[-1] > 1 else size
    return _Place(tensor.data_ptr(), n_rows, shape[-1], row_bytes, item_bytes, size)


@cache
def _minus_infinity(dtype: np.dtype[Any]) -> int:
    """The bits of minus infinity as kernels take them, in the byte order of the dtype."""
    return int.from_bytes(np.array(-np.inf, dtype).tobytes(), sys.byteorder, signed=dtype.itemsize == 8)


@cache
def _minus_infinities_of_torch() -> dict[Any, int]:
    import torch

    return {
        torch.bfloat16: 0xFF80,
        torch.float16: _minus_infinity(np.dtype(np.float16)),
        torch.float32: _minus_infinity(np.dtype(np.float32)),
        torch.float64: _minus_infinity(np.dtype(np.float64)),
    }


@cache
def _apply_rows() -> Callable[..., int]:
    """The compiled loop; most users of the package's other parts never need it."""
    from llmask.kernels.machine import jit
    from llmask.kernels.mask import apply_mask

    jit.make_ready("apply")
    return jit.entry_point(apply_mask.apply_rows)


def _apply_compiled(
    target: _Place, source: _Place, words: Any, rows: npt.NDArray[np.int64] | None, refused: int
) -> list[int]:
    """Write masked logits from `source` to `target`, which are the same for a change in place; returns dead rows.

    `refused` are the bits of minus infinity.
    """
    words = words.detach().cpu() if _is_torch(words) else words
    mask = _in_torch(words) if _is_torch(words) else _in_numpy(words)
    if mask.item_bytes != mask.size:  # the kernel reads words side by side
        words = np.ascontiguousarray(words.numpy() if _is_torch(words) else words)
        mask = _in_numpy(words)
    n_rows = target.n_rows if rows is None else len(rows)
    dead = np.empty(n_rows, np.int64)
    n_dead = _apply_rows()(
        target.address,
        target.row_bytes,
        source.address,
        source.row_bytes,
        target.item_bytes,
        target.width,
        mask.address,
        mask.row_bytes,
        mask.width,
        0 if rows is None else rows.__array_interface__["data"][0],
        n_rows,
        dead,
        refused,
        target.size,
    )
    return dead[:n_dead].tolist() if n_dead else []


def _checked_rows(rows: Iterable[int] | None, logits: Any) -> npt.NDArray[np.int64] | None:
    """The rows that a caller names, or None for all."""
    if rows is None:
        return None
    try:
        chosen = [as_integer(row, "a row") for row in rows]
    except TypeError:
        raise LlmaskError(
            f"rows are a sequence of integers, not {type(rows).__name__}", help="for one row use a list of one"
        ) from None
    n_rows = logits.shape[0] if len(logits.shape) == 2 else 1
    for row in chosen:
        if not 0 <= row < n_rows:
            raise LlmaskError(f"row {row} is named and the logits have {n_rows}", help="rows count from 0")
    return np.array(chosen, np.int64)


def _check_torch(logits: Any) -> None:
    """Refuse a tensor that cannot hold masked logits."""
    import torch

    _check_dense(logits, "logits are")
    if not logits.is_floating_point() or logits.dtype.itemsize == 1:
        raise LlmaskError(
            f"logits have dtype {logits.dtype}, which cannot hold minus infinity as a score",
            help="use torch.float16, torch.bfloat16, torch.float32 or torch.float64",
        )
    if logits.requires_grad and logits.is_leaf and torch.is_grad_enabled():
        raise LlmaskError("logits are parameters that gradients are kept of", help="pass logits.detach()")


def _is_plain(logits: Any) -> bool:
    """Whether a tensor is nothing but numbers in memory, each in a place of its own.

    Torch has to know of changes to what gradients flow through, refuses to write to what is expanded, keeps some
    tensors negated, and subclasses may be anything.
    """
    import torch

    return (
        (type(logits) is torch.Tensor or type(logits) is torch.nn.Parameter)
        and logits.layout is torch.strided
        and not logits.is_nested
        and logits.dtype in _minus_infinities_of_torch()
        and not logits.requires_grad
        and not logits.is_neg()
        and (0 not in logits.stride() or logits.numel() <= 1)
    )


@cache
def _triton_kernel(device: torch.device) -> Callable[..., Any] | None:
    """The kernel for a GPU; None where Triton is not installed, or cannot compile, as without a C compiler."""
    import torch

    try:
        from llmask.mask.apply_triton import apply_rows

        apply_rows(torch.zeros((1, 1), device=device), torch.zeros((1, 1), dtype=torch.int32, device=device), None)
    except Exception:  # whatever it is: torch does the same more slowly
        return None
    return apply_rows


def _apply_to_tensor(logits: Any, words: Any, rows: npt.NDArray[np.int64] | None) -> Sequence[int]:
    """Apply a mask that fits to a tensor by the fastest way that is open to it."""
    import torch

    is_plain = _is_plain(logits)
    if is_plain and logits.is_cpu:
        place = _in_torch(logits)
        refused = _minus_infinities_of_torch()[logits.dtype]
        dead: Sequence[int] = _apply_compiled(place, place, words, rows, refused)
    elif is_plain and logits.is_cuda and (apply_rows := _triton_kernel(logits.device)):
        dead = _apply_on_device(logits, words, rows, apply_rows)
    else:
        return _apply_on_device(logits, words, rows, _apply_in_torch)
    if not logits.is_inference():  # torch has not seen the change: a gradient that needs the old values is an error
        torch.autograd.graph.increment_version(logits)
    return dead


def _apply_on_device(
    logits: Any, words: Any, rows: npt.NDArray[np.int64] | None, apply_rows: Callable[..., Any]
) -> Sequence[int]:
    """Bring the mask to the logits' device and apply it there; see `apply_triton.apply_rows`."""
    table, words = (logits[None], words[None]) if logits.ndim == 1 else (logits, words)
    index = None if rows is None else _to_device(rows, logits.device)
    dead = DeadRows(apply_rows(table, _to_device(words, logits.device), index), rows)
    return list(dead) if logits.is_cpu else dead


def _to_device(array: Any, device: torch.device) -> torch.Tensor:
    """Copy an array to a device without waiting for it; the caller may change the array at once."""
    import torch

    is_cuda = device.type == "cuda"
    if _is_torch(array) and not (array.is_cpu and is_cuda):
        return array.to(device)
    # only from pinned memory is a copy not waited for; torch keeps this one until it is made
    dtype = torch.int32 if array.dtype.itemsize == 4 else torch.int64
    staged = torch.empty(tuple(array.shape), dtype=dtype, device="cpu", pin_memory=is_cuda)
    if _is_torch(array):
        staged.copy_(array)
    else:
        staged.numpy()[...] = array  # not from_numpy: torch takes no negative strides, not even of one row
    return staged.to(device, non_blocking=is_cuda)


def _apply_in_torch(logits: Any, words: Any, rows: Any) -> Any:
    """Apply a mask by torch's operations; as `apply_triton.apply_rows`, for every tensor."""
    if rows is None:
        return _refuse_in_torch(logits, words)
    chosen = logits.index_select(0, rows)
    is_dead = _refuse_in_torch(chosen, words.index_select(0, rows))
    logits.index_copy_(0, rows, chosen)
    return is_dead


def _refuse_in_torch(logits: Any, words: Any) -> Any:
    """Apply a mask on the same device; returns which rows are dead, bool[n_rows, 1]."""
    import torch

    # a copy, as what `contiguous` leaves may have a stride of 0 where there is one word or none
    octets = words.clone(memory_format=torch.contiguous_format).view(torch.uint8)
    shifts = torch.arange(8, dtype=torch.uint8, device=logits.device)
    is_refused = octets.unsqueeze(-1).bitwise_right_shift(shifts).bitwise_and_(1).eq_(0).flatten(-2).bool()
    n_masked = min(logits.shape[-1], is_refused.shape[-1])
    logits[..., :n_masked].masked_fill_(is_refused[..., :n_masked], -torch.inf)
    logits[..., n_masked:].fill_(-torch.inf)
    return torch.isneginf(logits).all(dim=-1, keepdim=True)


def _check_dense(tensor: Any, what: str) -> None:
    """Refuse a tensor of torch whose values do not lie in memory at strides: sparse, nested."""
    if tensor.is_nested or str(tensor.layout) != "torch.strided":
        kind = "nested" if tensor.is_nested else str(tensor.layout)
        raise LlmaskError(f"{what} a tensor that is {kind}, not dense", help="pass tensor.to_dense()")


def warn_of_width(n_tokens: int, n_logits: int) -> None:
    """Warn where there are more logits than tokens, by more than padding explains."""
    if n_logits - n_tokens > max(MOST_PADDED, n_logits // 10):
        warnings.warn(
            f"the mask is for {n_tokens} tokens and the model has {n_logits} logits: is the tokenizer the model's own? "
            "tokens mean other texts to another one",
            stacklevel=level_outside(),
        )


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
    if mask.dtype != np.int32 if isinstance(mask, np.ndarray) else str(mask.dtype) != "torch.int32":
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
        warn_of_width(BITS_PER_WORD * shape[-1], logits_shape[-1])
        return mask[0]
    if len(shape) != len(logits_shape) or shape[:-1] != logits_shape[:-1]:
        raise LlmaskError(
            f"logits of shape {logits_shape} and a mask of shape {shape} do not have the same rows",
            help="each row of logits needs the row of the mask with the same number",
        )
    warn_of_width(BITS_PER_WORD * shape[-1], logits_shape[-1])
    return mask


def _is_torch(value: object) -> bool:
    """Whether `value` is a torch tensor, found out without importing torch."""
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "is_floating_point")
