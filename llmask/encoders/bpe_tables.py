"""The arrays of a BPE encoder, built from a vocabulary by compiled code.

    words        hash table from bytes to tokens         bpe_words.py
    histories    what each token is made of, and pairs   bpe_merges.py, bpe_pairs.py
    trie         longest match                           double_array.py

Two sources of ranks: a list of merges (GGUF, tokenizer.json), or token ids (tiktoken: a pair's rank is the id of the
token it makes). Merges may name strings that are no tokens; these get ids behind the vocabulary's (`extra`), merge like
tokens, and are spelled by the tokens of their bytes in the end, as llama.cpp does. In the byte alphabet of GPT-2 every
byte is one printable character, so that texts of tokens have no blanks.

In: `Vocabulary`. Out: `BpeTables`, whose `address` doors take. Cost: 0.1 s for 128,256 tokens and 280,147 merges.
"""

from __future__ import annotations

import numpy as np

from llmask import forks
from llmask.encoders.misspelled import misspelled
from llmask.encoders.pattern_automaton import Automaton
from llmask.encoders.tables import EncoderTable, double_array
from llmask.trie.layout import build_trie
from llmask.vocabulary.strings import StringTable, make_table
from llmask.vocabulary.vocabulary import TokenType, Vocabulary

# printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_OF_CHARACTER = {code: code for code in _PRINTABLE} | {256 + rank: byte for rank, byte in enumerate(_REST)}
# user-defined tokens are cut out of a text before, but merges may make them, too, where a name is no word of its own
MERGED_TYPES = (TokenType.NORMAL, TokenType.UNDEFINED, TokenType.BYTE, TokenType.USER_DEFINED)


def spelled_bytes(text: str) -> bytes:
    """Bytes of a token's text; one with a character outside of the alphabet stands for itself.

    Examples
    --------
    >>> spelled_bytes("Ġthe"), spelled_bytes(" the")
    (b' the', b' the')
    """
    try:
        return bytes([BYTE_OF_CHARACTER[ord(character)] for character in text])
    except KeyError:
        return text.encode("utf-8")


class BpeTables(EncoderTable):
    """Table of a BPE vocabulary.

    Attributes
    ----------
    n_tokens : ids of the vocabulary; higher ones are in `extra`.
    extra : strings that merges name and that are no tokens.
    byte_tokens : int32[256], the token of each byte, -1 where there is none.
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
    """Parts and results of merges that are no tokens, and single bytes that are none."""
    known = {data for data, merged in zip(tokens.strings(), is_merged.tolist(), strict=True) if merged}
    missing: dict[bytes, None] = {}
    for row in np.flatnonzero((splits < 0).any(axis=1)).tolist():
        left, _, right = merges.get(row).decode("utf-8", "replace").partition(" ")
        halves = spelled_bytes(left), spelled_bytes(right)
        if all(halves):
            for data in (*halves, halves[0] + halves[1]):
                missing.update((part, None) for part in (data, *(bytes([byte]) for byte in data)) if part not in known)
    return list(missing)
