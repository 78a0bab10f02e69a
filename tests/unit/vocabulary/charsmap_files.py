"""Character maps made from rules: a plain builder of darts-clone's double array, without shared subtrees."""

from __future__ import annotations

import numpy as np

HAS_VALUE, IS_VALUE, FREE = 1 << 8, 1 << 31, 0xFF | 1 << 31


def charsmap_bytes(rules: dict[bytes, bytes]) -> bytes:
    """The block `precompiled_charsmap` of rules; every left side becomes its right side."""
    block, place_of = bytearray(), {}
    for right in rules.values():
        if right not in place_of:
            place_of[right] = len(block)
            block += right + b"\0"
    children: dict[bytes, set[int]] = {b"": set()}
    for left in rules:
        for end in range(len(left)):
            children.setdefault(left[:end], set()).add(left[end])
            children.setdefault(left[: end + 1], set())
    # one block of 256 units for each node with children: wasteful, and simple
    n_blocks = 1 + len(children)
    units = np.full(256 * n_blocks, FREE, np.uint32)
    unit_of = {b"": 0}
    for block_number, (prefix, labels) in enumerate(children.items(), 1):
        own = unit_of[prefix]
        base = 256 * block_number
        units[own] = (0 if prefix == b"" else prefix[-1]) | offset_bits(own ^ base)
        if prefix in rules:
            units[own] |= HAS_VALUE
            units[base] = place_of[rules[prefix]] | IS_VALUE
        for label in labels:
            unit_of[prefix + bytes([label])] = base ^ label
    return np.uint32(4 * len(units)).tobytes() + units.tobytes() + bytes(block)


def offset_bits(offset: int) -> int:
    """An offset as a unit holds it: 22 bits, or, with bit 9 set, 22 bits and eight zeros below."""
    if offset < 1 << 21:
        return offset << 10
    assert offset & 0xFF == 0
    return offset >> 8 << 10 | 1 << 9
