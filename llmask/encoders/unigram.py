"""Unigram (UGM): of all ways to cut a text into tokens the one whose scores have the highest sum.

Kudo, "Subword Regularization" (2018); sentencepiece's `unigram::Model` and `llm_tokenizer_ugm` of llama.cpp. The text
is normalized by the rules of the model (`llmask/kernels/encoders/charsmap_rules.py`) and cut by a Viterbi search
(`llmask/kernels/encoders/unigram_viterbi.py`).

    a character that is no token    the lowest score of a normal token, minus UNKNOWN_PENALTY; neighbours are one
                                    unknown token, or tokens of their bytes where the vocabulary has all 256
    user-defined tokens             score 0 where they are cut out of the text beforehand (GGUF), 0.1 for every byte
                                    but the first where they are not (sentencepiece)

In: text. Out: token ids. Cost: 25 ns a byte; the tables of 250,048 tokens take 0.2 s at the first call.
"""

from __future__ import annotations

import numpy as np

from ..vocabulary.vocabulary import TokenType
from .piece_encoder import Door, PieceEncoder
from .pieces import PieceTable, byte_tokens, list_neighbours, matched_strings, put_normalization
from .tables import build_double_array

UNKNOWN_PENALTY = np.float32(10.0)
USER_DEFINED_BONUS = 0.1  # a byte


class UnigramEncoder(PieceEncoder):
    """Encoder of one UGM vocabulary, which has scores."""

    name = "ugm"

    def _make_table(self) -> PieceTable:
        from ..kernels.encoders.piece_slots import N_PIECE_SLOTS, PieceSlot

        vocabulary = self._vocabulary
        table = PieceTable(N_PIECE_SLOTS)
        put_normalization(table, vocabulary)
        strings = matched_strings(vocabulary)
        scores = self._scores()
        is_normal = vocabulary.types == TokenType.NORMAL
        lowest = scores[is_normal].min(initial=np.float32(0.0) if not is_normal.any() else np.float32(np.inf))
        table.put_array(PieceSlot.TOKENS, build_double_array(strings))
        table.put_array(PieceSlot.SCORES, scores)
        table.put_array(PieceSlot.NEIGHBOURS, list_neighbours(strings))
        table.put(PieceSlot.UNKNOWN_ID, vocabulary.encoder.unknown_id)
        table.put_array(PieceSlot.UNKNOWN_SCORE, np.array([lowest - UNKNOWN_PENALTY], np.float32))
        spelled = byte_tokens(vocabulary)
        if spelled is not None:
            table.put_array(PieceSlot.BYTE_TOKENS, spelled)
        table.put(PieceSlot.STOPS_AT_SPACES, vocabulary.encoder.stops_at_spaces)
        table.put(PieceSlot.ADDS_FLOAT64, vocabulary.encoder.rules == "llama.cpp")
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

    def _find_door(self) -> Door:
        from ..kernels.encoders import unigram_viterbi
        from ..kernels.machine import jit

        jit.make_ready("unigram")
        return jit.entry_point(unigram_viterbi.unigram_encode)
