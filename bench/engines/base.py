"""What an adapter has to do.

    compile(grammar, kind) -> grammar   start(grammar) -> sequence       fill(sequence): mask into `words`
    accept(sequence, token) -> bool     is_accepting(sequence) -> bool   advance(sequence, text) -> sequence | None

Every engine writes its mask into the one preallocated `words`. `advance` gives a new sequence after more text; it
serves the search for other property orders only and is never timed.

In: the vocabulary as a list of bytes. Out: an `Engine`. Cost: a second or two to build a tokenizer.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

import numpy as np

from bench.data import SEPARATORS
from bench.vocabularies import vocabulary


class CompileError(Exception):
    """The engine refuses the schema; `str` is its message."""


class Engine(ABC):
    """What the worker calls; see the module's text.

    Parameters
    ----------
    whitespace : "flexible" or "compact".
    vocabulary_name : one of `bench.vocabularies.SOURCES`.

    Attributes
    ----------
    words : int32[1, ceil(n_vocab / 32)], the mask filled last.
    eos_ids : the ids that the engine was told end a sequence; some engines take only one.
    memory_gb : address space that its worker may have, or None; for engines that take all there is.
    n_verified : verify only this number of schemas of MaskBench's sample; for engines that may take minutes a schema.
    kinds_of_whitespace : what `whitespace` may be.
    keeps_store : what one schema builds serves the next.
    n_missing : masks that were not there when they were filled, where masks are built beside the model; else None.
    """

    name = ""
    package = ""
    memory_gb: float | None = None
    n_verified: int | None = None
    kinds_of_whitespace: tuple[str, ...] = ("flexible", "compact")
    keeps_store = False
    n_missing: int | None = None

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        self.whitespace = whitespace
        self.vocabulary_name = vocabulary_name
        self.vocabulary = vocabulary(vocabulary_name)
        self.eos_ids = self.vocabulary.eos_ids
        self.words = np.full((1, (len(self.vocabulary.tokens) + 31) // 32), -1, dtype=np.int32)
        self.pointer = self.words.ctypes.data
        self.n_bytes = self.words.nbytes

    @classmethod
    def package_version(cls) -> str:
        return version(cls.package)

    def read_documents(self, grammar: Any) -> None:  # noqa: B027
        """What an engine does for a grammar after its first mask; most do nothing."""

    def is_allowed(self, token: int) -> bool:
        """Whether the mask filled last allows `token`."""
        return bool(self.words[0, token >> 5] >> (token & 31) & 1)

    @abstractmethod
    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        """A grammar for a JSON schema, a regular expression ("regex"), a list of texts ("choice"), or, for some,
        a grammar in Lark's notation ("lark").

        Raises `CompileError`.
        """

    @abstractmethod
    def start(self, grammar: Any) -> Any:
        """A sequence at its beginning."""

    @abstractmethod
    def fill(self, sequence: Any) -> None:
        """Write the mask of the next token."""

    @abstractmethod
    def accept(self, sequence: Any, token: int) -> bool:
        """Take a token; False when it is refused."""

    @abstractmethod
    def is_accepting(self, sequence: Any) -> bool:
        """Whether the document may end here."""

    @abstractmethod
    def advance(self, sequence: Any, text: str) -> Any | None:
        """The sequence after some text, or None; the given one stays as it is."""


def as_json(value: Any, whitespace: str) -> str:
    """One value as the instances are written."""
    return json.dumps(value, ensure_ascii=False, separators=SEPARATORS[whitespace])


def as_pattern(grammar: Any, kind: str) -> str:
    """A regular expression or a list of texts as one pattern, for engines that know only those."""
    return str(grammar) if kind == "regex" else "|".join(re.escape(text) for text in grammar)
