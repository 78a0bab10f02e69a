"""Positions of canonical sequences: a configuration with what is known of how the text so far is encoded.

    context     split state, last token, chain (canonical_chains.py)
    position    configuration, context; with it lies its mask, once that was asked for (canonical_review.py)

What may follow is a function of the position, and so is the position after a token (canonical_steps.py). Positions are
found by a key of the configuration and a hash of the context; where that is another one's, by the next key.

In: a grammar's table. Out: positions; cells (canonical_fill.py). Cost: 50 ns.
"""

from __future__ import annotations

from .canonical_fill import ASK, CELL_FIELDS, CELL_FILTER, CELL_POSITION
from .grammar_slots import N_POSITIONS, POSITION_IDS, POSITIONS
from .interning import map_get, map_put, mix
from .jit import door, kernel, never_inline
from .memory import as_table, block, copy_bytes, ensure, get_i64, load_acquire, load_i64, put_i64, store_i64
from .shared_batch import CELL_CONFIGURATION, CELL_GRAMMAR

# fields of a position: those of a cell from CELL_CONFIGURATION on, and
P_CONFIGURATION = 0
P_FILTER = CELL_FILTER - CELL_CONFIGURATION  # the others lie behind it as in a cell
P_POSITION = CELL_POSITION - CELL_CONFIGURATION
P_SPLIT = CELL_FIELDS - CELL_CONFIGURATION
P_BEFORE = P_SPLIT + 1
P_CHAIN = P_BEFORE + 1
POSITION_FIELDS = P_CHAIN + 1
LOW_HALF = 0xFFFFFFFF


@kernel
def position_field(grammar, position, name):
    return get_i64(block(grammar, POSITIONS), position * POSITION_FIELDS + name)


@kernel
def put_position_field(grammar, position, name, value):
    put_i64(block(grammar, POSITIONS), position * POSITION_FIELDS + name, value)


@kernel
def _find(grammar, configuration, split, before, chain):
    """Number of a position, or a negative number, and its key."""
    key = configuration << 32 | mix(mix(split, before), chain) & LOW_HALF
    while True:
        position = map_get(grammar, POSITION_IDS, key)
        if position < 0 or (
            position_field(grammar, position, P_SPLIT) == split
            and position_field(grammar, position, P_BEFORE) == before
            and position_field(grammar, position, P_CHAIN) == chain
        ):
            return position, key
        key = key & ~LOW_HALF | (key + 1) & LOW_HALF


@kernel
def known_position(grammar, configuration, split, before, chain):
    """Number of a position, or a negative number: there is none yet."""
    position, _ = _find(grammar, configuration, split, before, chain)
    return position


@kernel
def position_of(grammar, configuration, split, before, chain):
    """Number of a position; makes it."""
    never_inline()
    known, key = _find(grammar, configuration, split, before, chain)
    if known >= 0:
        return known
    position = grammar[N_POSITIONS]
    ensure(grammar, POSITIONS, (position + 1) * POSITION_FIELDS * 8)
    put_position_field(grammar, position, P_CONFIGURATION, configuration)
    put_position_field(grammar, position, P_FILTER, ASK)
    put_position_field(grammar, position, P_POSITION, position)
    put_position_field(grammar, position, P_SPLIT, split)
    put_position_field(grammar, position, P_BEFORE, before)
    put_position_field(grammar, position, P_CHAIN, chain)
    grammar[N_POSITIONS] = position + 1
    map_put(grammar, POSITION_IDS, key, position)
    return position


@kernel
def show(grammar, cell, position):
    """Have a cell say what is known of a position; returns its configuration."""
    at = block(grammar, POSITIONS) + position * POSITION_FIELDS * 8
    kind = load_acquire(at + 8 * P_FILTER)  # written last
    copy_bytes(cell + 8 * CELL_CONFIGURATION, at, 8 * (CELL_FIELDS - CELL_CONFIGURATION))
    store_i64(cell + 8 * CELL_FILTER, kind)
    return load_i64(at)


@door("int64(int64, int64)", group="canonical")
def show_position(cell, position):
    """As `show`, for the grammar of the cell."""
    return show(as_table(load_i64(cell + 8 * CELL_GRAMMAR)), cell, position)
