"""What host names beyond ASCII ask of a character and its neighbours (RFC 5890 to 5893), as automata from a file.

The rules are written in `tests/reference/idna_rules.py`, which writes the file. So names are the same with every
Python, whatever Unicode it has. The automata read bytes between the quotes of a string in the default style; a pattern
beside them says which of the spellings another style has.

In: nothing. Out: arrays, kept for the life of the process; nodes. Cost: 15 ms, once a process; 0.1 s a store.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

FILE = Path(__file__).with_name("idna_automata.npz")
N_AUTOMATA = 3
# The column of each byte; whether each row accepts. Blocks of rows that follow each other have few columns: which of
# them is that of each column of bytes, the shapes of the blocks, and their next states, one block after the other.
# With a column for each class of bytes the next states take 21 MB, this way 1 MB.
ARRAYS = ("class_of_byte", "accepting", "columns", "shapes", "next_states")
ENTRIES_A_UNIT = 32  # next states as they are kept


@cache
def automata(file: Path = FILE) -> list[list[Any]]:
    """The arrays of each automaton; a name is good when all of them accept it."""
    with np.load(file) as kept:
        return [[kept[f"{name} {number}"] for name in ARRAYS] for number in range(N_AUTOMATA)]


def node_of(nodes: RegexNodes, class_of_byte: Any, accepting: Any, columns: Any, shapes: Any, next_states: Any) -> int:
    """Node of the texts that an automaton accepts."""
    spend(next_states.size // ENTRIES_A_UNIT)
    blocks = np.split(next_states, np.cumsum(shapes.prod(axis=1))[:-1])
    table = [block.reshape(shape)[:, place] for block, shape, place in zip(blocks, shapes, columns, strict=True)]
    return nodes.dfa(class_of_byte, np.concatenate(table), accepting)
