r"""From patterns to one table of transitions over classes of characters.

A state of the table is an *ordered* list of instructions that would all take the next character: the order is the
preference of the pattern, and what stands behind a match is cut off (R. Cox, "Regular expression matching in the wild",
2010, "leftmost-first"). So one pass without backtracking gives what a backtracking engine gives. A match is seen one
character late, which is all that `(?!\S)` and `$` need: entry [state, class] says whether a match ended *before* that
character, and where to go with it.

    \s+(?!\S)|\s+     on "  x":    state     next     ended before it?
                                   start     blank    no
                                   1 blank   blank    yes (a match of one blank: the next is white space)
                                   2 blanks  x        no: (?!\S) fails, but the second alternative would end here ...

The second alternative would take two blanks. It is of lower preference than "one blank, and look": as in Perl, the run
of blanks gives one back. The states keep both alternatives in order, so the table knows.

In: patterns, applied one after the other. Out: `Automaton`. Cost: 5 to 20 ms a pattern.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from .categories import Partition, two_level
from .pattern_syntax import CHAR, LOOK, SPLIT, Program, UnknownPattern, parse

MAX_STATES = 1000
MAX_STEPS = 2_000_000  # a second; the patterns of known models take 20,000
MAX_CLASSES = 120
DEAD = 0
START = 1


class Automaton(NamedTuple):
    """Tables that `llmask/kernels/encoders/pretokenize_scan.py` runs. All arrays are read-only.

    class_index   uint16[4352]               block of each 256 code points
    class_blocks  uint8[n_blocks * 256]      class of a character
    n_classes     classes; class n_classes is the end of the text
    transitions   one int32[n_states * width] a pattern, width = n_classes + 1: `next * width << 1 | ended`
    """

    class_index: np.ndarray
    class_blocks: np.ndarray
    n_classes: int
    transitions: tuple[np.ndarray, ...]


@cache
def compile_patterns(patterns: tuple[str, ...]) -> Automaton:
    """Tables of some patterns.

    Raises
    ------
    UnknownPattern : a pattern outside of the subset of `pattern_syntax`, or one that needs too many states.
    """
    programs = [Program(parse(pattern)) for pattern in patterns]
    partition = Partition([entry for program in programs for entry in program.sets])
    if partition.n_classes > MAX_CLASSES:
        raise UnknownPattern("too many classes of characters")
    tables, first_set = [], 0
    for program in programs:
        members = partition.members[first_set : first_set + len(program.sets)]
        first_set += len(program.sets)
        tables.append(_Determinizer(program, members, partition.n_classes).run())
    index, blocks = two_level(partition.class_of_code_point())
    for array in (index, blocks, *tables):
        array.flags.writeable = False
    return Automaton(index, blocks, partition.n_classes, tuple(tables))


class _Determinizer:
    def __init__(self, program: Program, members: list[int], n_classes: int) -> None:
        self.program = program.instructions
        self.members = members
        self.n_classes = n_classes
        self.everything = (1 << n_classes + 1) - 1
        for number, after in program.possessive:
            if any(mask & self._first(pc) & members[number] for mask, pc in self.follow(after)):
                raise UnknownPattern("a possessive loop before what it could take")

    def _first(self, pc: int) -> int:
        instruction = self.program[pc]
        return self.members[instruction.set] if instruction.code == CHAR else 0

    def follow(self, start: int) -> list[tuple[int, int]]:
        """CHAR and MATCH instructions reachable without a character, in order, with the classes that may follow."""
        found: list[tuple[int, int]] = []
        seen: dict[int, int] = {}
        waiting = [(self.everything, start)]
        while waiting:
            mask, pc = waiting.pop()
            mask &= ~seen.get(pc, 0)
            if not mask:
                continue
            seen[pc] = seen.get(pc, 0) | mask
            instruction = self.program[pc]
            if instruction.code == SPLIT:
                if instruction.second >= 0:
                    waiting.append((mask, instruction.second))
                waiting.append((mask, instruction.first))
            elif instruction.code == LOOK:
                allowed = self.members[instruction.set] | (instruction.or_end << self.n_classes)
                waiting.append((mask & allowed, instruction.first))
            else:
                found.append((mask, pc))
        return found

    def run(self) -> np.ndarray:
        width = self.n_classes + 1
        followed = {pc: self.follow(pc) for pc in {0, *(entry.first for entry in self.program if entry.code == CHAR)}}
        states: dict[tuple[int, ...], int] = {(): DEAD, (0,): START}
        order: list[tuple[int, ...]] = [(), (0,)]
        rows: list[list[int]] = []
        n_steps = 0
        while len(rows) < len(order):
            items = [item for pc in order[len(rows)] for item in followed[pc]]
            n_steps += len(items) * width
            if n_steps > MAX_STEPS:
                raise UnknownPattern("too many steps")
            row = []
            for number in range(width):
                ended, reached = self._step(items, number)
                if reached not in states:
                    if len(order) >= MAX_STATES:
                        raise UnknownPattern("too many states")
                    states[reached] = len(order)
                    order.append(reached)
                row.append(states[reached] * width << 1 | ended)
            rows.append(row)
        return np.array(rows, np.int32).reshape(-1)

    def _step(self, items: list[tuple[int, int]], number: int) -> tuple[bool, tuple[int, ...]]:
        """Whether a match ended before a character of class `number`, and the state after it."""
        reached: dict[int, None] = {}
        bit = 1 << number
        for mask, pc in items:
            if not mask & bit:
                continue
            instruction = self.program[pc]
            if instruction.code != CHAR:
                return True, tuple(reached)
            if self.members[instruction.set] & bit:
                reached[instruction.first] = None
        return False, tuple(reached)
