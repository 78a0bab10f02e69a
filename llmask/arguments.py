"""Arguments of callers, checked and brought into the form that kernels take.

In: whatever was given. Out: the same as int, iterator or NumPy array. Cost: well below a microsecond.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import LlmaskError, VocabularyError

BYTES = (bytes, bytearray, memoryview)
NAME_A_FILE = "give the name of a file, as a str or a Path"


def check_type(
    value: Any, types: type | tuple[type, ...], what: str, help: str, error: type[LlmaskError] = LlmaskError
) -> None:
    """Refuse a value of another type; `what` opens the message: "a prefix is bytes"."""
    if not isinstance(value, types):
        raise error(f"{what}, not {type(value).__name__}", help=help)


def as_integer(value: Any, what: str) -> int:
    """An integer of any kind, NumPy's and torch's included; a bool is refused. `what` opens the message."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise LlmaskError(f"{what} is an integer, not {type(value).__name__}", help="give it as an int") from None


def as_flag(value: Any, what: str) -> bool:
    """Whether a value counts as true; an array of several has no truth value. `what` opens the message."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise LlmaskError(f"{what} is True or False, not {type(value).__name__}", help="give a bool") from None


def as_path(path: Any) -> str | os.PathLike[str]:
    """The path of a file, as the operating system takes it."""
    if not isinstance(path, (str, os.PathLike)):
        raise VocabularyError(f"{type(path).__name__} is not a path", help=NAME_A_FILE)
    name = os.fspath(path)
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        encoded = b"\0"
    if not encoded or b"\0" in encoded:
        raise VocabularyError(f"{name!a} is not a path of a file", help=NAME_A_FILE)
    return path


def as_list(values: Any) -> list[Any]:
    """The members of a collection; anything else, an array without dimensions too, as the only one."""
    try:
        return list(values)
    except TypeError:
        return [values]


def each_of(tokens: Iterable[Any]) -> Iterator[Any]:
    """The ids of a collection; a lone one is refused."""
    try:
        return iter(tokens)
    except TypeError:
        raise LlmaskError(
            f"token ids are a sequence of integers, not {type(tokens).__name__}", help="for one token use a list of one"
        ) from None


def no_such_row(row: int, bitmask: Any, n_words: int) -> LlmaskError:
    """The error for a row that a bitmask does not have, or that is too short."""
    return LlmaskError(
        f"row {row} of a bitmask of shape {tuple(bitmask.shape)} cannot hold {n_words} words",
        help="make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
    )


def as_bitmask(bitmask: Any) -> npt.NDArray[np.int32]:
    """A caller's bitmask as an array int32[batch, n_words]: NumPy, or torch on the CPU; one dimension is one row.

    The words of a row lie side by side, the rows anywhere: kernels take one of them where these are not side by side.
    """
    array = bitmask
    if not isinstance(bitmask, np.ndarray) and hasattr(bitmask, "numpy") and hasattr(bitmask, "device"):
        if bitmask.device.type != "cpu":
            raise LlmaskError(
                f"the bitmask lies on {bitmask.device}, it is written on the CPU", help="fill it there and copy it"
            )
        try:
            array = bitmask.numpy()
        except (TypeError, RuntimeError, ValueError):
            array = None  # sparse, or of a type that NumPy has not, as bfloat16: refused with the others
    if not (
        isinstance(array, np.ndarray)
        and (array.dtype == np.int32 and array.ndim in (1, 2))
        and (array.strides[-1] == array.itemsize or array.shape[-1] <= 1)
        and (array.flags.writeable and array.flags.aligned)
    ):
        raise LlmaskError(
            "a bitmask is a writable int32 array of one or two dimensions, the words of a row side by side, not "
            + _given(bitmask, array),
            help="make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
        )
    return array if array.ndim == 2 else array[None]


def as_row(bitmask: Any, row: Any, n_words: int) -> tuple[npt.NDArray[np.int32], int]:
    """A caller's bitmask as `as_bitmask` gives it, and the number of one of its rows, of `n_words` at least."""
    words, row = as_bitmask(bitmask), as_integer(row, "a row")
    if not 0 <= row < len(words) or words.shape[1] < n_words:
        raise no_such_row(row, words, n_words)
    return words, row


def _given(bitmask: Any, array: Any) -> str:
    """What was given for a bitmask; `array`: the same for NumPy, if NumPy can read it."""
    if not isinstance(array, np.ndarray):
        return type(bitmask).__name__ if array is bitmask else f"a {bitmask.dtype} tensor that NumPy cannot read"
    flaws = {"read-only": not array.flags.writeable, "unaligned": not array.flags.aligned}
    if array.ndim in (1, 2):
        stride = array.strides[-1]
        flaws[f"{stride} bytes from word to word"] = stride != array.itemsize and array.shape[-1] > 1
    return ", ".join([f"{array.dtype}{list(array.shape)}", *(flaw for flaw, is_so in flaws.items() if is_so)])


def shown(data: bytes) -> str:
    """Bytes in a message."""
    return repr(data)[1:]


def on_one_line(text: str, most: int) -> str:
    """A text in a message, at most its last `most` characters; what is no printable character is spelled out."""
    cut = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[-most:])
    return cut if len(text) <= most else "..." + cut


def listed(values: Any, what: str) -> list[Any]:
    """The members of a collection of any kind."""
    try:
        return list(values)
    except TypeError:
        raise LlmaskError(f"{what} are a sequence, not {type(values).__name__}", help="give a list") from None
