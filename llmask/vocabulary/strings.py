r"""Many short byte strings in one block.

A vocabulary holds 100,000 token texts and 300,000 merges; as Python objects they would cost 30 MB and most of the time
of loading. Here they are one block with offsets, and an object is made when a string is asked for.

Texts of tokens, as files spell them, become the bytes of tokens (`decode_texts`):

    BYTE_ALPHABET  each byte is one printable character: "Ġthe" is b" the"; other texts are themselves
    SPACE_MARK     U+2581 is a blank: "▁the" is b" the"
    escapes        as Python writes bytes: "\n\xe2" (RWKV)

`CharsMap` is the `precompiled_charsmap` of a SentencePiece model: rules that normalize a text, read without trust. Its
layout is described in `llmask/kernels/encoders/charsmap_rules.py`. Everything is walked once here, so the encoders need
no checks: no way leads out of the block or in a circle.

In: a list of bytes, or arrays filled by a kernel. Out: `StringTable`. Cost: 4 bytes a string besides its bytes; to
decode 128,256 texts 3 ms, 60 ms with escapes; 20 ms for the 237,539
bytes of rules of NMT-NFKC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from llmask.errors import VocabularyError

MAX_BLOCK_BYTES = 2**31 - 1
DAMAGED = "the file may be damaged or cut off: get it again"  # a remedy of errors about what is in a file
# the character of each byte: printable Latin-1 characters are themselves, the other bytes U+0100 and following
_PRINTABLE = {*range(33, 127), *range(161, 173), *range(174, 256)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[^x]|$|x)", re.DOTALL)
_ESCAPED = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
BYTE_ALPHABET = tuple(chr(byte if byte in _PRINTABLE else 256 + _REST.index(byte)) for byte in range(256))
MAX_BYTES = 16 * 2**20  # checking takes 0.1 s a MB; real ones have 0.25 MB
UNIT_BYTES = 4
HEADER_BYTES = 4


class StringTable(NamedTuple):
    """Strings back to back; string i is `data[offsets[i] : offsets[i + 1]]`. Both arrays are read-only.

    offsets  int32[n + 1]  ascending, offsets[0] == 0
    data     uint8[...]    offsets[-1] bytes
    """

    offsets: np.ndarray
    data: np.ndarray

    @property
    def n_strings(self) -> int:
        """Number of strings."""
        return len(self.offsets) - 1

    def get(self, index: int) -> bytes:
        """String `index`, which must lie in [0, n_strings)."""
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def find(self, string: bytes) -> int:
        """Lowest index of `string`, or -1. Looks at strings of the same length only, byte by byte, all at once."""
        candidates = np.flatnonzero(np.diff(self.offsets) == len(string))
        for place, byte in enumerate(string if len(candidates) else b""):
            candidates = candidates[self.data[self.offsets[candidates] + place] == byte]
        return int(candidates[0]) if len(candidates) else -1

    def strings(self) -> Iterator[bytes]:
        """All strings in order; quicker than `get` for each."""
        block = self.data.tobytes()
        offsets = self.offsets.tolist()
        return (block[start:end] for start, end in pairwise(offsets))


def make_table(strings: Sequence[bytes]) -> StringTable:
    """Table of a list of byte strings.

    Raises
    ------
    VocabularyError : together they have 2 GiB or more.
    """
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum([len(string) for string in strings], out=offsets[1:])
    if offsets[-1] > MAX_BLOCK_BYTES:
        raise VocabularyError(
            f"the strings have {offsets[-1]} bytes together, the limit is {MAX_BLOCK_BYTES}",
            help="use a smaller vocabulary",
        )
    return freeze(offsets.astype(np.int32), np.frombuffer(b"".join(strings), np.uint8))


def freeze(offsets: np.ndarray, data: np.ndarray) -> StringTable:
    """Table over two arrays, which become read-only."""
    offsets.flags.writeable = False
    data.flags.writeable = False
    return StringTable(offsets, data)


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


class CharsMap(NamedTuple):
    """Rules that were checked. Both arrays are read-only.

    units         uint32[n]  double array of the left sides
    replacements  uint8[...]  right sides, each ended by a zero byte
    """

    units: np.ndarray
    replacements: np.ndarray

    def to_bytes(self) -> bytes:
        """The block that `read_charsmap` reads."""
        size = (len(self.units) * UNIT_BYTES).to_bytes(HEADER_BYTES, "little")
        return b"".join((size, self.units.astype("<u4").tobytes(), self.replacements.tobytes()))


def read_charsmap(block: bytes) -> CharsMap | None:
    """Rules of a `precompiled_charsmap`; None when it is empty, which means no rules.

    Raises
    ------
    VocabularyError : the block is truncated, or its rules lead out of it, in a circle, or are too long.
    """
    from ..kernels.encoders import charsmap_rules
    from ..kernels.machine import jit

    if not block:
        return None
    if len(block) > MAX_BYTES:
        raise VocabularyError(f"the character map has {len(block)} bytes, the limit is {MAX_BYTES}", help=DAMAGED)
    size = int.from_bytes(block[:HEADER_BYTES], "little")
    rest = len(block) - HEADER_BYTES - size
    if len(block) <= HEADER_BYTES or size == 0 or size % UNIT_BYTES or rest <= 0:
        raise VocabularyError(
            f"the character map declares {size} bytes of rules and has {len(block)} in all", help=DAMAGED
        )
    units = np.frombuffer(block, "<u4", size // UNIT_BYTES, HEADER_BYTES).astype(np.uint32)
    replacements = np.frombuffer(block, np.uint8, rest, HEADER_BYTES + size).copy()
    jit.make_ready("charsmap")
    path, places = (np.zeros(charsmap_rules.MAX_RULE_BYTES + 2, np.int32) for _ in range(2))
    found = charsmap_rules.check_charsmap(units, replacements, np.zeros(len(units), np.int32), path, places)
    if found != charsmap_rules.RULES_ARE_SOUND:
        reason = {
            charsmap_rules.RULES_CYCLE: "leads in a circle",
            charsmap_rules.RULES_LEAVE_UNITS: "leads out of the map",
            charsmap_rules.RULES_LEAVE_REPLACEMENTS: "has no replacement inside of the map",
            charsmap_rules.RULES_ARE_LONG: f"is longer than {charsmap_rules.MAX_RULE_BYTES} bytes, or its replacement"
            f" than {charsmap_rules.MAX_REPLACEMENT_BYTES}",
        }[found]
        raise VocabularyError(f"the character map is corrupt: a rule at unit {int(path[0])} {reason}", help=DAMAGED)
    units.flags.writeable = False
    replacements.flags.writeable = False
    return CharsMap(units, replacements)
