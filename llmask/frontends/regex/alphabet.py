r"""Characters that a pattern does not tell apart, and automata over them as nodes.

A pattern names a few sets of characters; what it does depends on a character only through the sets it belongs to. So
automata of patterns read *classes*, the parts into which those sets cut all text: `\bfoo` has seven bytes' worth of
letters in its UTF-8 but four classes: "f", "o", other word characters, all others. Only at the end are classes opened
into bytes.
Source: M. Veanes, P. de Halleux, N. Tillmann, "Rex: Symbolic Regular Expression Explorer", ICST 2010 (minterms).

How much work one pattern may be is bounded by counters of steps that every part of its compilation spends from.
Patterns that look around can ask for automata without end, each of them small; so the sum is bounded, too, over
lookbehinds inside lookbehinds and whatever else opens a compilation of its own.

In: sets of code points; transition tables over classes. Out: classes; nodes. Cost: derivatives of every class by every
byte, once a store and only when an automaton is asked for: 1 ms for ASCII, 60 ms for `\w` of Unicode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from llmask.errors import LimitExceeded
from llmask.frontends.regex.machines import minimal
from llmask.regex.code_points import TEXT, CodePointSet
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

STEP_WORK = 2  # units a step, about


class Kind(NamedTuple):
    """A kind of steps.

    most     how many of them a pattern may take
    message  what it needs more of, with the number as {}
    help     how to mend it
    """

    most: int
    message: str
    help: str


class Budget:
    """What one pattern has spent."""

    def __init__(self) -> None:
        self.spent: Counter[Kind] = Counter()

    def spend(self, kind: Kind, n_steps: int) -> None:
        """Count steps.

        Raises
        ------
        LimitExceeded : there are more of the kind than a pattern may take.
        """
        self.spent[kind] += n_steps
        spend(STEP_WORK * n_steps)
        if self.spent[kind] > kind.most:
            raise LimitExceeded(kind.message.format(kind.most), help=kind.help)


DEAD = -1
MAX_CLASSES = 250
ROWS = Kind(  # 10 us and 300 bytes each
    60_000,
    "the pattern's look-arounds need automata of more than {} states",
    "Use ranges of ASCII instead of Unicode classes beside them, or shorten the repetitions.",
)
DERIVATIVES = Kind(  # by a byte, 2-4 us each
    400_000,
    "the pattern's look-arounds take more than {} derivatives",
    "Use fewer different characters beside them, or shorten the repetitions.",
)


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

    def __init__(
        self, nodes: RegexNodes, spelling: Spelling, told_apart: Iterable[CodePointSet], budget: Budget
    ) -> None:
        self.nodes = nodes
        self.budget = budget
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
        self._derivatives: dict[tuple[int, int], int] = {}
        self._parts: npt.NDArray[np.int32] | None = None
        self._class_of_byte = np.zeros(256, np.int64)
        self._spellings: dict[bytes, tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]] = {}

    def derivative(self, node: int, character: int) -> int:
        """Derivative of a node over whole characters by any character of a class."""
        if not self._examples:
            self._examples = [self.spelling.spell(chr(members.bounds[0])) for members in self.classes]
        found = self._derivatives.get((node, character))
        if found is None:
            found = node
            self.budget.spend(DERIVATIVES, len(self._examples[character]))
            for byte in self._examples[character]:
                found = self.nodes.derivative(found, byte)
            self._derivatives[node, character] = found
        return found

    def automaton(self, next_state: list[list[int]], accepting: list[bool], start: int = 0) -> int:
        """Node of an automaton over classes.

        Parameters
        ----------
        next_state : a row a state: the state after a character of each class, or DEAD.
        accepting : whether the text may end, a state each.
        start : the first state.
        """
        order = [start, *(state for state in range(len(next_state)) if state != start)]
        places = np.argsort([*order, len(order)])  # DEAD, the last item, stays the last
        places[DEAD] = DEAD
        moved = places[np.array([next_state[state] for state in order], np.int64)]
        table, accepts = minimal(moved.astype(np.int32), np.array([accepting[state] for state in order], np.bool_))
        columns, class_of = np.unique(table, axis=1, return_inverse=True)
        key = class_of.tobytes()  # a pattern asks for hundreds of automata that tell the same classes apart
        if key not in self._spellings:
            self._spellings[key] = self._spelled(class_of.reshape(-1), columns.shape[1])
        return self._open(columns, accepts, *self._spellings[key])

    def _open(
        self,
        table: npt.NDArray[np.int32],
        accepting: npt.NDArray[np.bool_],
        parts: npt.NDArray[np.int32],
        class_of_byte: npt.NDArray[np.int64],
    ) -> int:
        """Node of an automaton over classes, of which `_spelled` says how they are spelled."""
        # State s before a character is row s; after bytes that lead to part k of one, row k * n_states + s.
        n_states, n_parts = len(table), len(parts)
        self.budget.spend(ROWS, n_states * n_parts)
        inside = parts[:, None, :] * n_states + np.arange(n_states)[None, :, None]
        whole = table.astype(np.int64).T[np.maximum(DEAD - 1 - parts, 0)].transpose(0, 2, 1)
        dead_or_whole = np.where((parts < DEAD)[:, None, :], whole, DEAD)
        opened = np.where((parts > DEAD)[:, None, :], inside, dead_or_whole).reshape(n_parts * n_states, -1)
        ends = np.zeros(len(opened), dtype=np.bool_)
        ends[:n_states] = accepting
        return self.nodes.dfa(class_of_byte.astype(np.uint8), opened.astype(np.int32), ends)

    def _spelled(
        self, class_of: npt.NDArray[np.int64], n_classes: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """How characters are spelled when only `class_of` their classes is asked, in minimal form.

        Returns
        -------
        parts : a row a state inside a character, a column a class of bytes; see `_open_classes`.
        class_of_byte : the column of each byte.
        """
        if self._parts is None:
            opened = np.array(self._open_classes(), dtype=np.int32)
            self._parts, found = np.unique(opened, axis=1, return_inverse=True)
            self._class_of_byte = found.reshape(-1)
        n_parts, n_columns = self._parts.shape
        whole = n_parts + class_of[np.maximum(DEAD - 1 - self._parts, 0)]  # classes are states that nothing leaves
        leads_to = np.where(self._parts < DEAD, whole, self._parts)
        table = np.vstack([leads_to, np.full((n_classes, n_columns), DEAD)]).astype(np.int32)
        table, colors = minimal(table, np.array([0] * n_parts + [*range(1, n_classes + 1)], np.int32))
        is_part = colors == 0
        codes = np.append(np.where(is_part, np.cumsum(is_part) - 1, DEAD - colors), DEAD)
        parts, found = np.unique(codes[table[is_part]], axis=1, return_inverse=True)
        return parts.astype(np.int32), found.reshape(-1)[self._class_of_byte]

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
        states = [start]
        numbers = {(nodes.EMPTY,) * len(start): DEAD, start: 0}
        rows = []
        for state in states:
            row = []
            for after in zip(*map(self._derivatives_by_byte, state), strict=True):
                if after not in numbers:
                    is_whole = nodes.EPSILON in after
                    numbers[after] = DEAD - 1 - after.index(nodes.EPSILON) if is_whole else len(states)
                    if not is_whole:
                        states.append(after)
                row.append(numbers[after])
            rows.append(row)
        nodes.memo[key] = rows
        return rows

    def _derivatives_by_byte(self, node: int) -> list[int]:
        key = (__name__, "derivatives", node)
        found: list[int] | None = self.nodes.memo.get(key)
        if found is None:
            self.budget.spend(DERIVATIVES, 256)
            first = self.nodes.first_bytes(node)
            found = self.nodes.memo[key] = [
                self.nodes.derivative(node, byte) if first >> byte & 1 else self.nodes.EMPTY for byte in range(256)
            ]
        return found
