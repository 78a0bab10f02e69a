r"""Tokens that no text becomes, because their texts are not spelled as their vocabulary spells texts.

    byte alphabet   "\u200d" beside "âĢį", which a text becomes: Command R has both, ids 264 and 35927
    space marks     " the" beside "▁the"

An encoder looks for texts in the spelling of the vocabulary, so such a token is never found; its bytes may be those of
another one all the same, and a model may write it. (A user-defined one is cut out of a text before.) A vocabulary that
was made of bytes has no spelling, which shows in texts that are all bytes themselves.

In: a vocabulary. Out: flags. Cost: 2 ms for 128,256 tokens.
"""

from __future__ import annotations

import numpy as np

from ..vocabulary.strings import StringTable
from ..vocabulary.vocabulary import TokenType, Vocabulary

SPACE = 32
MARKED = ("spm", "ugm", "wpm")  # kinds of vocabularies with space marks
# the byte alphabet in UTF-8: U+0021 to U+007E, U+00A1 to U+00AC, U+00AE to U+0143
_FIRST_OUTSIDE, _LAST_LEAD, _LAST_BYTE = 0xC6, 0xC5, 0x83
_LATIN, _FIRST_LATIN, _SOFT_HYPHEN = 0xC2, 0xA1, 0xAD


def misspelled(vocabulary: Vocabulary) -> np.ndarray:
    """bool[n_tokens]: tokens that are never found in a text by the encoder of their vocabulary."""
    data, texts = vocabulary.encoder, vocabulary.texts
    if data.kind == "bpe" and has_spelling(vocabulary):
        return _has_any(texts, _outside_of_alphabet(texts.data))
    if data.kind in MARKED and data.escape_whitespaces and has_spelling(vocabulary):
        is_hidden = _has_any(texts, texts.data == SPACE)
        return is_hidden if data.rules == "llama.cpp" else is_hidden & (vocabulary.types != TokenType.USER_DEFINED)
    return np.zeros(texts.n_strings, bool)


def has_spelling(vocabulary: Vocabulary) -> bool:
    """Whether some token's text is not its bytes."""
    differs = np.diff(vocabulary.texts.offsets) != np.diff(vocabulary.tokens.offsets)
    return bool(differs[vocabulary.types == TokenType.NORMAL].any())


def _outside_of_alphabet(block: np.ndarray) -> np.ndarray:
    """bool[n_bytes]: where in UTF-8 a character is seen that is not in the byte alphabet."""
    before = np.concatenate([np.zeros(1, np.uint8), block[:-1]])
    is_outside: np.ndarray = (block <= SPACE) | (block == 0x7F) | (block >= _FIRST_OUTSIDE)
    is_outside |= (before == _LAST_LEAD) & (block > _LAST_BYTE)
    is_outside |= (before == _LATIN) & ((block < _FIRST_LATIN) | (block == _SOFT_HYPHEN))
    return is_outside


def _has_any(strings: StringTable, is_seen: np.ndarray) -> np.ndarray:
    """bool[n_strings]: strings with a byte that is seen."""
    found = np.zeros(strings.n_strings, bool)
    found[np.searchsorted(strings.offsets[1:], np.flatnonzero(is_seen), side="right")] = True
    return found
