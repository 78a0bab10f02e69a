"""Many short byte strings in one block.

A vocabulary holds 100,000 token texts and 300,000 merges; as Python objects they would cost 30 MB and most of the time
of loading. Here they are one block with offsets, and an object is made when a string is asked for.

In: a list of bytes, or arrays filled by a kernel. Out: `StringTable`. Cost: 4 bytes a string beside its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..errors import VocabularyError

MAX_BLOCK_BYTES = 2**31 - 1
DAMAGED = "the file may be damaged or cut off: get it again"  # a remedy of errors about what is in a file


class StringTable(NamedTuple):
    """Strings back to back; string i is `data[offsets[i] : offsets[i + 1]]`. Both arrays are read-only.

    offsets  int32[n + 1]  ascending, offsets[0] == 0
    data     uint8[...]    offsets[-1] bytes
    """

    offsets: np.ndarray
    data: np.ndarray

    @property
    def n_strings(self) -> int:
        """Number of strings."""
        return len(self.offsets) - 1

    def get(self, index: int) -> bytes:
        """String `index`, which must lie in [0, n_strings)."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def find(self, string: bytes) -> int:
        """Lowest index of `string`, or -1. Looks at strings of the same length only, byte by byte, all at once."""
        candidates = np.flatnonzero(np.diff(self.offsets) == len(string))
        for place, byte in enumerate(string if len(candidates) else b""):
            candidates = candidates[self.data[self.offsets[candidates] + place] == byte]
        return int(candidates[0]) if len(candidates) else -1

    def strings(self) -> Iterator[bytes]:
        """All strings in order; quicker than `get` for each."""
        block = self.data.tobytes()
        offsets = self.offsets.tolist()
        return (block[start:end] for start, end in pairwise(offsets))


def make_table(strings: Sequence[bytes]) -> StringTable:
    """Table of a list of byte strings.

    Raises
    ------
    VocabularyError : together they have 2 GiB or more.
    """
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum([len(string) for string in strings], out=offsets[1:])
    if offsets[-1] > MAX_BLOCK_BYTES:
        raise VocabularyError(
            f"the strings have {offsets[-1]} bytes together, the limit is {MAX_BLOCK_BYTES}",
            help="use a smaller vocabulary",
        )
    return freeze(offsets.astype(np.int32), np.frombuffer(b"".join(strings), np.uint8))


def freeze(offsets: np.ndarray, data: np.ndarray) -> StringTable:
    """Table over two arrays, which become read-only."""
    offsets.flags.writeable = False
    data.flags.writeable = False
    return StringTable(offsets, data)
