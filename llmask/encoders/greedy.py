"""Encoders that know no merges: the longest token at each place, or as few tokens as can be.

For vocabularies whose own encoder is not known, such as plain lists of bytes, and for whoever wants the ids quickly
(longest match is what token trees over GGUF files do). The ids spell the text, but are not always those that the model
was trained on. All tokens with bytes take part that are spelled as a text is (misspelled.py), of several with the same
bytes the first one, in RWKV vocabularies the last one, as llama.cpp has it; words are not split. SPM and UGM
vocabularies normalize the text first, as their own encoders do.

In: text. Out: token ids. Cost: 5 ns a byte for the longest, 15 ns for the fewest; 40 ms once for 128,000 tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import VocabularyError
from ..forks import cached_property
from ..trie.layout import build_trie
from ..vocabulary.vocabulary import Vocabulary
from .misspelled import has_spelling, misspelled
from .piece_encoder import Normalizer
from .tables import UNSPELLED, EncoderTable, address_of, build_double_array, double_array


class GreedyEncoder:
    """Longest-match encoder of any vocabulary."""

    name = "greedy"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._normalize = Normalizer(vocabulary) if vocabulary.encoder.kind in ("spm", "ugm") else None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own tables: addresses mean nothing elsewhere."""
        return GreedyEncoder, (self._vocabulary,)

    @cached_property
    def _table(self) -> EncoderTable:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        table = EncoderTable(None)
        tokens, is_found = self._vocabulary.tokens, ~misspelled(self._vocabulary)
        is_rwkv = self._vocabulary.encoder.kind == "greedy" and has_spelling(self._vocabulary)
        entries = build_double_array(tokens) if is_rwkv else double_array(build_trie(*tokens, is_found))
        table.put(EncoderSlot.OFFSETS, tokens.offsets)
        table.put(EncoderSlot.FORWARD, entries)
        return table

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens, the longest token at each place.

        Raises
        ------
        VocabularyError : a byte that no token begins with, in a vocabulary without a token for the unknown.
        """
        return self._encode(text, is_fewest=False)

    def encode_fewest(self, text: str) -> list[int]:
        """Token ids of a text without special tokens, as few as can be; the earlier ones are the longer ones.

        Raises
        ------
        VocabularyError : no tokens spell the text, and there is no token for the unknown.
        """
        return self._encode(text, is_fewest=True)

    def _encode(self, text: str, is_fewest: bool) -> list[int]:
        data, table = text.encode("utf-8"), self._table
        if self._normalize is not None:
            data = self._normalize(data)
        ids = np.empty(len(data) + 1, np.int32)
        door = table.doors.encode_fewest if is_fewest else table.doors.encode_longest
        n_ids = door(table.address, address_of(data), len(data), self._vocabulary.encoder.unknown_id, ids)
        if n_ids >= 0:
            return table.listed(ids[:n_ids])
        place = -1 - n_ids
        if place == len(data):
            raise VocabularyError("no tokens spell the text", help=UNSPELLED)
        raise VocabularyError(
            f"no token spells byte 0x{data[place]:02X}, so the text cannot be encoded",
            where=f"byte {place} of the {'text' if self._normalize is None else 'normalized text'}",
            help=UNSPELLED,
        )
