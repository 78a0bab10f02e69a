"""Longest match: at each place the longest token that the text goes on with.

For vocabularies whose own encoder is not known: plain lists of bytes, and UGM files, whose encoder is a Viterbi
search over scores after a normalization that the file defines. The ids spell the text, but are not always those that
the model was trained on.

In: text. Out: token ids. Cost: 2 us a token; the nested table of first bytes is built at the first call.
"""

from __future__ import annotations

from functools import cached_property

from ..errors import VocabularyError
from ..vocabulary.vocabulary import Vocabulary

HEAD_BYTES = 2  # tokens are grouped by this many leading bytes


class GreedyEncoder:
    """Longest-match encoder of any vocabulary."""

    name = "greedy"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _token_of_bytes(self) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for token, data in enumerate(self._vocabulary.tokens.strings()):
            if data:
                found.setdefault(data, token)
        return found

    @cached_property
    def _lengths_of_head(self) -> dict[bytes, list[int]]:
        """Lengths, descending, of the tokens that begin with these HEAD_BYTES bytes."""
        lengths: dict[bytes, set[int]] = {}
        for data in self._token_of_bytes:
            if len(data) >= HEAD_BYTES:
                lengths.setdefault(data[:HEAD_BYTES], set()).add(len(data))
        return {head: sorted(found, reverse=True) for head, found in lengths.items()}

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a byte that no token begins with, in a vocabulary without a token for the unknown.
        """
        data = text.encode("utf-8")
        ids: list[int] = []
        position = 0
        while position < len(data):
            token, length = self._longest_at(data, position)
            if token < 0:
                raise VocabularyError(
                    f"no token spells byte 0x{data[position]:02X}, so the text cannot be encoded",
                    where=f"byte {position} of the text",
                )
            ids.append(token)
            position += length
        return ids

    def _longest_at(self, data: bytes, position: int) -> tuple[int, int]:
        """Token and bytes it takes; (-1, 0) when there is none."""
        for length in self._lengths_of_head.get(data[position : position + HEAD_BYTES], ()):
            token = self._token_of_bytes.get(data[position : position + length])
            if token is not None and position + length <= len(data):
                return token, length
        token = self._token_of_bytes.get(data[position : position + 1])
        if token is not None:
            return token, 1
        end = position + 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        unknown = self._vocabulary.encoder.unknown_id
        return (unknown, end - position) if unknown >= 0 else (-1, 0)
