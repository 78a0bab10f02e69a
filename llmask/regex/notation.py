r"""Regular expressions as text, read from the records of a store: for people, where rules and states are printed.

    "if"   '"a"'   /[0-9]+/                   a literal in quotes of either kind, all else between slashes
    STRING                                    a name that a frontend gave the node (`RegexNodes.name`)
    [a-zé]   [^x]                             one character; of bytes [\xc2-\xdf]
    a|b   (?:a&b)   ~(?:a)   a{2,5}           union, intersection, complement, repetition
    <automaton 3 in state 0>                  one that was given as a table
    <tokens 10-12,15>                         tokens by their ids
    <lazy>                                    the lexeme ends as soon as it can

Bytes that are no text are written \xff. What is longer than asked for is cut, and its number says which node it is:
/(?:abandon|ability|able.../ (node 812).

In: a store's table, a node. Out: text. Cost: some microseconds a part.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..kernels.machine.records import LIST, Lists
from ..kernels.regex import nodes as node_table
from ..kernels.regex.nodes import Node
from ..kernels.table import Table
from ..kernels.tables.kinds import NodeKind
from ..kernels.tables.store_layout import STORE
from .code_points import MAX_CODE_POINT, CodePointSet

MOST_CHARACTERS = 120
MOST_NESTED = 40
MOST_RANGES = 12  # of a class
SIGNS = {(0, 1): "?", (0, node_table.UNBOUNDED): "*", (1, node_table.UNBOUNDED): "+"}
SPECIAL = "/.*+?|&~()[]{}^$<>"
SPELLED = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}
CHOICE, SEQUENCE, ONE = range(3)  # what may stand somewhere without parentheses


def list_in(table: Table, family: int, number: int) -> list[int]:
    """Items of an interned list (kernels/tables/interning.py)."""
    offset, length = table.read(family, LIST.n_fields * number, 2).tolist()
    return [int(item) for item in table.read(family + Lists.parts["pool"][0], offset, length)]


def _fields(table: Table, node: int) -> tuple[int, int, int]:
    """Kind of a node, and its two operands."""
    record = table.view.nodes[node]
    return record.kind, record.a, record.b


def node_text(table: Table, node: int, names: Mapping[int, str], characters: Mapping[int, CodePointSet]) -> str:
    """A node as text: its name, a literal in quotes, or an expression between slashes; see `RegexNodes.text`."""
    data = literal_bytes(table, node)
    if data is not None and len(data) <= MOST_CHARACTERS:
        quote = "'" if b'"' in data and b"'" not in data else '"'
        return quote + _spelled(data, quote) + quote
    if node in names:
        return names[node]
    text = _Writer(table, names, characters).text(node, CHOICE, 0)
    if text.startswith("<") and text.endswith(">") and text.count("<") == 1:
        return text
    return f"/{text}/" if len(text) <= MOST_CHARACTERS else f"/{text[:MOST_CHARACTERS]}.../ (node {node})"


class _Writer:
    """Writes one expression; past MOST_CHARACTERS parts of it are left out, as their text is cut anyway."""

    def __init__(self, table: Table, names: Mapping[int, str], characters: Mapping[int, CodePointSet]) -> None:
        self.table = table
        self.names = names
        self.characters = characters
        self.left = MOST_CHARACTERS

    def text(self, node: int, place: int, depth: int) -> str:
        if self.left < 0 or depth > MOST_NESTED:
            return "..."
        if depth > 0 and node in self.names and literal_bytes(self.table, node) is None:
            return f"<{self.names[node]}>"
        if node in self.characters and self.characters[node].bounds[-1] > 0x80:
            return self._counted(_characters(self.characters[node]))
        record = self.table.view.nodes[node]
        kind, a, b = record.kind, record.a, record.b
        if kind in (NodeKind.CONCAT, NodeKind.UNION, NodeKind.AND):
            return self._several(node, kind, place, depth)
        if kind == NodeKind.REPEAT:
            low, high = record.low, record.high
            bounds = str(low) if low == high else f"{low},{'' if high == node_table.UNBOUNDED else high}"
            text = self.text(a, ONE, depth + 1) + (SIGNS.get((low, high)) or f"{{{bounds}}}")
            return f"(?:{text})" if place == ONE else text
        if node == Node.ALL:
            return "(?s:.*)"
        if kind == NodeKind.NOT:
            return f"~(?:{self.text(a, CHOICE, depth + 1)})"
        return self._counted(self._leaf(node, kind, a, b, place))

    def _counted(self, text: str) -> str:
        self.left -= len(text)
        return text

    def _several(self, node: int, kind: int, place: int, depth: int) -> str:
        parts: list[str] = []
        if kind == NodeKind.CONCAT:  # the right part may be one in its turn
            while kind == NodeKind.CONCAT and self.left >= 0 and (node not in self.names or depth == 0 or not parts):
                record = self.table.view.nodes[node]
                parts.append(self.text(record.a, SEQUENCE, depth + 1))
                node = record.b
                kind = self.table.view.nodes[node].kind
            parts.append(self.text(node, SEQUENCE, depth + 1))
            text, allowed = "".join(parts), place != ONE
        else:
            for member in list_in(self.table, STORE.node_lists, self.table.view.nodes[node].a):
                parts.append(self.text(member, SEQUENCE, depth + 1))
                if self.left < 0:
                    break
            is_union = kind == NodeKind.UNION
            text, allowed = ("|" if is_union else "&").join(parts), is_union and place == CHOICE
        return text if allowed else f"(?:{text})"

    def _leaf(self, node: int, kind: int, a: int, b: int, place: int) -> str:
        if node == Node.LAZY_END:
            return "<lazy>"
        if kind == NodeKind.EMPTY:
            return "[]"
        if kind == NodeKind.EPSILON:
            return "(?:)"
        if kind == NodeKind.BYTES:
            return _class(self.table, a)
        if kind == NodeKind.LITERAL:
            data = literal_bytes(self.table, node)
            assert data is not None
            text = _spelled(data[: self.left + 1], SPECIAL)
            return f"(?:{text})" if place == ONE else text
        if kind == NodeKind.DFA:
            return f"<automaton {a} in state {b}>"
        assert kind == NodeKind.TOKENS, kind
        _, *ids = list_in(self.table, STORE.token_sets, a)
        pairs = zip(ids[::2], ids[1::2], strict=True)
        return "<tokens " + ",".join(str(low) if low == high else f"{low}-{high}" for low, high in pairs) + ">"


def literal_bytes(table: Table, node: int) -> bytes | None:
    """The bytes of a node that matches these only; None where it is no literal."""
    found = b""
    while True:
        kind, a, b = _fields(table, node)
        is_last = kind != NodeKind.CONCAT
        part = node if is_last else a
        kind, a, n = _fields(table, part)
        if kind == NodeKind.LITERAL:
            found += table.read(STORE.literals, a, n, np.uint8).tobytes()
        elif Node.FIRST_SINGLE <= part < Node.FIRST_SINGLE + 256:
            found += bytes([part - Node.FIRST_SINGLE])
        else:
            return None
        if is_last:
            return found
        node = b


def _spelled(data: bytes, special: str) -> str:
    """Bytes as text, and as escapes where they are no text."""
    text = data.decode(errors="surrogateescape")
    return "".join(_character(character, special) for character in text)


def _character(character: str, special: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code in SPELLED:
        return SPELLED[code]
    if character == "\\" or character in special:
        return f"\\{character}"
    return character if character.isprintable() else "".join(f"\\x{byte:02x}" for byte in character.encode())


def _class(table: Table, byte_set: int) -> str:
    """A set of bytes as a class of characters, by what is in it or by what is not."""
    words = np.array(list_in(table, STORE.byte_sets, byte_set), np.int32)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    if bits.all():
        return r"[\x00-\xff]"
    if bits.sum() == 1:
        return _byte(int(np.flatnonzero(bits)[0]), SPECIAL)
    is_negated = bool(bits.sum() > 128)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bits != is_negated, [False]]).astype(np.int8))).tolist()
    ranges = []
    for low, end in zip(edges[::2], edges[1::2], strict=True):
        one, other = _byte(low, "/]^-["), _byte(end - 1, "/]^-[")
        ranges.append(one if end - low == 1 else f"{one}{'-' * (end - low > 2)}{other}")
    return f"[{'^' * is_negated}{''.join(ranges)}]"


def _characters(members: CodePointSet) -> str:
    """A set of characters as a class."""
    is_negated = members.bounds[:1] == (0,) and members.bounds[-1] == MAX_CODE_POINT + 1
    ranges = (members.complement() if is_negated else members).ranges()
    if not ranges:
        return "[^]"
    if len(members) == 1:
        return _character(chr(ranges[0][0]), SPECIAL)
    texts = []
    for low, high in ranges[:MOST_RANGES]:
        one, other = _character(chr(low), "/]^-["), _character(chr(high), "/]^-[")
        texts.append(one if low == high else f"{one}{'-' * (high - low > 1)}{other}")
    return f"[{'^' * is_negated}{''.join(texts)}{'...' * (len(ranges) > MOST_RANGES)}]"


def _byte(byte: int, special: str) -> str:
    return _character(chr(byte), special) if byte < 0x80 else f"\\x{byte:02x}"
