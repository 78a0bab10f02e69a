"""Every way to write a text between the quotes of a JSON string, from RFC 8259 section 7."""

from __future__ import annotations

import random

SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def spellings(character: str) -> list[bytes]:
    """Spellings of one code point; hexadecimal digits all small and all capital stand for the mixtures."""
    units = character.encode("utf-16-be")
    codes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    found = ["".join(f"\\u{code}" for code in codes), "".join(f"\\u{code.upper()}" for code in codes)]
    if character in SHORT:
        found.append("\\" + SHORT[character])
    if character not in '"\\\x7f' and ord(character) >= 0x20:
        found.append(character)
    return [spelled.encode() for spelled in found]


def spell(rng: random.Random, text: str) -> bytes:
    """One of the spellings of a text."""
    return b"".join(rng.choice(spellings(character)) for character in text)
