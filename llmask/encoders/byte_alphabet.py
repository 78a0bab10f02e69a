"""The byte alphabet of GPT-2: every byte is one printable character, so that texts of tokens have no blanks.

In: characters. Out: bytes. Cost: none worth naming; `llmask/kernels/vocabulary/vocabulary_scan.py` does the same in
bulk.
"""

from __future__ import annotations

# printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_OF_CHARACTER = {code: code for code in _PRINTABLE} | {256 + rank: byte for rank, byte in enumerate(_REST)}


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
