"""Which of a vocabulary's names occur in a text: those of its user-defined tokens in every text that is encoded.

Qwen 2 has 290 of them, DeepSeek 2,398; asking for one after the other (`name in text`) took four times as long as
encoding, and 40 times (`python -m bench.tokenizers --gguf qwen2.gguf`, 2026-11-22). Few names are asked for so all the
same: that is 30 ns a name for a short text.

In: names, a text. Out: numbers of the names in it. Cost: 0.7 us and 1.5 ns a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..forks import cached_property
from ..trie.build import build_trie
from ..vocabulary.strings import make_table
from .tables import DOORS, address_of, double_array

FEW = 8
LONGEST = 64  # bytes; longer names, which no model has, are asked for one by one: they would bound the search badly


class NameFinder:
    """Names that are looked for in texts, none of them empty, all different."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [name.encode() for name in names]
        is_few = len(names) <= FEW
        self._single = [i for i, name in enumerate(self._names) if is_few or len(name) > LONGEST]
        self._is_few = is_few
        self.longest = max(map(len, self._names), default=0)  # bytes

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own trie: addresses mean nothing elsewhere."""
        return NameFinder, ([name.decode() for name in self._names],)

    @cached_property
    def _entries(self) -> np.ndarray:
        """Double array of the names that are looked for together."""
        strings = make_table([b"" if len(name) > LONGEST else name for name in self._names])
        return double_array(build_trie(*strings))

    @cached_property
    def _first(self) -> Callable[[int, int, int], int]:
        from ..kernels.encoders import double_array as kernels
        from ..kernels.machine import jit

        jit.make_ready("names")
        return jit.entry_point(kernels.first_name)

    def occur_in(self, data: bytes) -> bool:
        """Whether any name occurs in UTF-8."""
        if not self._is_few and self._first(self._entries.ctypes.data, address_of(data), len(data)) < len(data):
            return True
        return any(self._names[number] in data for number in self._single)

    def find(self, data: bytes) -> list[int]:
        """Numbers of the names that occur in UTF-8, ascending."""
        if self._is_few:
            return [number for number, name in enumerate(self._names) if name in data]
        entries = self._entries.ctypes.data
        place = self._first(entries, address_of(data), len(data))
        found = np.zeros(len(self._names), np.uint8)
        if place < len(data):
            DOORS.mark_names(entries, address_of(data), place, len(data), found)
        found[[number for number in self._single if self._names[number] in data]] = 1
        numbers: list[int] = found.nonzero()[0].tolist()
        return numbers
