"""Twin of the vocabulary kernels: token bytes by the rules of llama.cpp, one token at a time.

In: texts and types. Out: bytes. Cost: a dictionary look-up for each character.
"""

from __future__ import annotations

import re

PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
BYTE_OF_CHARACTER = {chr(byte): byte for byte in PRINTABLE} | {chr(256 + n): byte for n, byte in enumerate(OTHERS)}
USER_DEFINED, BYTE = 4, 6


def decode_token(text: bytes, kind: int, is_special: bool, byte_alphabet: bool) -> bytes | None:
    """Bytes of one token; None for a malformed name of a byte."""
    if is_special:
        return b""
    if kind == USER_DEFINED:
        return text
    if kind == BYTE:
        named = re.fullmatch(rb"<0x([0-9A-Fa-f]{2})>", text)
        return bytes([int(named[1], 16)]) if named else None
    if not byte_alphabet:
        return text.replace("\u2581".encode(), b" ")
    try:
        return bytes([BYTE_OF_CHARACTER[character] for character in text.decode("utf-8")])
    except (UnicodeDecodeError, KeyError):
        return text
