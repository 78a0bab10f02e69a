"""Classes of code points as bytes: for every token, every class and every partial character, against all of Unicode.

A token may begin or end inside a character. Which bytes may follow is decided here from the list of all characters that
Python's `re` puts into the class, written as UTF-8: nothing is known about ranges or tries.
"""

from __future__ import annotations

import random
import re
import sys
from functools import cache
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

CLASSES = (
    r"[^a]", r".", r"é", r"[a-é]", r"[é-😀]", r"[😀-😎€]", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[^\w\s]",
    r"[\u0080-\u07ff]", r"[\ud7ff-\ue000]", r"[\U00010000-\U0010ffff]", r"(?i:k)", r"(?i:[à-þ])",
    r"[^\U00010000-\U0010ffff]",
)  # fmt: skip


@cache
def characters() -> str:
    """All of Unicode."""
    return "".join(chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF)


def tokens() -> list[bytes]:
    """End of sequence, all bytes, pieces of characters, and what looks like UTF-8 but is not."""
    pieces = [bytes([byte]) for byte in range(256)]
    for character in "éß€日😀\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\u212aK٣\xa0":
        data = character.encode()
        pieces += [data[:end] for end in range(2, len(data) + 1)] + [data[start:] for start in range(1, len(data) - 1)]
        pieces += [data + b"a", b"a" + data, data + data, data[1:] + data[:1]]
    pieces += [
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xed\xa0",
        b"\xf4\x90",
        b"\xf8\x88",
        b"\xc1\xbf",
        b"\xf0\x82",
    ]
    return [b"</s>", *dict.fromkeys(pieces)]


TOKENS = tokens()


@pytest.fixture(scope="module")
def compiler() -> Any:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=0, special=[]))


class Members:
    """The characters of a class and every way to begin one."""

    def __init__(self, pattern: str) -> None:
        self.characters = re.findall(pattern, characters())
        self.whole = set(map(str.encode, self.characters))
        self.begun = {data[:end] for end in (1, 2, 3) for data in self.whole if len(data) > end}

    def after(self, begun: bytes, count: int, data: bytes) -> tuple[bytes, int] | None:
        """Read `data` as members: the character begun, and how many are complete; None if it is not one."""
        for byte in data:
            begun += bytes([byte])
            if begun in self.whole:
                begun, count = b"", count + 1
            elif begun not in self.begun:
                return None
        return begun, count


@pytest.mark.slow
@pytest.mark.parametrize("pattern", CLASSES)
def test_a_class_repeated_allows_the_bytes_of_its_characters(compiler: Any, pattern: str, rng: random.Random) -> None:
    members = Members(pattern)
    low, high = rng.choice(((1, 3), (2, 2), (0, 2), (1, 1)))
    grammar = compiler.regex(f"(?:{pattern}){{{low},{high}}}")
    starts = {b"", *rng.sample(sorted(members.begun), k=min(12, len(members.begun)))}
    if high > 1:
        starts |= {rng.choice(members.characters).encode() + start for start in sorted(starts)[:6]}
    for prefix in sorted(starts):
        reached = members.after(b"", 0, prefix)
        assert reached is not None
        wanted = {0} if reached[0] == b"" and reached[1] >= low else set()
        for token, data in enumerate(TOKENS):
            after = members.after(*reached, data) if token else None
            if after is not None and after[1] + (after[0] != b"") <= high:
                wanted.add(token)
        matcher = grammar.matcher()
        matcher.accept_bytes(prefix)
        assert read_mask(matcher, len(TOKENS)) == wanted, f"(?:{pattern}){{{low},{high}}} after {prefix!r}"
