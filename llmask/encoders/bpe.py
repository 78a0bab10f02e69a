"""Byte-pair encoding as trained: the pair of lowest rank is merged first, leftmost among equals.

Gage, "A New Algorithm for Data Compression" (1994); Sennrich, Haddow, Birch, "Neural Machine Translation of Rare Words
with Subword Units" (2016); over bytes: Radford et al. (GPT-2, 2019). The text is split into words (`pretokenize.py`),
a word that is a token is one look-up, the others are merged by one of four methods, all compiled:

    exact    backtracking over the trie with the test of neighbours     kernels/encoders/bpe_backtrack.py
    table    last token of every prefix, the same test                  kernels/encoders/bpe_backtrack.py
    heap     the merges as they are defined, without the test           kernels/encoders/bpe_heap.py
    dropout  as heap, a merge is passed over with a given probability   kernels/encoders/bpe_heap.py

The first three give the same ids; the heap shares nothing with the others and is their judge in the tests, besides the
definition in plain Python (tests/reference/bpe.py).

The arrays are built from a vocabulary by compiled code (`BpeTables`):

    words        hash table from bytes to tokens         bpe_words.py
    histories    what each token is made of, and pairs   merges_table.py, bpe_pairs.py
    trie         longest match                           double_array.py

Two sources of ranks: a list of merges (GGUF, tokenizer.json), or token ids (tiktoken: a pair's rank is the id of the
token it makes). Merges may name strings that are no tokens; these get ids after the vocabulary's (`extra`), merge like
tokens, and are spelled by the tokens of their bytes in the end, as llama.cpp does. In the byte alphabet of GPT-2 every
byte is one printable character, so that texts of tokens have no blanks.

In: a text. Out: token ids. Cost: 15 ns a byte of English text; tables are built at the first call, 0.15 s for Llama 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from llmask import forks
from llmask.encoders.pattern_automaton import Automaton
from llmask.encoders.pretokenize import Splitter, make_splitter
from llmask.encoders.tables import SHORT_LIST, UNSPELLED, EncoderTable, address_of, double_array, misspelled
from llmask.errors import VocabularyError
from llmask.forks import cached_property
from llmask.trie.layout import build_trie
from llmask.vocabulary.strings import BYTE_ALPHABET, StringTable, make_table
from llmask.vocabulary.vocabulary import TokenType, Vocabulary

BYTE_OF_CHARACTER = {ord(character): byte for byte, character in enumerate(BYTE_ALPHABET)}
# user-defined tokens are cut out of a text before, but merges may make them, too, where a name is no word of its own
MERGED_TYPES = (TokenType.NORMAL, TokenType.UNDEFINED, TokenType.BYTE, TokenType.USER_DEFINED)
METHODS = ("table", "heap", "dropout")  # as numbered in kernels/encoders/bpe_encode.py
RANDOM_BITS = 53
NO_LIMIT = 2**62
_EMPTY = np.empty(0, np.int32)


def spelled_bytes(text: str) -> bytes:
    """Bytes of a token's text; a text with a character outside of the alphabet is its own bytes.

    Examples
    --------
    >>> spelled_bytes("Ġthe"), spelled_bytes(" the")
    (b' the', b' the')
    """
    try:
        return bytes([BYTE_OF_CHARACTER[ord(character)] for character in text])
    except KeyError:
        return text.encode("utf-8")


def unfinished(data: bytes) -> bytes:
    """The bytes of the character that a text breaks off in; empty where it ends with a whole one."""
    for length in range(1, min(3, len(data)) + 1):
        lead = data[-length]
        if lead >= 0xC0:
            return data[-length:] if length < 2 + (lead >= 0xE0) + (lead >= 0xF0) else b""
        if lead < 0x80:
            break
    return b""


class BpeTables(EncoderTable):
    """Table of a BPE vocabulary.

    Attributes
    ----------
    n_tokens : ids of the vocabulary; higher ones are in `extra`.
    extra : strings that merges name and that are no tokens.
    byte_tokens : int32[256], the token of each byte, -1 for a byte without one.
    """

    def __init__(self, vocabulary: Vocabulary, automaton: Automaton | None) -> None:
        super().__init__(automaton)
        self._adding_merges = forks.new_lock(forks.ENCODER)
        self.n_tokens = vocabulary.tokens.n_strings
        self.extra: list[bytes] = []
        merges = vocabulary.encoder.merges if vocabulary.encoder.kind == "bpe" else None
        is_merged = np.isin(vocabulary.types, MERGED_TYPES) & (np.diff(vocabulary.tokens.offsets) > 0)
        is_merged &= ~misspelled(vocabulary)
        self._enter_tokens(vocabulary.tokens, is_merged)
        splits, n_unknown = self._read_splits(merges, is_merged)
        if n_unknown and merges is not None:
            self.extra = _missing_strings(merges, splits, vocabulary.tokens, is_merged)
            tokens = make_table([*vocabulary.tokens.strings(), *self.extra])
            is_merged = np.append(is_merged, np.ones(len(self.extra), bool))
            self._enter_tokens(tokens, is_merged)
            splits, n_unknown = self._read_splits(merges, is_merged)
        ranks = splits[:, 2].copy() if merges is None else np.arange(len(splits), dtype=np.int32)
        if n_unknown:  # an empty half: such a merge never applies
            is_known = (splits >= 0).all(axis=1)
            splits, ranks = np.ascontiguousarray(splits[is_known]), np.ascontiguousarray(ranks[is_known])
        self._splits, self._ranks = splits, ranks
        self._trace(is_merged)
        self._finish(vocabulary.encoder.ignore_merges)

    def _enter_tokens(self, tokens: StringTable, include: np.ndarray) -> None:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        self.put(EncoderSlot.OFFSETS, tokens.offsets)
        self.put(EncoderSlot.DATA, tokens.data)
        self._enter_words(include)
        self.byte_tokens = self.put(EncoderSlot.BYTE_TOKENS, np.full(256, -1, np.int32))
        self.put_number(EncoderSlot.LONGEST_WORD, self.doors.enter_words(self.address, include, self.byte_tokens))

    def _enter_words(self, include: np.ndarray) -> None:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        bits = max(4, int(2 * np.count_nonzero(include)).bit_length())
        self.put_number(EncoderSlot.WORD_BITS, bits)
        self.put(EncoderSlot.WORDS, np.zeros(2 << bits, np.int64))

    def _read_splits(self, merges: StringTable | None, include: np.ndarray) -> tuple[np.ndarray, int]:
        if merges is None:
            splits = np.empty((0, 3), np.int32)
            n_splits = self.doors.list_splits(self.address, include, splits)
            splits = np.empty((n_splits, 3), np.int32)
            self.doors.list_splits(self.address, include, splits)
            return splits, 0
        splits = np.empty((merges.n_strings, 3), np.int32)
        longest = int(np.diff(merges.offsets).max(initial=0))
        # copies: the doors take writable arrays only
        n_unknown = self.doors.read_merges(
            self.address, np.array(merges.offsets), np.array(merges.data), np.empty(longest + 8, np.uint8), splits
        )
        return splits, n_unknown

    def _trace(self, include: np.ndarray) -> None:
        from ..kernels.encoders import bpe_pairs
        from ..kernels.encoders.encoder_slots import EncoderSlot

        at = bpe_pairs.MADE.places
        made_of = np.full((len(include), len(at)), -1, np.int32)
        lengths = np.diff(self.get(EncoderSlot.OFFSETS))
        made_of[:, at["length"]] = lengths
        made_of[:, at["time"]] = bpe_pairs.UNREACHED
        made_of[self.byte_tokens[self.byte_tokens >= 0], at["time"]] = bpe_pairs.BYTE_TIME
        self._made_of = self.put(EncoderSlot.MADE_OF, made_of)
        bits = max(4, int(2 * np.count_nonzero(include)).bit_length())
        self.put_number(EncoderSlot.PAIR_BITS, bits)
        self.put(EncoderSlot.PAIRS, np.zeros(1 << bits, np.int64))
        self.put(EncoderSlot.PAIR_FILTER, np.zeros(1 << (bits + bpe_pairs.FILTER_BITS - 3), np.uint8))
        # NumPy sorts 16 bits by their digits; no trie takes tokens of more than 4,095 bytes
        order = np.argsort(lengths[self._splits[:, 2]].astype(np.uint16), kind="stable")
        self.doors.trace_histories(self.address, self._splits, self._ranks, order)

    def add_merges(self) -> None:
        """Enter all merges, dead ones too, which the heap needs; does nothing the second time."""
        from ..kernels.encoders.encoder_slots import EncoderSlot

        with self._adding_merges:  # two threads may want them at the same time
            if EncoderSlot.MERGES in self._arrays:
                return
            bits = max(4, int(2 * len(self._splits)).bit_length())
            merges = self.put(EncoderSlot.MERGES, np.zeros(2 << bits, np.int64))
            self.put_number(EncoderSlot.MERGE_BITS, bits)
            columns = np.ascontiguousarray(self._splits.T)
            self.doors.enter_merges(*columns, self._ranks, merges.ctypes.data, bits)

    @property
    def is_reachable(self) -> np.ndarray:
        """bool[n]: tokens that merging makes."""
        from ..kernels.encoders import bpe_pairs

        reached: np.ndarray = self._made_of[:, bpe_pairs.MADE.places["time"]] != bpe_pairs.UNREACHED
        return reached

    def _finish(self, ignore_merges: bool) -> None:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        tokens = StringTable(self.get(EncoderSlot.OFFSETS), self.get(EncoderSlot.DATA))
        reachable = self.is_reachable
        trie = build_trie(tokens.offsets, tokens.data, reachable)
        self.doors.link_prefixes(np.array(trie.node), self._made_of.ctypes.data, np.empty(4097, np.int32))
        self.put(EncoderSlot.FORWARD, double_array(trie))
        self.put_number(EncoderSlot.IS_WHOLE, int(ignore_merges))
        if not ignore_merges:
            self._enter_words(reachable)
            longest = self.doors.enter_words(self.address, reachable, np.empty(256, np.int32))
            self.put_number(EncoderSlot.LONGEST_WORD, longest)


def _missing_strings(
    merges: StringTable, splits: np.ndarray, tokens: StringTable, is_merged: np.ndarray
) -> list[bytes]:
    """Parts and results of merges that are no tokens, and single bytes that are no tokens."""
    known = {data for data, merged in zip(tokens.strings(), is_merged.tolist(), strict=True) if merged}
    missing: dict[bytes, None] = {}
    for row in np.flatnonzero((splits < 0).any(axis=1)).tolist():
        left, _, right = merges.get(row).decode("utf-8", "replace").partition(" ")
        halves = spelled_bytes(left), spelled_bytes(right)
        if all(halves):
            for data in (*halves, halves[0] + halves[1]):
                missing.update((part, None) for part in (data, *(bytes([byte]) for byte in data)) if part not in known)
    return list(missing)


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

    def count_bytes(self, data: bytes) -> int:
        """As `count`, for bytes that need not be UTF-8.

        Raises
        ------
        VocabularyError : a byte that is no token.
        """
        return self._count(data, self._ends_of_bytes(data), NO_LIMIT)

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
        """The ids, but the id of a string that is no token is replaced by the tokens of its bytes."""
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
