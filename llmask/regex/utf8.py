"""Sets of code points as nodes over UTF-8 bytes.

Only well-formed sequences exist in the node: the shortest form of each code point and no surrogates (they are no
members of a `CodePointSet`). Source: The Unicode Standard 16.0, section 3.9, table 3-7.

In: a `CodePointSet`. Out: a node. Cost: about a microsecond a range and byte; remembered in `nodes.memo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.regex.code_points import MAX_CODE_POINT, CodePointSet
from llmask.regex.digits import Position, digits_node

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

ASCII = Position(tuple(1 << byte for byte in range(0x80)))
CONTINUATION = Position(tuple(1 << byte for byte in range(0x80, 0xC0)))
LENGTHS = (
    (0x00, 0x7F, (ASCII,)),
    (0x80, 0x7FF, (Position(tuple(1 << 0xC0 + digit for digit in range(32))), CONTINUATION)),
    (0x800, 0xFFFF, (Position(tuple(1 << 0xE0 + digit for digit in range(16))), CONTINUATION, CONTINUATION)),
    (
        0x10000,
        MAX_CODE_POINT,
        (Position(tuple(1 << 0xF0 + digit for digit in range(8))), CONTINUATION, CONTINUATION, CONTINUATION),
    ),
)


def utf8_char(nodes: RegexNodes, members: CodePointSet) -> int:
    """Node of the UTF-8 spelling of one code point of `members`; `nodes.EMPTY` when there is none.

    Examples
    --------
    >>> nodes.matches(utf8_char(nodes, CodePointSet.of("aé")), "é".encode())
    True
    """
    key = (__name__, members)
    found = nodes.memo.get(key)
    if found is None:
        parts = []
        for low, high, positions in LENGTHS:
            ranges = tuple(members.intersect(CodePointSet((low, high + 1))).ranges())
            if ranges:
                parts.append(digits_node(nodes, ranges, positions))
        found = nodes.memo[key] = nodes.union(parts)
        nodes.name_characters(found, members)
        if parts:
            nodes.mark_character(found)
    return int(found)


def utf8_literal(nodes: RegexNodes, text: str) -> int:
    """Node of a text without lone surrogates, as `utf8_char` is of a character."""
    data = text.encode()
    node = nodes.literal(data)
    nodes.memo[__name__, "word", node] = data
    return node


def literal_word(nodes: RegexNodes, node: int) -> bytes | None:
    """The text of a node that `utf8_literal` made."""
    return nodes.memo.get((__name__, "word", node))
