r"""Sets of code points as nodes over UTF-8 bytes.

Only well-formed sequences exist in the node: the shortest form of each code point and no surrogates (they are no
members of a `CodePointSet`). Source: The Unicode Standard 16.0, section 3.9, table 3-7.

UTF-8 writes a code point in digits of six bits, `\uXXXX` in hexadecimal, a surrogate pair in digits of 2, 4, 4, 2, 4, 4
bits with fixed bytes between. All three are one job, that of `digits_node`: given ranges of numbers and the digits'
spellings, make the node of exactly those spellings. Digits after which the same may follow share one node, so the
result is deterministic (each byte leads to one place) and as small as the ranges allow: a block that is covered whole
is never opened.

In: a `CodePointSet`. Out: a node. Cost: about a microsecond a range and byte; remembered in `nodes.memo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llmask.regex.code_points import MAX_CODE_POINT, CodePointSet

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

Ranges = tuple[tuple[int, int], ...]


class Position(NamedTuple):
    """One digit of a numeral.

    masks   one 256-bit mask a digit value: the bytes that spell it (two for a hexadecimal letter)
    before  bytes masks that stand before the digit in every spelling
    """

    masks: tuple[int, ...]
    before: tuple[int, ...] = ()


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


def digits_node(nodes: RegexNodes, ranges: Ranges, positions: tuple[Position, ...]) -> int:
    """Node of the spellings of every number in `ranges` (first, last; ascending, disjoint, not touching).

    Examples
    --------
    >>> decimal = Position(tuple(1 << byte for byte in b"0123456789"))
    >>> node = digits_node(nodes, ((7, 42),), (decimal, decimal))
    >>> nodes.matches(node, b"07"), nodes.matches(node, b"43")
    (True, False)
    """
    if not positions:
        return nodes.EPSILON
    key = (__name__, ranges, positions)
    found = nodes.memo.get(key)
    if found is not None:
        return int(found)
    first, *rest = positions
    block_size = 1
    for position in rest:
        block_size *= len(position.masks)
    parts: dict[int, list[tuple[int, int]]] = {}
    for low, high in ranges:
        low_block, high_block = low // block_size, high // block_size
        for block in range(low_block, high_block + 1):
            start = low - block * block_size if block == low_block else 0
            end = high - block * block_size if block == high_block else block_size - 1
            parts.setdefault(block, []).append((start, end))
    blocks: dict[Ranges, int] = {}
    for block, pieces in parts.items():
        inside = tuple(pieces)
        blocks[inside] = blocks.get(inside, 0) | first.masks[block]
    masks: dict[int, int] = {}
    for inside, mask in blocks.items():
        follow = digits_node(nodes, inside, tuple(rest))
        masks[follow] = masks.get(follow, 0) | mask
    before = [nodes.byte_set(mask) for mask in first.before]
    choices = [nodes.concat([*before, nodes.byte_set(mask), follow]) for follow, mask in masks.items()]
    node = nodes.memo[key] = nodes.union(choices)
    return node


def utf8_char(nodes: RegexNodes, members: CodePointSet) -> int:
    """Node of the UTF-8 spelling of one code point of `members`; `nodes.EMPTY` without members.

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
