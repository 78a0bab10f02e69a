"""Texts to encode that every Python has: English of its manual, and the sources of its standard library.

Random texts for agreement mix scripts, blanks, digits and marks; each piece is there because it splits words somewhere.

In: a size, a random generator. Out: str. Cost: milliseconds.
"""

from __future__ import annotations

import json
import pydoc_data.topics
import random
import sysconfig
from pathlib import Path

PIECES = (
    "the", " The", "THE", "don't", "I'LL", "'s", "'\u017f", " ", "  ", "     ", "\t", "\n", "\r\n", "\n\n  ", "1", "12",
    "345", "67890", "\u00bd", "\u0663", "!", "...", "?!", "://", "{\"a\": ", "null,", "_x", "caf\u00e9", "\u00fcber",
    "e\u0301", "\u65e5\u672c\u8a9e", "\ud55c\uad6d", "\u0440\u0443\u0441", "\u05e2\u05d1\u05e8", "\u0639\u0631\u0628",
    "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0e44\u0e17\u0e22", "\U0001f600", "\U0001f468\u200d\U0001f469", "\u00a0",
    "\u3000", "\u2028", "\u01c5", "\u02b0", "\ufb01", "\u0130", "$", "`", "<=>", "(", "\\n", "aaaa", "abab", "\u200b",
)  # fmt: skip


def english() -> str:
    """The language reference as it ships with Python: 700 KB of prose with examples."""
    return "\n".join(pydoc_data.topics.topics.values())


def python_code(n_bytes: int) -> str:
    """Sources of the standard library, in order of their names."""
    found: list[str] = []
    size = 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        found.append(path.read_text("utf-8", "replace"))
        size += len(found[-1])
        if size >= n_bytes:
            break
    return "".join(found)[:n_bytes]


def mixed(n_bytes: int) -> str:
    """Half English, half Python."""
    prose = english()
    half = n_bytes // 2
    return (prose * (half // len(prose) + 1))[:half] + python_code(n_bytes - half)


def random_text(rng: random.Random, n_pieces: int) -> str:
    """Pieces of many scripts, and some characters from anywhere below U+3000."""
    parts = rng.choices(PIECES, k=n_pieces)
    parts += [chr(rng.randrange(32, 0x2FFF)) for _ in range(rng.randrange(3))]
    rng.shuffle(parts)
    return "".join(parts)


def many_kinds(n_bytes: int, seed: int) -> str:
    """English, code, JSON, runs of blanks and digits, many scripts, in stretches of some hundred bytes."""
    rng = random.Random(seed)
    prose, code = english(), python_code(1_000_000)
    parts: list[str] = []
    size = 0
    while size < n_bytes:
        kind = rng.randrange(6)
        if kind == 0:
            start = rng.randrange(len(prose) - 2000)
            part = prose[start : start + rng.randrange(2000)]
        elif kind == 1:
            start = rng.randrange(len(code) - 2000)
            part = code[start : start + rng.randrange(2000)]
        elif kind == 2:
            part = json.dumps({str(i): rng.random() for i in range(rng.randrange(30))}, indent=rng.choice((None, 1, 4)))
        elif kind == 3:
            part = "".join(rng.choice(" \t\n\r\u00a0") for _ in range(rng.randrange(60)))
        elif kind == 4:
            part = "".join(rng.choice("0123456789.,-") for _ in range(rng.randrange(60)))
        else:
            part = random_text(rng, rng.randrange(80))
        parts.append(part)
        size += len(part.encode())
    return "".join(parts)


WORST = {
    "ab": lambda n: "ab" * (n // 2),
    "a": lambda n: "a" * n,
    "blanks": lambda n: " " * n,
    "emoji": lambda n: "\U0001f600" * (n // 4),
    "digits": lambda n: "1234567" * (n // 7),
    "random letters": lambda n: "".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=n)),
}
