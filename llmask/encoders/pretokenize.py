r"""Splitting text into words before byte-pair merges: the patterns that come with a BPE vocabulary.

The patterns come from `llmask/vocabulary/patterns.py` or from a tokenizer.json. Nearly all of them are in the subset of
`pattern_automaton.py` and become tables that a compiled scanner runs, 0.2 GB/s; any other is run by the package `regex`
where it is installed, 5 MB/s. (Before, Python's `re` ran them all, with categories written out as ranges: 5 MB/s, too,
and no look at what a class cannot say.)

Several patterns are applied one after the other, each to the pieces of the one before; what lies between matches is a
piece, too (llama.cpp `unicode_regex_split`; "isolated" in Hugging Face tokenizers).

In: a pattern list, text. Out: words that joined give the text. Cost: 10 ms a pattern once, then 5 ns a byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..forks import cached_property
from .pattern_automaton import Automaton, UnknownPattern, compile_patterns

MAX_PATTERNS = 12  # as in llmask/kernels/encoders/encoder_slots.py


class Splitter:
    """How the text of one vocabulary is split.

    Attributes
    ----------
    automaton : tables for the compiled scanner; None: the package `regex` runs the patterns.

    Raises
    ------
    ValueError : patterns that neither can run, with the reason.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.automaton: Automaton | None = None
        self._compiled: list[Any] = []
        try:
            if len(patterns) > MAX_PATTERNS:
                raise UnknownPattern(f"{len(patterns)} patterns")
            self.automaton = compile_patterns(tuple(patterns))
        except UnknownPattern as reason:
            self._compiled = _compile_otherwise(patterns, reason)

    @property
    def n_classes(self) -> int:
        """Classes of characters that the compiled scanner tells apart."""
        return 0 if self.automaton is None else self.automaton.n_classes

    @cached_property
    def class_of_code_point(self) -> np.ndarray:
        """uint8[1114112]: the class of every code point, where there is a compiled scanner."""
        assert self.automaton is not None
        classes: np.ndarray = self.automaton.class_blocks.reshape(-1, 256)[self.automaton.class_index].reshape(-1)
        return classes

    def word_ends(self, text: str) -> np.ndarray:
        """int32: where words end, in bytes of UTF-8; empty where the compiled scanner finds them itself."""
        if self.automaton is not None:
            return np.empty(0, np.int32)
        pieces = [text]
        for pattern in self._compiled:
            pieces = [word for piece in pieces for word in _isolate(pattern, piece)]
        return np.cumsum([len(piece.encode("utf-8", "surrogateescape")) for piece in pieces], dtype=np.int32)


def _compile_otherwise(patterns: Sequence[str], reason: UnknownPattern) -> list[Any]:
    try:
        import regex  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError:
        raise ValueError(f"{reason} in a pattern needs the package regex: pip install regex") from None
    try:
        return [regex.compile(pattern) for pattern in patterns]
    except regex.error as error:
        raise ValueError(str(error)) from None


def _isolate(pattern: Any, piece: str) -> list[str]:
    words = []
    end = 0
    for match in pattern.finditer(piece):
        if match.start() > end:
            words.append(piece[end : match.start()])
        if match.end() > match.start():
            words.append(match[0])
        end = match.end()
    if end < len(piece):
        words.append(piece[end:])
    return words


@cache
def make_splitter(patterns: tuple[str, ...]) -> Splitter:
    """Splitter of some patterns, made once.

    Raises
    ------
    ValueError : patterns that cannot be run.
    """
    return Splitter(patterns)


def check_patterns(patterns: Sequence[str]) -> bool:
    """Whether `make_splitter` can run these patterns."""
    try:
        make_splitter(tuple(patterns))
    except ValueError:
        return False
    return True
