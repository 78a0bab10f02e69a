r"""Characters that a pattern does not tell apart, and automata over them as nodes.

A pattern names a few sets of characters; what it does depends on a character only through the sets it belongs to. So
automata of patterns read *classes*, the parts into which those sets cut all text: `\bfoo` has seven bytes' worth of
letters in its UTF-8 but four classes: "f", "o", other word characters, all others. Only at the end are classes opened
into bytes.
Source: M. Veanes, P. de Halleux, N. Tillmann, "Rex: Symbolic Regular Expression Explorer", ICST 2010 (minterms).

In: sets of code points; transition tables over classes. Out: classes; nodes. Cost: derivatives of every class by every
byte, once a store and only when an automaton is asked for: 1 ms for ASCII, 60 ms for `\w` of Unicode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmask.derivatives.code_points import TEXT, CodePointSet
from llmask.errors import LimitExceeded

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes

DEAD = -1
MAX_CLASSES = 250
MAX_ROWS = 30_000  # 10 MB of transitions


class Spelling(NamedTuple):
    """How code points become bytes.

    char     node of every spelling of one code point of a set
    literal  node of every spelling of a text
    spell    one of the spellings of a text
    """

    char: Callable[[RegexNodes, CodePointSet], int]
    literal: Callable[[RegexNodes, str], int]
    spell: Callable[[str], bytes]


class Alphabet:
    """Classes of characters.

    Attributes
    ----------
    classes : disjoint sets, together all text.
    """

    def __init__(self, nodes: RegexNodes, spelling: Spelling, told_apart: Iterable[CodePointSet]) -> None:
        self.nodes = nodes
        self.spelling = spelling
        self.classes = [TEXT]
        for members in dict.fromkeys(told_apart):
            halves = [half for c in self.classes for half in (c.intersect(members), c.subtract(members))]
            self.classes = [half for half in halves if half.bounds]
            if len(self.classes) > MAX_CLASSES:
                raise LimitExceeded(
                    f"the pattern tells more than {MAX_CLASSES} classes of characters apart beside its look-arounds",
                    help="Split the pattern, or move look-arounds out of repetitions.",
                )
        self._examples: list[bytes] = []
        self._parts: list[list[int]] = []

    def derivative(self, node: int, character: int) -> int:
        """Derivative of a node over whole characters by any character of a class."""
        if not self._examples:
            self._examples = [self.spelling.spell(chr(members.bounds[0])) for members in self.classes]
        for byte in self._examples[character]:
            node = self.nodes.derivative(node, byte)
        return node

    def automaton(self, next_state: list[list[int]], accepting: list[bool], start: int = 0) -> int:
        """Node of an automaton over classes.

        Parameters
        ----------
        next_state : a row a state: the state after a character of each class, or DEAD.
        accepting : whether the text may end, a state each.
        start : the first state.
        """
        if not self._parts:
            self._parts = self._open_classes()
        # State s before a character is row s; after bytes that lead to part k of one, row k * n_states + s.
        n_states, n_parts = len(next_state), len(self._parts)
        if n_states * n_parts > MAX_ROWS:
            raise LimitExceeded(
                f"the pattern's look-arounds need an automaton of more than {MAX_ROWS} states",
                help="Use ranges of ASCII instead of Unicode classes beside them, or shorten the repetitions.",
            )
        parts, class_of_byte = np.unique(np.array(self._parts, dtype=np.int32), axis=1, return_inverse=True)
        inside = parts[:, None, :] * n_states + np.arange(n_states)[None, :, None]
        whole = np.array(next_state, dtype=np.int64).T[np.maximum(DEAD - 1 - parts, 0)].transpose(0, 2, 1)
        dead_or_whole = np.where((parts < DEAD)[:, None, :], whole, DEAD)
        table = np.where((parts > DEAD)[:, None, :], inside, dead_or_whole).reshape(n_parts * n_states, -1)
        swap = np.arange(len(table) + 1)
        swap[[0, start]] = swap[[start, 0]]
        swap[DEAD] = DEAD
        table = np.ascontiguousarray(swap[table[swap[:-1]]], dtype=np.int32)
        ends = np.zeros(len(table), dtype=np.bool_)
        ends[swap[:n_states]] = accepting
        return self.nodes.dfa(class_of_byte.reshape(-1).astype(np.uint8), table, ends)

    def _open_classes(self) -> list[list[int]]:
        """A row a state inside a character: by byte the next such state, DEAD, or DEAD - 1 - c: class c is whole.

        A state is the rests of all classes' characters. Spellings are no starts of others, so a rest that is done is
        EPSILON, and then all other rests are EMPTY.
        """
        nodes = self.nodes
        start = tuple(self.spelling.char(nodes, members) for members in self.classes)
        key = (__name__, start)
        found: list[list[int]] | None = nodes.memo.get(key)
        if found is not None:
            return found
        derivatives: dict[int, list[int]] = {}
        states = [start]
        numbers = {(nodes.EMPTY,) * len(start): DEAD, start: 0}
        rows = []
        for state in states:
            for node in state:
                if node not in derivatives:
                    derivatives[node] = [nodes.derivative(node, byte) for byte in range(256)]
            row = []
            for after in zip(*(derivatives[node] for node in state), strict=True):
                if after not in numbers:
                    is_whole = nodes.EPSILON in after
                    numbers[after] = DEAD - 1 - after.index(nodes.EPSILON) if is_whole else len(states)
                    if not is_whole:
                        states.append(after)
                row.append(numbers[after])
            rows.append(row)
        nodes.memo[key] = rows
        return rows
