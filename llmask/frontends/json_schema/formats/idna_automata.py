"""The machines of `idna_rules` as automata over bytes, from a file: making them takes half a second.

The file is of the default style of strings and of the Unicode of the Python that made it, so that names are the same
with every Python. For another style they are made here, of this Python's Unicode.

`make` writes the file anew: after a change of `idna_rules`, on purpose with a newer Unicode.

In: a style. Out: automata. Cost: 15 ms, once a process.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmask.frontends.json_schema.formats.idna_rules import JOINED, machines
from llmask.frontends.regex.json_strings import DEFAULT_STYLE, StringStyle
from llmask.frontends.regex.machines import Automaton, automaton

FILE = Path(__file__).with_suffix(".npz")


@cache
def automata(style: StringStyle) -> tuple[Automaton, ...]:
    """One for each machine of `idna_rules.machines`."""
    if style != DEFAULT_STYLE:
        return tuple(automaton(machine, style) for machine in machines())
    return read(FILE)


def read(file: Path) -> tuple[Automaton, ...]:
    """The automata of a file."""
    with np.load(file) as kept:
        return tuple(_unpacked({name: kept[f"{name} {number}"] for name in NAMES}) for number in range(len(JOINED)))


# --- the file: for each automaton these arrays, the next states of all blocks one after the other

NAMES = ("class_of_byte", "accepting", "columns", "shapes", "next_states")


def _packed(made: Automaton) -> dict[str, Any]:
    """Its arrays, by their names."""
    columns = np.stack([columns for columns, _ in made.blocks])
    shapes = np.array([rows.shape for _, rows in made.blocks], np.int32)
    next_states = np.concatenate([rows.ravel() for _, rows in made.blocks])
    assert next_states.max() <= np.iinfo(np.int16).max
    arrays = made.class_of_byte, made.accepting, columns, shapes, next_states.astype(np.int16)
    return dict(zip(NAMES, arrays, strict=True))


def _unpacked(arrays: dict[str, Any]) -> Automaton:
    sizes = arrays["shapes"].prod(axis=1)
    parts = np.split(arrays["next_states"].astype(np.int32), np.cumsum(sizes)[:-1])
    rows = [part.reshape(shape) for part, shape in zip(parts, arrays["shapes"].tolist(), strict=True)]
    return Automaton(arrays["class_of_byte"], list(zip(arrays["columns"], rows, strict=True)), arrays["accepting"])


def version() -> str:
    """The version of Unicode that the file is of."""
    with np.load(FILE) as kept:
        return str(kept["unicode"])


def make(file: Path = FILE) -> None:
    """Write the file anew, with the Unicode of this Python."""
    arrays = {"unicode": np.array(unicodedata.unidata_version)}
    for number, machine in enumerate(machines()):
        for name, array in _packed(automaton(machine, DEFAULT_STYLE)).items():
            arrays[f"{name} {number}"] = array
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # stubs take the names for options
