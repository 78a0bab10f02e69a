"""The tokens that differ at a place, in groups of tokens that do the same to the text.

What a token does is its signature: which classes of characters it writes into strings, which escapes, what it writes
outside of strings, and where in JSON it ends. It depends on the token and on the scanner's state before it, so that
every signature is found once. A group is settled by its shortest token and, from FEW tokens on, by one that is drawn;
where these come out differently it is two groups.

In: a scan, tokens. Out: `Group`s. Cost: 10 us for a token that is new in a state; 20 us a place.
"""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import numpy as np

from bench.json_scan import BLANKS, Scan

MAX_GROUPS = 50  # of one place
FEW = 4  # tokens of which the shortest stands for all
MOST_STRUCTURE = 4  # bytes outside strings that tell signatures apart
END, CONTROL = ("end",), ("control token",)
CLASSES = ((b"a-zA-Z", "a"), (b"0-9", "0"), (rb"\x00-\x1f", "^"), (rb"\x80-\xff", "~"))
CLASS_OF = [
    next((name for chars, name in CLASSES if re.match(b"[" + chars + b"]", bytes([byte]))), ".") for byte in range(256)
]


class Group(NamedTuple):
    """Tokens alike: how they are alike, how many they are, and those that stand for them."""

    signature: tuple[Any, ...]
    n_tokens: int
    tokens: list[int]


def state_of(scan: Scan) -> tuple[Any, ...]:
    """What of a scan decides the signatures of tokens after it."""
    escape = scan.escapes[-1].data if scan.is_in_escape else b""
    return scan.is_in_string, scan.is_in_key, escape, bytes(scan._nesting[-1:]), scan._expects_key


def signature(scan: Scan, data: bytes) -> tuple[Any, ...]:
    """What the token does after this scan."""
    start = len(scan.escapes) - scan.is_in_escape
    after, written, structure, blanks = scan.copy(), set(), bytearray(), set()
    for byte in data:
        was_in_string = after.is_in_string
        was_in_escape = after.is_in_escape
        after.read(bytes([byte]))
        if was_in_string and after.is_in_string and not was_in_escape and byte != 0x5C:
            written.add(CLASS_OF[byte])
        elif not was_in_string or not after.is_in_string:
            kept = b"0" if byte in b"0123456789" else bytes([byte])
            if byte in BLANKS:
                blanks.add(byte == ord(" "))
            elif not (kept == b"0" and structure.endswith(kept)):
                structure += kept
    escapes = tuple(sorted({escape.data[1:2] for escape in after.escapes[start:]}))
    ending = after.is_in_string, after.is_in_key, after.is_in_escape, _is_unfinished(data)
    return "".join(sorted(written)), escapes, bytes(structure[:MOST_STRUCTURE]), tuple(sorted(blanks)), ending


def _is_unfinished(data: bytes) -> bool:
    """Whether the last character lacks bytes."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data) and "end of data" in error.reason
    return False


class Grouping:
    """Groups over one vocabulary.

    Parameters
    ----------
    tokens : bytes of every token.
    ends : ids that end a sequence.
    special : ids of control tokens, the ends among them or not.
    """

    def __init__(self, tokens: list[bytes], ends: tuple[int, ...], special: list[int]) -> None:
        self.tokens = tokens
        self.lengths = np.array([len(data) for data in tokens])
        self.fixed: dict[int, tuple[Any, ...]] = dict.fromkeys(special, CONTROL) | dict.fromkeys(ends, END)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._signatures: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], Any] = {}

    def groups(self, scan: Scan, tokens: Any) -> tuple[list[Group], int]:
        """The groups of these token ids, the largest first, and how many tokens are in groups beyond MAX_GROUPS."""
        if not len(tokens):
            return [], 0
        known = self._known.setdefault(state_of(scan), np.full(len(self.tokens), -1, np.int32))
        for token in tokens[known[tokens] < 0].tolist():
            known[token] = self._number(self._signature(scan, token))
        numbers = known[tokens]
        found = []
        for number in np.unique(numbers).tolist():
            members = tokens[numbers == number]
            chosen = {int(members[np.argmin(self.lengths[members])]): None}
            if len(members) >= FEW:
                chosen[int(members[random.Random(scan.n_bytes).randrange(len(members))])] = None
            found.append(Group(self._signatures[number], len(members), list(chosen)))
        found.sort(key=lambda group: -group.n_tokens)
        return found[:MAX_GROUPS], sum(group.n_tokens for group in found[MAX_GROUPS:])

    def _signature(self, scan: Scan, token: int) -> tuple[Any, ...]:
        if token in self.fixed:
            return (*self.fixed[token], token)
        return signature(scan, self.tokens[token]) if self.tokens[token] else CONTROL

    def _number(self, found: tuple[Any, ...]) -> int:
        if found not in self._numbers:
            self._numbers[found] = len(self._signatures)
            self._signatures.append(found)
        return self._numbers[found]
