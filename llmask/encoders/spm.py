"""SentencePiece BPE: characters are merged into tokens, the token of highest score first.

Kudo, Richardson, "SentencePiece" (2018), and `llm_tokenizer_spm` of llama.cpp: start from characters; among all
neighbours that together are a token, merge the pair whose token has the highest score (or the lowest rank, where the
source lists merges), leftmost among equals; a character that is no token becomes the tokens of its bytes. A blank is
put before the text where the model was trained so.

Departure: U+2581 in a text is spelled with its three bytes. llama.cpp turns it into a blank, which decoding cannot
undo.

In: text. Out: token ids. Cost: 3 us a character.
"""

from __future__ import annotations

from functools import cached_property

from ..errors import VocabularyError
from ..vocabulary.vocabulary import TokenType, Vocabulary
from .merging import merge_symbols

SPACE_MARK = "\u2581"


class SpmEncoder:
    """Encoder of one SPM vocabulary, which has scores or merges."""

    name = "spm"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _tokens(self) -> tuple[dict[bytes, int], list[int]]:
        """Tokens that merges can make, and the token of each single byte (-1: none)."""
        types = self._vocabulary.types.tolist()
        by_text: dict[bytes, int] = {}
        by_byte = [-1] * 256
        for token, data in enumerate(self._vocabulary.tokens.strings()):
            if not data:
                continue
            if types[token] == TokenType.BYTE:
                by_byte[data[0]] = token
            else:
                by_text.setdefault(data, token)
        return by_text, by_byte

    @cached_property
    def _rank_of_pair(self) -> dict[tuple[bytes, bytes], int]:
        merges = self._vocabulary.encoder.merges
        ranks: dict[tuple[bytes, bytes], int] = {}
        for rank, merge in enumerate(merges.strings() if merges is not None else ()):
            left, _, right = merge.decode("utf-8", "replace").partition(" ")
            ranks.setdefault((_undo_mark(left), _undo_mark(right)), rank)
        return ranks

    def _rank(self, left: bytes, right: bytes) -> float | None:
        if self._vocabulary.encoder.merges is not None:
            return self._rank_of_pair.get((left, right))
        token = self._tokens[0].get(left + right)
        return None if token is None else -self._scores[token]

    @cached_property
    def _scores(self) -> list[float]:
        scores = self._vocabulary.encoder.scores
        return [0.0] * self._vocabulary.tokens.n_strings if scores is None else scores.tolist()

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a byte that is no token, in a vocabulary without a token for the unknown.
        """
        by_text, by_byte = self._tokens
        unknown = self._vocabulary.encoder.unknown_id
        ids: list[int] = []
        for symbol in merge_symbols([character.encode("utf-8") for character in text], self._rank):
            token = by_text.get(symbol)
            if token is not None:
                ids.append(token)
                continue
            spelled = [by_byte[byte] for byte in symbol]
            if -1 in spelled:
                if unknown < 0:
                    byte = symbol[spelled.index(-1)]
                    raise VocabularyError(f"no token spells byte 0x{byte:02X}, so the text cannot be encoded")
                spelled = [unknown]
            ids.extend(spelled)
        return ids


def _undo_mark(text: str) -> bytes:
    return text.replace(SPACE_MARK, " ").encode("utf-8")
