"""Byte-pair encoding as trained: the pair of lowest rank is merged first, leftmost among equals.

Gage, "A New Algorithm for Data Compression" (1994); Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words
with Subword Units" (2016); over bytes: Radford et al. (GPT-2, 2019). The text is split into words (`pretokenize.py`),
a word that is a token is one look-up, the others are merged by one of four methods, all compiled:

    exact    backtracking over the trie with the test of neighbours     kernels/encoders/bpe_backtrack.py
    table    last token of every prefix, the same test                  kernels/encoders/bpe_backtrack.py
    heap     the merges as they are defined, without the test           kernels/encoders/bpe_heap.py
    dropout  as heap, a merge is passed over with a given probability   kernels/encoders/bpe_heap.py

The first three give the same ids; the heap shares nothing with the others and is their judge in the tests, beside the
definition in plain Python (tests/reference/bpe.py).

In: a text. Out: token ids. Cost: 15 ns a byte of English text; tables are built at the first call, 0.15 s for Llama 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import VocabularyError
from ..forks import cached_property
from ..vocabulary.vocabulary import Vocabulary
from .bpe_tables import BpeTables
from .pretokenize import Splitter, make_splitter
from .tables import SHORT_LIST, UNSPELLED, address_of

METHODS = ("table", "heap", "dropout")  # as numbered in kernels/encoders/bpe_encode.py
RANDOM_BITS = 53
NO_LIMIT = 2**62
_EMPTY = np.empty(0, np.int32)


class BpeEncoder:
    """Encoder of one BPE vocabulary.

    Parameters
    ----------
    vocabulary : with `encoder.kind` "bpe" (has merges) or "ranks".
    patterns : how text is split into words.

    Attributes
    ----------
    patterns : as given.
    """

    name = "bpe"

    def __init__(self, vocabulary: Vocabulary, patterns: tuple[str, ...]) -> None:
        self._vocabulary = vocabulary
        self.patterns = patterns

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own tables: addresses mean nothing elsewhere."""
        return BpeEncoder, (self._vocabulary, self.patterns)

    @cached_property
    def splitter(self) -> Splitter:
        """How text is split into words."""
        return make_splitter(self.patterns)

    @cached_property
    def tables(self) -> BpeTables:
        """Tables of the compiled code."""
        return BpeTables(self._vocabulary, self.splitter.automaton)

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._encode(text.encode("utf-8"), self.splitter.word_ends(text))

    def encode_bytes(self, data: bytes) -> list[int]:
        """As `encode`, for bytes that need not be UTF-8; the compiled splitter takes a stray byte for a U+FFFD.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._encode(data, self._ends_of_bytes(data))

    def count_bytes(self, data: bytes, limit: int = NO_LIMIT) -> int:
        """As `count`, for bytes that need not be UTF-8.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._count(data, self._ends_of_bytes(data), limit)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of some texts in one call, which lets other threads run; for the compiled splitter.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self.encode_parts([text.encode("utf-8") for text in texts])

    def encode_parts(self, parts: Sequence[bytes]) -> list[list[int]]:
        """As `encode_many`, for bytes that need not be UTF-8.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        if self.splitter.automaton is None or self.tables.extra:
            return [self.encode_bytes(part) for part in parts]
        data, tables = b"".join(parts), self.tables
        offsets, first_ids = np.zeros(len(parts) + 1, np.int64), np.empty(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        ids = np.empty(len(data) + 1, np.int32)
        failed = tables.doors.encode_texts(tables.address, address_of(data), offsets, first_ids, ids)
        if failed >= 0:
            self._refuse(parts[failed])
        bounds = first_ids.tolist()
        if bounds[-1] > SHORT_LIST * len(parts):  # while lists are made no other thread runs: once only
            return [tables.listed(ids[start:end]) for start, end in pairwise(bounds)]
        listed = tables.listed(ids[: bounds[-1]])
        return [listed[start:end] for start, end in pairwise(bounds)]

    def spelling(self, token: int) -> bytes:
        """Bytes of a token."""
        return self._vocabulary.tokens.get(token)

    def _ends_of_bytes(self, data: bytes) -> np.ndarray:
        if self.splitter.automaton is not None:
            return _EMPTY
        return self.splitter.word_ends(data.decode("utf-8", "surrogateescape"))

    def _encode(self, data: bytes, ends: np.ndarray) -> list[int]:
        tables = self.tables
        ids = np.empty(len(data) + 1, np.int32)
        n_ids = tables.doors.encode_text(tables.address, address_of(data), len(data), ends, NO_LIMIT, ids)
        return self._listed(data, ids, n_ids)

    def encode_otherwise(self, text: str, method: str, dropout: float = 0.0, seed: int = 0) -> list[int]:
        """Token ids of a text by the method "table", "heap" or "dropout".

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._encode_otherwise(text.encode("utf-8"), self.splitter.word_ends(text), method, dropout, seed)

    def encode_word(self, word: bytes) -> list[int]:
        """Token ids of a word that a text was split into.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._encode(word, np.array([len(word)], np.int32))

    def merge_word(self, word: bytes) -> list[int]:
        """As `encode_word`, by merging also where the word is a token (`ignore_merges`)."""
        return self._encode_otherwise(word, np.array([len(word)], np.int32), "dropout", 0.0, 0)

    def _encode_otherwise(self, data: bytes, ends: np.ndarray, method: str, dropout: float, seed: int) -> list[int]:
        tables = self.tables
        tables.add_merges()
        ids = np.empty(len(data) + 1, np.int32)
        n_ids = tables.doors.encode_text_otherwise(
            tables.address, address_of(data), len(data), ends,
            METHODS.index(method), round(dropout * 2**RANDOM_BITS), seed, ids,
        )  # fmt: skip
        return self._listed(data, ids, n_ids)

    def _listed(self, data: bytes, ids: np.ndarray, n_ids: int) -> list[int]:
        if n_ids < 0:
            self._refuse(data[-1 - n_ids :])
        found = self.tables.listed(ids[:n_ids])
        return self._spell(found) if self.tables.extra else found

    def count(self, text: str, limit: int = NO_LIMIT) -> int:
        """Number of token ids of a text; any number above `limit` when there are more.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._count(text.encode("utf-8"), self.splitter.word_ends(text), limit)

    def _count(self, data: bytes, ends: np.ndarray, limit: int) -> int:
        if self.tables.extra:
            return len(self._encode(data, ends))
        n_ids = self.tables.doors.encode_text(self.tables.address, address_of(data), len(data), ends, limit, _EMPTY)
        if n_ids < 0:
            self._refuse(data[-1 - n_ids :])
        return int(n_ids)

    def _refuse(self, rest: bytes) -> None:
        byte_tokens = self.tables.byte_tokens
        byte = next(byte for byte in rest if byte_tokens[byte] < 0)
        raise VocabularyError(f"no token spells byte 0x{byte:02X}, so the text cannot be encoded", help=UNSPELLED)

    def _spell(self, ids: list[int]) -> list[int]:
        """Ids with those of strings that are no tokens replaced by the tokens of their bytes."""
        tables = self.tables
        spelled: list[int] = []
        for token in ids:
            if token < tables.n_tokens:
                spelled.append(token)
                continue
            string = tables.extra[token - tables.n_tokens]
            for byte in string:
                known = int(tables.byte_tokens[byte])
                if not 0 <= known < tables.n_tokens:
                    raise VocabularyError(
                        f"no token spells byte 0x{byte:02X}, so the text cannot be encoded", help=UNSPELLED
                    )
                spelled.append(known)
        return spelled
