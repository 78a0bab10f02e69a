"""Positions of canonical sequences: a configuration with what is known of how the text so far is encoded.

    context     split state, last token, chain (canonical/chains.py), in one number
    position    configuration, context; with it lies its mask, once that was asked for (canonical/review.py)

What may follow is a function of the position, and so is the position after a token (canonical/steps.py). Positions are
found by a key of the configuration and a hash of the context; where that is another one's, by the next key. Those whose
masks are put together from parts (canonical/parts.py) are not kept: a matcher's cell has all of them.

In: a grammar's table. Out: positions; cells (mask/cell.py). Cost: 50 ns.
"""

from __future__ import annotations

from ..machine.atomics import load_acquire
from ..machine.jit import kernel, never_inline
from ..mask.cell import ASK, CELL_CONFIGURATION, CELL_CONTEXT, CELL_FIELDS, CELL_FILTER
from ..tables.grammar_layout import N_POSITIONS, POSITION_IDS, POSITIONS
from ..tables.interning import map_get, map_put, mix
from ..tables.memory import block, copy_bytes, ensure, get_i64, put_i64

# fields of a position: those of a cell from CELL_CONFIGURATION on
P_CONFIGURATION = 0
P_FILTER = CELL_FILTER - CELL_CONFIGURATION
P_CONTEXT = CELL_CONTEXT - CELL_CONFIGURATION
POSITION_FIELDS = CELL_FIELDS - CELL_CONFIGURATION
LOW_HALF = 0xFFFFFFFF

SPLIT_BITS = 16
BEFORE_BITS = 22  # more than a token needs (MAX_VOCAB_SIZE)


@kernel
def context_of(split, before, chain):
    """The number of a context; that of the beginning, behind no token, is its split state."""
    return (chain << BEFORE_BITS | before + 1) << SPLIT_BITS | split


@kernel
def split_of(context):
    return context & ((1 << SPLIT_BITS) - 1)


@kernel
def before_of(context):
    return (context >> SPLIT_BITS & ((1 << BEFORE_BITS) - 1)) - 1


@kernel
def chain_of(context):
    return context >> (SPLIT_BITS + BEFORE_BITS)


@kernel
def position_field(grammar, position, name):
    return get_i64(block(grammar, POSITIONS), position * POSITION_FIELDS + name)


@kernel
def put_position_field(grammar, position, name, value):
    put_i64(block(grammar, POSITIONS), position * POSITION_FIELDS + name, value)


@kernel
def split_at(grammar, position):
    return split_of(position_field(grammar, position, P_CONTEXT))


@kernel
def before_at(grammar, position):
    return before_of(position_field(grammar, position, P_CONTEXT))


@kernel
def chain_at(grammar, position):
    return chain_of(position_field(grammar, position, P_CONTEXT))


@kernel
def _find(grammar, configuration, context):
    """Number of a position, or a negative number, and its key."""
    key = configuration << 32 | mix(context, 0) & LOW_HALF
    while True:
        position = map_get(grammar, POSITION_IDS, key)
        if position < 0 or position_field(grammar, position, P_CONTEXT) == context:
            return position, key
        key = key & ~LOW_HALF | (key + 1) & LOW_HALF


@kernel
def known_position(grammar, configuration, context):
    """Number of a position, or a negative number: there is none yet."""
    position, _ = _find(grammar, configuration, context)
    return position


@kernel
def position_of(grammar, configuration, context):
    """Number of a position; makes it."""
    never_inline()
    known, key = _find(grammar, configuration, context)
    if known >= 0:
        return known
    position = grammar[N_POSITIONS]
    ensure(grammar, POSITIONS, (position + 1) * POSITION_FIELDS * 8)
    put_position_field(grammar, position, P_CONFIGURATION, configuration)
    put_position_field(grammar, position, P_FILTER, ASK)
    put_position_field(grammar, position, P_CONTEXT, context)
    grammar[N_POSITIONS] = position + 1
    map_put(grammar, POSITION_IDS, key, position)
    return position


@kernel
def cell_of(grammar, position):
    """Address at which the fields of a position lie as in a cell, from CELL_CONFIGURATION on."""
    return block(grammar, POSITIONS) + (position * POSITION_FIELDS - CELL_CONFIGURATION) * 8


@kernel
def show(grammar, cell, position):
    """Have a cell show a position; False: its mask is not known, and the cell is as before."""
    at = cell_of(grammar, position) + 8 * CELL_CONFIGURATION
    if load_acquire(at + 8 * P_FILTER) == ASK:  # written last
        return False
    copy_bytes(cell + 8 * CELL_CONFIGURATION, at, 8 * POSITION_FIELDS)
    return True
