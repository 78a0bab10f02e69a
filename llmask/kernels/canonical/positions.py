"""Positions of canonical sequences: a configuration with what is known of how the text so far is encoded.

    context     split state, last token, chain (canonical/chains.py), in one number
    position    configuration, context; with it lies its mask, once that was asked for (canonical/review.py)

What may follow is a function of the position, and so is the position after a token (canonical/steps.py). Positions are
found by a key of the configuration and a hash of the context; where that is another one's, by the next key. Those whose
masks are put together from parts (canonical/review.py) are not kept: a matcher's cell has all of them.

In: a grammar's table. Out: positions; cells (mask/cell.py). Cost: 50 ns.
"""

from ..machine.atomics import load_acquire
from ..machine.jit import inline, kernel
from ..mask.cell import ASK, CELL_FIELDS, CellField
from ..tables.interning import map_get, map_put, mix
from ..tables.memory import copy_bytes, reserve

# fields of a position, the same as in a cell from CELL_CONFIGURATION on
P_CONFIGURATION = 0
P_FILTER = CellField.FILTER - CellField.CONFIGURATION
P_CONTEXT = CellField.CONTEXT - CellField.CONFIGURATION
POSITION_FIELDS = CELL_FIELDS - CellField.CONFIGURATION
LOW_HALF = 0xFFFFFFFF

SPLIT_BITS = 16
BEFORE_BITS = 22  # more than a token needs (MAX_VOCAB_SIZE)


@inline
def context_of(split, before, chain):
    """The number of a context; that of the beginning, before any token, is its split state."""
    return (chain << BEFORE_BITS | before + 1) << SPLIT_BITS | split


@inline
def split_of(context):
    return context & ((1 << SPLIT_BITS) - 1)


@inline
def before_of(context):
    return (context >> SPLIT_BITS & ((1 << BEFORE_BITS) - 1)) - 1


@inline
def chain_of(context):
    return context >> (SPLIT_BITS + BEFORE_BITS)


@inline
def position_field(grammar, position, name):
    return grammar.positions[position * POSITION_FIELDS + name]


@inline
def put_position_field(grammar, position, name, value):
    grammar.positions[position * POSITION_FIELDS + name] = value


@inline
def split_at(grammar, position):
    return split_of(position_field(grammar, position, P_CONTEXT))


@inline
def before_at(grammar, position):
    return before_of(position_field(grammar, position, P_CONTEXT))


@inline
def chain_at(grammar, position):
    return chain_of(position_field(grammar, position, P_CONTEXT))


@inline
def _find(grammar, configuration, context):
    """Number of a position, or a negative number, and its key."""
    key = configuration << 32 | mix(context, 0) & LOW_HALF
    while True:
        position = map_get(grammar.position_ids, key)
        if position < 0 or position_field(grammar, position, P_CONTEXT) == context:
            return position, key
        key = key & ~LOW_HALF | (key + 1) & LOW_HALF


@inline
def known_position(grammar, configuration, context):
    """Number of a position, or a negative number if it is new."""
    position, _ = _find(grammar, configuration, context)
    return position


@kernel
def position_of(grammar, configuration, context):
    """Number of a position; makes it."""
    known, key = _find(grammar, configuration, context)
    if known >= 0:
        return known
    position = grammar.n_positions
    reserve(grammar.positions, (position + 1) * POSITION_FIELDS)
    put_position_field(grammar, position, P_CONFIGURATION, configuration)
    put_position_field(grammar, position, P_FILTER, ASK)
    put_position_field(grammar, position, P_CONTEXT, context)
    grammar.n_positions = position + 1
    map_put(grammar.position_ids, key, position)
    return position


@inline
def cell_of(grammar, position):
    """Address at which the fields of a position lie as in a cell, from CELL_CONFIGURATION on."""
    return grammar.positions.address + (position * POSITION_FIELDS - CellField.CONFIGURATION) * 8


@inline
def show(grammar, cell, position):
    """Have a cell show a position; False: its mask is not known, and the cell is as before."""
    at = cell_of(grammar, position) + 8 * CellField.CONFIGURATION
    if load_acquire(at + 8 * P_FILTER) == ASK:  # written last
        return False
    copy_bytes(cell + 8 * CellField.CONFIGURATION, at, 8 * POSITION_FIELDS)
    return True
