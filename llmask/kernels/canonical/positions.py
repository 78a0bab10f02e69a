"""Positions of canonical sequences: a configuration with what is known of how the text so far is encoded.

    context     split state, last token, chain (canonical/chains.py), in one number
    position    configuration, context, and the mask there (canonical/review.py): what a cell shows, as it lies there

What may follow is a function of the position, and so is the position after a token (canonical/steps.py). Positions are
found by a key of the configuration and a hash of the context; where that is another one's, by the next key. Those whose
masks are put together from parts (canonical/review.py) are not kept: a matcher's cell has all of them.

In: a grammar's table. Out: positions; cells (mask/cell.py). Cost: 50 ns.
"""

from ..machine.jit import inline, kernel
from ..mask.cell import CellField
from ..tables.interning import map_get, map_put, mix
from ..tables.memory import as_table, copy_bytes, reserve

POSITION_FIELDS = CellField.CONTEXT + 1 - CellField.CONFIGURATION  # what follows in a cell is its matcher's own
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
def _address(grammar, position):
    return grammar.positions.address + position * POSITION_FIELDS * 8


@kernel
def _find(grammar, configuration, context):
    """Number of a position, or a negative number, and its key."""
    key = configuration << 32 | mix(context, 0) & LOW_HALF
    while True:
        position = map_get(grammar.position_ids, key)
        if position < 0:
            return position, key
        if as_table(_address(grammar, position))[CellField.CONTEXT - CellField.CONFIGURATION] == context:
            return position, key
        key = key & ~LOW_HALF | (key + 1) & LOW_HALF


@kernel
def show_position(grammar, cell, configuration, context):
    """Have a cell show a position; False: it is not known, and the cell is as before."""
    position, _ = _find(grammar, configuration, context)
    if position >= 0:
        copy_bytes(cell + 8 * CellField.CONFIGURATION, _address(grammar, position), 8 * POSITION_FIELDS)
    return position >= 0


@kernel
def keep_position(grammar, cell):
    """Remember what a cell shows, which is not known yet."""
    fields = as_table(cell)
    _, key = _find(grammar, fields[CellField.CONFIGURATION], fields[CellField.CONTEXT])
    position = grammar.n_positions
    reserve(grammar.positions, (position + 1) * POSITION_FIELDS)
    copy_bytes(_address(grammar, position), cell + 8 * CellField.CONFIGURATION, 8 * POSITION_FIELDS)
    grammar.n_positions = position + 1
    map_put(grammar.position_ids, key, position)  # published with it
