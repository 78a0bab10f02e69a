"""A trie as a double array: one read a byte, for encoders that match tokens at every place of a text.

Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure" (1989), with XOR in place of addition, as
in darts-clone: the child of a unit by byte c is unit `base ^ c`, if the label stored there is c. No two units with
children share a base, so the label alone tells whose child it is. All children of a unit lie in one block of 256.

    unit   int64   bits 0-8 label (256 and above: none), bit 9 a token ends here, bits 16-62 base
    entry  int64   of the same number: token id, and above it 32 bits that belong to the token (a score, say)

Block 0 stays empty: units without children have base 0. The root is unit FIRST_UNIT - 1, whose children lie in block 1.

Blocks are filled with the children of one node after another; the youngest OPEN_BLOCKS have their free units in a list,
and at most MAX_TRIES places are looked at before a new block is opened, so building is linear whatever the tokens are.

In: a `TokenTrie` (llmask/trie/layout.py). Out: units and entries. Cost: 60 ms for 250,000 tokens; 16 bytes a unit.
"""

from __future__ import annotations

from .constants import TRIE_TOKEN_MASK, TRIE_TOKEN_SHIFT
from .jit import door, kernel
from .memory import load_i64

BLOCK = 256
EMPTY = 256
CLOSED = 257  # free, but in a block that takes no more children
LABEL_MASK = 0x1FF
HAS_TOKEN = 1 << 9
BASE_SHIFT = 16
ROOT_UNIT = BLOCK - 1
OPEN_BLOCKS = 16
MAX_TRIES = 64
NO_UNIT = -1


@kernel
def step(units, unit, byte):
    """Number of the child of a unit by a byte, or NO_UNIT. `units` is the address of the array, `unit` the word."""
    index = (unit >> BASE_SHIFT) ^ byte
    return index if load_i64(units + index * 8) & LABEL_MASK == byte else NO_UNIT


@kernel
def open_block(units, following, preceding, block):
    """Put the 256 units of a block at the end of the ring of free units; entry 0 of the ring is its head."""
    last = preceding[0]
    for index in range(block * BLOCK, (block + 1) * BLOCK):
        units[index] = EMPTY
        following[last] = index
        preceding[index] = last
        last = index
    following[last] = 0
    preceding[0] = last


@kernel
def take_unit(following, preceding, index):
    """Take a unit out of the ring."""
    before, after = preceding[index], following[index]
    following[before] = after
    preceding[after] = before


@kernel
def close_block(units, following, preceding, block):
    """Take what is free in a block out of the ring for good."""
    for index in range(block * BLOCK, (block + 1) * BLOCK):
        if units[index] == EMPTY:
            take_unit(following, preceding, index)
            units[index] = CLOSED


@kernel
def fits(units, is_base, child_byte, first, end, base):
    """Whether all children, entries `first` up to `end` of `child_byte`, find free units at a base."""
    if is_base[base]:
        return False
    for i in range(first, end):
        if units[base ^ child_byte[i]] != EMPTY:
            return False
    return True


@door(
    "int64(int64[::1], int32[::1], uint8[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int32[::1],"
    " uint8[::1])",
    group="double_array",
)
def fill_double_array(
    node, child_first, child_byte, child_node, unit_of_node, units, entries, following, preceding, is_base
):
    """Write the units of a token trie; returns how many are used, or -1 when `units` is too short.

    `following` and `preceding` int32 and `is_base` uint8, all zeros and as long as `units`, and `unit_of_node` int32,
    as long as `node`, are scratch.
    """
    capacity = units.shape[0]
    if capacity < 2 * BLOCK:
        return -1
    units[:BLOCK] = CLOSED
    n_blocks = 1
    unit_of_node[0] = ROOT_UNIT
    for parent in range(node.shape[0]):
        token = (node[parent] >> TRIE_TOKEN_SHIFT) & TRIE_TOKEN_MASK
        own = unit_of_node[parent]
        if token > 0:
            units[own] |= HAS_TOKEN
            entries[own] = token - 1
        first, end = child_first[parent], child_first[parent + 1]
        if first == end:
            continue
        base = -1
        free = following[0]
        for _ in range(MAX_TRIES):
            if free == 0:
                break
            candidate = free ^ child_byte[first]
            if fits(units, is_base, child_byte, first, end, candidate):
                base = candidate
                break
            free = following[free]
        if base < 0:
            if (n_blocks + 1) * BLOCK > capacity:
                return -1
            if n_blocks > OPEN_BLOCKS:
                close_block(units, following, preceding, n_blocks - OPEN_BLOCKS)
            open_block(units, following, preceding, n_blocks)
            base = n_blocks * BLOCK
            n_blocks += 1
        is_base[base] = 1
        units[own] |= base << BASE_SHIFT
        for i in range(first, end):
            index = base ^ child_byte[i]
            take_unit(following, preceding, index)
            units[index] = child_byte[i]
            unit_of_node[child_node[i]] = index
    return n_blocks * BLOCK
