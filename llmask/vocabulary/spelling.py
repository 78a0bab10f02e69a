r"""From token texts, as files spell them, to token bytes.

    BYTE_ALPHABET  each byte is one printable character: "Ġthe" is b" the"; other texts stand for themselves
    SPACE_MARK     U+2581 is a blank: "▁the" is b" the"
    escapes        as Python writes bytes: "\n\xe2" (RWKV)

In: texts, types, which tokens are special. Out: token bytes. Cost: 3 ms for 128,256 tokens; 60 ms with escapes.
"""

from __future__ import annotations

import re

import numpy as np

from ..errors import VocabularyError
from .strings import DAMAGED, StringTable, freeze, make_table

# the character of each byte: printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[^x]|$|x)", re.DOTALL)
_ESCAPED = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
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
    from ..kernels.machine import jit
    from ..kernels.vocabulary import vocabulary_scan

    jit.make_ready("vocabulary")
    spelling = vocabulary_scan.BYTE_ALPHABET if byte_alphabet else vocabulary_scan.SPACE_MARK
    offsets, block = np.empty(texts.n_strings + 1, np.int32), np.empty(len(texts.data), np.uint8)
    # copies: the doors take writable arrays only
    bad = vocabulary_scan.decode_tokens(
        spelling, np.array(types), np.array(is_special), np.array(texts.offsets), np.array(texts.data), offsets, block
    )
    if bad >= 0:
        raise VocabularyError(
            f"token {bad} is of type BYTE, but its text is {texts.get(bad)[:40]!r}, not like '<0x0A>'", help=DAMAGED
        )
    return freeze(offsets, block[: offsets[-1]].copy())


def unescape_texts(texts: StringTable, is_special: np.ndarray) -> StringTable:
    """Bytes of every token from a text with escapes, none for special ones.

    Raises
    ------
    VocabularyError : a backslash at the end of a text, or one with "x" and no two digits, 0 to f.
    """
    pairs = enumerate(zip(texts.strings(), is_special.tolist(), strict=True))
    return make_table([b"" if hidden else _unescape(token, text) for token, (text, hidden) in pairs])


def _unescape(token: int, text: bytes) -> bytes:
    def spell(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        if escape in (b"", b"x"):
            raise VocabularyError(f"token {token}, {text[:40]!r}, has an escape that is not finished", help=DAMAGED)
        return bytes([int(escape[1:], 16)]) if escape[:1] == b"x" else _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(spell, text) if b"\\" in text else text
