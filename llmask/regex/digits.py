r"""Sets of numbers as nodes over their digits, most significant first.

UTF-8 writes a code point in digits of six bits, `\uXXXX` in hexadecimal, a surrogate pair in digits of 2, 4, 4, 2, 4,
4 bits with fixed bytes between. All three are one job: given ranges of numbers and the digits' spellings, make the node
of exactly those spellings. Digits after which the same may follow share one node, so the result is deterministic
(each byte leads to one place) and as small as the ranges allow: a block that is covered whole is never opened.

In: ranges of numbers, positions. Out: a node. Cost: O(ranges x positions) calls on `nodes`; remembered in `nodes.memo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
