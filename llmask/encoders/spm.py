"""Encoders of SentencePiece: BPE (SPM), where characters are merged into tokens, and unigram (UGM).

SPM: Kudo, Richardson, "SentencePiece" (2018), and `llm_tokenizer_spm` of llama.cpp: start from characters; among all
neighbours that together are a token, merge the pair whose token has the highest score (or the lowest rank, where the
source lists merges), leftmost among equals; a character that is no token becomes the tokens of its bytes, or the
unknown token where the vocabulary lacks those. The merging is in `llmask/kernels/encoders/spm_merge.py`, the rules of
blanks and characters in `llmask/kernels/encoders/charsmap_rules.py`. U+2581 in a text is a blank, as it was in
training.

Gemma 4 (CHARACTER_MERGES) splits a text into runs of line breaks and what is between them: merges across their ends are
left out, and a run that is a token is that token, whatever merges make of it.

UGM: of all ways to cut a text into tokens the one whose scores have the highest sum. Kudo, "Subword Regularization"
(2018); sentencepiece's `unigram::Model` and `llm_tokenizer_ugm` of llama.cpp. The text is normalized by the rules of
the model and cut by a Viterbi search (`llmask/kernels/encoders/unigram_viterbi.py`).

    a character that is no token    the lowest score of a normal token, minus UNKNOWN_PENALTY; neighbours are one
                                    unknown token, or tokens of their bytes where the vocabulary has all 256
    user-defined tokens             score 0 where they are cut out of the text beforehand (GGUF), 0.1 for every byte
                                    but the first where they are not (sentencepiece)

In: text. Out: token ids. Cost: 20 ns a byte, UGM 25; at the first call the tables of 32,000 tokens take 60 ms, the
tables of 250,048 of UGM 0.2 s.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from llmask.encoders.piece_encoder import (
    Door,
    PieceEncoder,
    matched_strings,
    user_defined_strings,
    without,
)
from llmask.encoders.tables import DOORS, SlotTable, build_double_array
from llmask.errors import VocabularyError
from llmask.trie.layout import build_trie
from llmask.vocabulary.patterns import CHARACTER_MERGES
from llmask.vocabulary.strings import StringTable, freeze, make_table
from llmask.vocabulary.vocabulary import TokenType

SPACE_MARK = "\u2581"
LINE_BREAKS = re.compile("\n+")
UNKNOWN_PENALTY = np.float32(10.0)
USER_DEFINED_BONUS = 0.1  # a byte


class Pairs(NamedTuple):
    """Pairs of symbols that merge; all int32[n]."""

    lefts: np.ndarray
    rights: np.ndarray
    merged: np.ndarray
    ranks: np.ndarray


class SpmEncoder(PieceEncoder):
    """Encoder of one SPM vocabulary, which has scores or merges."""

    name = "spm"

    def _make_table(self) -> SlotTable:
        from ..kernels.encoders.piece_slots import PieceSlot

        vocabulary = self._vocabulary
        tokens = matched_strings(vocabulary)
        table = self._begin_table(tokens)
        characters, symbols = list_characters(tokens)
        table.put(PieceSlot.CHARACTERS, build_double_array(characters))
        table.put(PieceSlot.SYMBOLS, symbols)
        strings = append_strings(tokens, characters, symbols)
        if vocabulary.encoder.merges is not None:
            names = {vocabulary.texts.get(token) for token in vocabulary.special_ids.tolist()}
            pairs = listed_pairs(vocabulary.encoder.merges, strings, names, self._splits_lines)
        else:
            pairs = scored_pairs(strings, vocabulary.encoder.scores)
        _, ranks = np.unique(pairs.ranks, return_inverse=True)
        bits = max(1, (2 * len(pairs.lefts)).bit_length())  # at most half full
        merges = np.zeros(2 << bits, np.int64)
        DOORS.enter_merges(*pairs._replace(ranks=ranks.astype(np.int32)), merges.ctypes.data, bits)
        table.put(PieceSlot.PAIRS, merges)
        table.put_number(PieceSlot.PAIR_BITS, bits)
        if vocabulary.encoder.rules == "sentencepiece":
            users = user_defined_strings(vocabulary, tokens)
            if len(users.data):
                table.put(PieceSlot.FROZEN, build_double_array(users))
        table.put_number(PieceSlot.N_TOKENS, tokens.n_strings)
        return table

    def _make_encode(self) -> Callable[[str], list[int]]:
        run = super()._make_encode()
        if not self._splits_lines:
            return run
        tokens: dict[str, int] = {}
        for token, text in enumerate(self._vocabulary.texts.strings()):
            if text and not text.strip(b"\n"):
                tokens.setdefault(text.decode(), token)
        whole = {line_breaks: token for line_breaks, token in tokens.items() if run(line_breaks) != [token]}
        return _taking_whole(run, whole) if whole else run

    @property
    def _splits_lines(self) -> bool:
        return self._vocabulary.encoder.pretokenizer in CHARACTER_MERGES

    def _find_door(self) -> Door:
        from ..kernels.encoders import spm_merge
        from ..kernels.machine import jit

        jit.make_ready("spm")
        return jit.entry_point(spm_merge.spm_encode)


def _taking_whole(run: Callable[[str], list[int]], whole: dict[str, int]) -> Callable[[str], list[int]]:
    """As `run`, with the token of a run of line breaks where `whole` has it."""

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        first = 0
        for found in LINE_BREAKS.finditer(text):
            token = whole.get(found.group())
            if token is not None:
                ids += [*run(text[first : found.start()]), token]
                first = found.end()
        return [*ids, *run(text[first:])]

    return encode


def list_characters(tokens: StringTable) -> tuple[StringTable, np.ndarray]:
    """All characters that tokens consist of, and the symbol of each: its token, or a number above all ids."""
    text = tokens.data.tobytes().decode("utf-8", "ignore")
    characters = sorted(set(text))
    short = np.flatnonzero((np.diff(tokens.offsets) > 0) & (np.diff(tokens.offsets) <= 4))[::-1]
    token_of = {tokens.get(token): token for token in short.tolist()}
    strings = [character.encode() for character in characters]
    symbols = np.empty(len(strings), np.int32)
    n_symbols = tokens.n_strings
    for i, string in enumerate(strings):
        symbols[i] = token_of.get(string, n_symbols)
        n_symbols += int(symbols[i] == n_symbols)
    return make_table(strings), symbols


def append_strings(tokens: StringTable, characters: StringTable, symbols: np.ndarray) -> StringTable:
    """Strings of all symbols: the tokens, and the characters that are no tokens."""
    extra = make_table([characters.get(i) for i in np.flatnonzero(symbols >= tokens.n_strings).tolist()])
    return freeze(
        np.concatenate([tokens.offsets, tokens.offsets[-1] + extra.offsets[1:]]).astype(np.int32),
        np.concatenate([tokens.data, extra.data]),
    )


def scored_pairs(strings: StringTable, scores: np.ndarray | None) -> Pairs:
    """All pairs of symbols whose text is a symbol; the highest score has the lowest rank."""
    from ..kernels.encoders import merges_table
    from ..kernels.machine import jit

    jit.make_ready("spm_pairs")
    trie = build_trie(*strings)
    n_symbols, n_bytes = strings.n_strings, len(strings.data)
    if len(trie.duplicates):  # only the first of equal strings is a symbol
        is_hidden = np.zeros(n_symbols, bool)
        is_hidden[trie.duplicates[:, 1]] = True
        strings = without(strings, is_hidden)
        n_bytes = len(strings.data)
    offsets = np.array(strings.offsets)
    path = np.full(int(np.diff(offsets).max(initial=0)) + 1, -1, np.int32)
    prefixes = np.full(n_bytes, -1, np.int32)
    n_prefixes = merges_table.note_prefixes(np.array(trie.node), offsets, path, prefixes)
    reverse = build_trie((n_bytes - offsets[::-1]).astype(np.int32), strings.data[::-1].copy())
    lefts, rights, merged = (np.empty(n_prefixes, np.int32) for _ in range(3))
    n_pairs = merges_table.list_pairs(np.array(reverse.node), offsets, path, prefixes, lefts, rights, merged)
    lefts, rights, merged = lefts[:n_pairs], rights[:n_pairs], merged[:n_pairs]
    all_scores = np.zeros(n_symbols, np.float32)
    if scores is not None:
        all_scores[: len(scores)] = scores
    return Pairs(lefts, rights, merged, _ranks(all_scores)[merged])


def _ranks(scores: np.ndarray) -> np.ndarray:
    """int32, lower for higher scores: bits of floats order like numbers once the bits of negative ones are turned."""
    bits = scores.view(np.int32)
    return ~np.where(bits < 0, bits ^ 0x7FFFFFFF, bits).astype(np.int32)


def listed_pairs(merges: StringTable, strings: StringTable, names: set[bytes], splits_lines: bool = False) -> Pairs:
    """Pairs that a file lists as "left right", in the order of rank; not those that make names of special tokens, and
    with `splits_lines` none across the end of a run of line breaks.

    Raises
    ------
    VocabularyError : a merge makes what is no token.
    """
    symbol_of: dict[bytes, int] = {}
    for symbol, string in enumerate(strings.strings()):
        if string:
            symbol_of.setdefault(string, symbol)
    rows = []
    for rank, merge in enumerate(merges.strings()):
        if splits_lines and b"\n" in merge and merge.replace(b"\n", b"") != b" ":
            continue
        left, _, right = merge.decode("utf-8", "replace").partition(" ")
        halves = _undo_mark(left), _undo_mark(right)
        merged = symbol_of.get(halves[0] + halves[1])
        if merged is None and merge.replace(b" ", b"") in names:
            continue
        if merged is None:
            raise VocabularyError(
                f"merge {rank}, {merge[:60]!r}, makes what is no token",
                help="give the merges of this vocabulary, or leave the merge out",
            )
        if halves[0] in symbol_of and halves[1] in symbol_of:
            rows.append((symbol_of[halves[0]], symbol_of[halves[1]], merged, rank))
    columns = np.array(rows, np.int32).reshape(-1, 4).T
    return Pairs(*(np.ascontiguousarray(column) for column in columns))


def _undo_mark(text: str) -> bytes:
    return text.replace(SPACE_MARK, " ").encode("utf-8")


class UnigramEncoder(PieceEncoder):
    """Encoder of one UGM vocabulary, which has scores."""

    name = "ugm"

    def _make_table(self) -> SlotTable:
        from ..kernels.encoders.piece_slots import PieceSlot

        vocabulary = self._vocabulary
        strings = matched_strings(vocabulary)
        table = self._begin_table(strings)
        scores = self._scores()
        is_normal = vocabulary.types == TokenType.NORMAL
        lowest = scores[is_normal].min(initial=np.float32(0.0) if not is_normal.any() else np.float32(np.inf))
        table.put(PieceSlot.TOKENS, build_double_array(strings))
        table.put(PieceSlot.SCORES, scores)
        table.put(PieceSlot.UNKNOWN_SCORE, np.array([lowest - UNKNOWN_PENALTY], np.float32))
        table.put_number(PieceSlot.ADDS_FLOAT64, vocabulary.encoder.rules == "llama.cpp")
        return table

    def _scores(self) -> np.ndarray:
        """float32[n_tokens], with the scores of user-defined tokens."""
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
