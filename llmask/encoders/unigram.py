"""Unigram (UGM): of all ways to cut a text into tokens the one whose scores have the highest sum.

Kudo, "Subword Regularization" (2018); sentencepiece's `unigram::Model` and `llm_tokenizer_ugm` of llama.cpp. The text
is normalized by the rules of the model (`llmask/kernels/charsmap_rules.py`) and cut by a Viterbi search
(`llmask/kernels/unigram_viterbi.py`).

    a character that is no token    the lowest score of a normal token, minus UNKNOWN_PENALTY; neighbours are one
                                    unknown token, or tokens of their bytes where the vocabulary has all 256
    user-defined tokens             score 0 where they are cut out of the text beforehand (GGUF), 0.1 for every byte
                                    but the first where they are not (sentencepiece)

In: text. Out: token ids. Cost: 25 ns a byte; the tables of 250,048 tokens take 0.2 s at the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..vocabulary.vocabulary import TokenType, Vocabulary
from .pieces import (
    PieceTable,
    build_double_array,
    byte_tokens,
    check_growth,
    list_neighbours,
    matched_strings,
    put_normalization,
    refuse,
    text_bytes,
)

UNKNOWN_PENALTY = np.float32(10.0)
USER_DEFINED_BONUS = 0.1  # a byte


class UnigramEncoder:
    """Encoder of one UGM vocabulary, which has scores."""

    name = "ugm"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: not the table, which holds addresses."""
        return {"_vocabulary": self._vocabulary}

    @cached_property
    def _table(self) -> PieceTable:
        from ..kernels import piece_slots as slots
        from ..kernels.double_array import HAS_TOKEN

        vocabulary = self._vocabulary
        table = PieceTable(slots.N_SLOTS)
        put_normalization(table, vocabulary)
        strings = matched_strings(vocabulary)
        tokens = build_double_array(strings)
        scores = self._scores()
        ends_token = (tokens.units & HAS_TOKEN) != 0
        halves = tokens.entries.view(np.int32).reshape(-1, 2)
        halves[ends_token, 1] = scores[halves[ends_token, 0]].view(np.int32)
        is_normal = vocabulary.types == TokenType.NORMAL
        lowest = scores[is_normal].min(initial=np.float32(0.0) if not is_normal.any() else np.float32(np.inf))
        table.put_array(slots.TOKEN_UNITS, tokens.units)
        table.put_array(slots.TOKEN_ENTRIES, tokens.entries)
        table.put_array(slots.NEIGHBOURS, list_neighbours(strings))
        table.put(slots.UNKNOWN_ID, vocabulary.encoder.unknown_id)
        table.put_array(slots.UNKNOWN_SCORE, np.array([lowest - UNKNOWN_PENALTY], np.float32))
        spelled = byte_tokens(vocabulary)
        if spelled is not None:
            table.put_array(slots.BYTE_TOKENS, spelled)
        table.put(slots.STOPS_AT_SPACES, vocabulary.encoder.stops_at_spaces)
        table.put(slots.ADDS_FLOAT64, vocabulary.encoder.rules == "llama.cpp")
        return table

    def _scores(self) -> np.ndarray:
        """float32[n_tokens], with those of user-defined tokens."""
        vocabulary = self._vocabulary
        assert vocabulary.encoder.scores is not None
        scores: np.ndarray = vocabulary.encoder.scores.copy()
        is_user_defined = vocabulary.types == TokenType.USER_DEFINED
        if vocabulary.encoder.rules == "llama.cpp":
            scores[is_user_defined] = 0.0
        else:
            lengths = np.diff(vocabulary.texts.offsets)[is_user_defined]
            scores[is_user_defined] = (USER_DEFINED_BONUS * (lengths - 1)).astype(np.float32)
        return scores

    @cached_property
    def _run(self) -> Callable[[str], list[int]]:
        """Text to ids, -1 for a character that no token spells."""
        from ..kernels import jit
        from ..kernels.unigram_viterbi import unigram_encode

        jit.make_ready("unigram")
        address = self._table.address

        def run(text: str) -> list[int]:
            ids: list[int] = unigram_encode(address, text_bytes(text)).tolist()
            return ids

        return run

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens.

        Raises
        ------
        VocabularyError : a character that no token spells, in a vocabulary without a token for the unknown.
        """
        if not text:
            return []
        ids = self._run(text)
        check_growth(ids)
        if self._vocabulary.encoder.unknown_id < 0 and -1 in ids:
            raise refuse(text, self._run)
        return ids
