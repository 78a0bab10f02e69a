"""What host names beyond ASCII ask of a character and its neighbours (RFC 5890 to 5893), as automata from a file.

The rules are written in `tests/reference/idna_rules.py`, which writes the file: their machines over code points, and
for the default style of strings the automata over bytes, as making those takes a third of a second. So names are the
same with every Python, whatever Unicode it has.

In: a style. Out: automata, kept for the life of the process. Cost: 15 ms, once a process; 0.3 s for another style.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmask.frontends.regex.json_strings import DEFAULT_STYLE, StringStyle
from llmask.frontends.regex.machines import Automaton, Machine, automaton

FILE = Path(__file__).with_name("idna_automata.npz")
N_MACHINES = 3
# Arrays of a machine and of its automaton, in which the next states of all blocks are one after the other.
OF_MACHINE = ("pieces", "next_state", "accepting_states")
OF_AUTOMATON = ("class_of_byte", "accepting", "columns", "shapes", "next_states")


@cache
def automata(style: StringStyle) -> tuple[Automaton, ...]:
    """One for each machine; a name is good when all of them accept it."""
    if style == DEFAULT_STYLE:
        return tuple(_unpacked(*arrays) for arrays in read(FILE, OF_AUTOMATON))
    return tuple(automaton(machine, style) for machine in machines())


def machines() -> list[Machine]:
    """The machines over code points."""
    return [
        Machine(tuple(map(tuple, pieces.tolist())), next_state, accepting)
        for pieces, next_state, accepting in read(FILE, OF_MACHINE)
    ]


def read(file: Path, names: tuple[str, ...]) -> list[list[Any]]:
    """Arrays of each machine, by their names."""
    with np.load(file) as kept:
        return [[kept[f"{name} {number}"] for name in names] for number in range(N_MACHINES)]


def _unpacked(class_of_byte: Any, accepting: Any, columns: Any, shapes: Any, next_states: Any) -> Automaton:
    parts = np.split(next_states.astype(np.int32), np.cumsum(shapes.prod(axis=1))[:-1])
    rows = [part.reshape(shape) for part, shape in zip(parts, shapes.tolist(), strict=True)]
    return Automaton(class_of_byte, list(zip(columns, rows, strict=True)), accepting)
