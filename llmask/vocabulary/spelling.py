"""From token texts, as files spell them, to token bytes.

    BYTE_ALPHABET  each byte is one printable character: "Ġthe" is b" the"; other texts stand for themselves
    SPACE_MARK     U+2581 is a blank: "▁the" is b" the"

In: texts, types, which tokens are special. Out: token bytes. Cost: 3 ms for 128,256 tokens.
"""

from __future__ import annotations

import numpy as np

from ..errors import VocabularyError
from .strings import StringTable, freeze

# the character of each byte: printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_ALPHABET = tuple(chr(byte if byte in _PRINTABLE else 256 + _REST.index(byte)) for byte in range(256))


def decode_texts(texts: StringTable, types: np.ndarray, is_special: np.ndarray, byte_alphabet: bool) -> StringTable:
    """Bytes of every token: none for special ones, the text as it is for user-defined ones.

    Parameters
    ----------
    types : uint8[n_tokens], `TokenType`.
    is_special : bool[n_tokens].
    byte_alphabet : the texts are in the byte alphabet, not with space marks.

    Raises
    ------
    VocabularyError : a token of type BYTE whose text is not like "<0x0A>".
    """
    from ..kernels import jit, vocabulary_scan

    jit.make_ready("vocabulary")
    spelling = vocabulary_scan.BYTE_ALPHABET if byte_alphabet else vocabulary_scan.SPACE_MARK
    offsets, block = np.empty(texts.n_strings + 1, np.int32), np.empty(len(texts.data), np.uint8)
    # copies: the doors take writable arrays only
    bad = vocabulary_scan.decode_tokens(
        spelling, np.array(types), np.array(is_special), np.array(texts.offsets), np.array(texts.data), offsets, block
    )
    if bad >= 0:
        raise VocabularyError(
            f"token {bad} is of type BYTE, but its text is {texts.get(bad)[:40]!r}, not like '<0x0A>'"
        )
    return freeze(offsets, block[: offsets[-1]].copy())
