"""The JSON spellings of what a machine of `machines.py` accepts, as an automaton over bytes and as one node.

The spellings of one character are opened into parts, as in `equations.Alphabet`; here each part is entered once for all
states of the machine between which it makes a difference.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from llmask.frontends.json_schema.formats.idna_automata import node_of
from llmask.frontends.regex.equations import DEAD
from llmask.frontends.regex.json_strings import json_char
from llmask.regex.code_points import CodePointSet
from llmask.regex.nodes import RegexNodes
from tests.reference.machines import Machine


def json_machine(nodes: RegexNodes, machine: Machine) -> int:
    """Node of the JSON spellings, without quotes, of the texts that a machine accepts."""
    return node_of(nodes, *automaton(nodes, machine))


def automaton(nodes: RegexNodes, machine: Machine) -> tuple[Any, ...]:
    """The arrays of `idna_automata.ARRAYS`."""
    n_states, n_classes = machine.next_state.shape
    classes = [CodePointSet.from_ranges((a, b) for a, b, c in machine.pieces if c == n) for n in range(n_classes)]
    rows: list[list[int]] = []
    numbers = {(nodes.EMPTY,) * n_classes: DEAD}

    @cache
    def by_byte(node: int) -> list[int]:
        return [nodes.derivative(node, byte) for byte in range(256)]

    def part(rests: tuple[int, ...]) -> int:
        """A part, after those that it leads to; DEAD - 1 - c where a character of class c is whole."""
        if nodes.EPSILON in rests:
            return DEAD - 1 - rests.index(nodes.EPSILON)
        if rests not in numbers:
            row = list(map(part, zip(*map(by_byte, rests), strict=True)))
            numbers[rests] = len(rows)
            rows.append(row)
        return numbers[rests]

    root = part(tuple(json_char(nodes, members) for members in classes))
    codes, class_of_byte = np.unique(np.array(rows), axis=1, return_inverse=True)
    after = {DEAD - 1 - c: machine.next_state[:, c] for c in range(n_classes)}  # by code, for each state before
    after[DEAD] = np.full(n_states, DEAD)
    numbers_of_rows = {np.full(codes.shape[1], DEAD, np.int16).tobytes(): DEAD}
    columns, blocks = [], []
    for number in range(root + 1):
        distinct, place = np.unique(codes[number], return_inverse=True)
        block = np.stack([after[code] for code in distinct.tolist()], axis=1).astype(np.int16)
        if number < root:
            data = [row.tobytes() for row in block[:, place]]
            new = [state for state, row in enumerate(data) if row not in numbers_of_rows and row not in data[:state]]
            numbers_of_rows |= {data[state]: n_states + len(numbers_of_rows) - 1 + n for n, state in enumerate(new)}
            after[number] = np.array([numbers_of_rows[row] for row in data])
            block = block[new]
        columns.append(place.astype(np.uint8))
        blocks.append(block)
    blocks, columns = [blocks[-1], *blocks[:-1]], [columns[-1], *columns[:-1]]
    accepting = np.zeros(sum(map(len, blocks)), np.bool_)
    accepting[:n_states] = machine.accepting
    shapes = np.array([block.shape for block in blocks], np.int32)
    next_states = np.concatenate([block.ravel() for block in blocks])
    return class_of_byte.astype(np.uint8), accepting, np.stack(columns), shapes, next_states
