"""Products of the machines that read a numeral, as one node.

The product is explored depth first, and states with equal rows become one once what follows them is known. That is
minimal where the only cycles are loops, so that equal sets of numbers get equal nodes: everywhere but with divisors.
Intersections and complements of nodes would do the same when a document is read; they would have to prove at every
digit that some numeral is left.

In: machines for numbers with and without minus sign. Out: a node. Cost: about 5 us a state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from llmask.frontends.json_schema.lexical.number_machines import DOT, HOPELESS, MAX_STATES, Machine, Row, too_large
from llmask.regex.nodes import RegexNodes
from llmask.work import spend

MINUS, OTHER = DOT + 1, DOT + 2
LOOP = -2  # in a row: the state itself
STATE_WORK = 10  # units to find the row of a state

States = tuple[int, ...]  # one of each machine


def numerals_node(nodes: RegexNodes, positive: list[Machine] | None, negative: list[Machine] | None) -> int:
    """Node of the numerals that all machines accept, those with a minus sign read by machines of their own.

    Parameters
    ----------
    positive, negative : machines; None when no such numeral is wanted.

    Raises
    ------
    LimitExceeded
        When the automaton would have too many states.
    """
    product = Product()

    def explore(machines: list[Machine]) -> tuple[int, ...]:
        accepting = [machine.accepts for machine in machines]

        def end(states: States) -> tuple[bool, tuple[int, ...]]:
            return all(accepts[at] for accepts, at in zip(accepting, states, strict=True)), ()

        return product.explore([machine.rows for machine in machines], end, MAX_STATES)

    start = (HOPELESS,) * MINUS if positive is None else explore(positive)
    if negative is not None:
        row = start if negative == positive else explore(negative)
        start = (*start, product.number(False, row))
    else:
        start = (*start, HOPELESS)
    return product.node(nodes, start, CLASS_OF_BYTE)


class Product:
    """States by number; those of a row are numbered before it."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.accepts: list[bool] = []
        self._known: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._n_stand_ins = 0

    def number(self, accepts: bool, row: tuple[int, ...]) -> int:
        """Number of a state; HOPELESS when nothing is accepted from it."""
        known = self._known.get((accepts, row))
        if known is None:
            if not accepts and max(row) < 0 and min(row) >= LOOP:
                return HOPELESS
            if LOOP in row:  # equal to what it leads to, if it were that
                for other in set(row):
                    if other >= 0 and self._known.get((accepts, _looped(row, other))) == other:
                        self._known[(accepts, row)] = other
                        return other
            known = self._known[(accepts, row)] = len(self.rows)
            if LOOP in row:
                self._known[(accepts, _looped(row, known))] = known
            self.rows.append(row)
            self.accepts.append(accepts)
        return known

    def explore(
        self, tables: list[list[Row]], end: Callable[[States], tuple[bool, tuple[int, ...]]], most: int
    ) -> tuple[int, ...]:
        """Add what follows the start of several tables and return the row of the start.

        Parameters
        ----------
        tables : rows of machines.
        end : whether states, one of each table, accept together, and the columns of their row beyond those of `tables`.
        most : states that there may be.

        Raises
        ------
        LimitExceeded
            When there are more.
        """
        first = len(self.rows)
        start: States = (0,) * len(tables)
        followers: dict[States, list[States | None]] = {}
        number_of: dict[States | None, int] = {None: HOPELESS}
        stand_ins: dict[States, int] = {}  # for states on a cycle, which their own row leads to
        row: tuple[int, ...] = ()
        stack = [start]
        while stack:
            states = stack[-1]
            following = followers.get(states)
            if following is None:
                each = zip(*[table[at] for table, at in zip(tables, states, strict=True)], strict=True)
                following = followers[states] = [None if HOPELESS in after else after for after in each]
                spend(STATE_WORK)
                if first + len(followers) > most:
                    raise too_large()
                stack += [after for after in reversed(dict.fromkeys(following)) if after and after not in followers]
                continue
            stack.pop()
            if states in number_of:
                continue
            numbers = []
            for after in following:
                if after is None or after in number_of:
                    numbers.append(number_of[after])
                else:
                    numbers.append(LOOP if after == states else self._stand_in(stand_ins, after))
            accepts, further = end(states)
            row = (*numbers, *further)
            if stack:
                number_of[states] = self.number(accepts, row)
        if stand_ins:
            meant = {stand_in: number_of[states] for states, stand_in in stand_ins.items()}
            for at in range(first, len(self.rows)):
                self.rows[at] = tuple([meant.get(number, number) for number in self.rows[at]])
        return row

    def _stand_in(self, stand_ins: dict[States, int], states: States) -> int:
        known = stand_ins.get(states)
        if known is None:
            self._n_stand_ins += 1
            known = stand_ins[states] = LOOP - self._n_stand_ins
        return known

    def node(self, nodes: RegexNodes, start: tuple[int, ...], class_of_byte: npt.NDArray[Any]) -> int:
        """Node of the automaton that starts with the row `start`, by the column of each byte."""
        if max(start) < 0:
            return nodes.EMPTY
        n_states = len(self.rows)
        table = np.full((n_states + 1, int(class_of_byte.max()) + 1), HOPELESS, np.int32)
        if self.rows:
            table[:-1, : len(self.rows[0])] = self.rows
        table[-1, : len(start)] = start
        table = np.where(table == LOOP, np.arange(n_states + 1)[:, None], table)[::-1]
        # the start comes first, which was last
        table = np.where(table == HOPELESS, HOPELESS, n_states - table)
        return nodes.dfa(class_of_byte, table, np.array([False, *reversed(self.accepts)]))


def _looped(row: tuple[int, ...], state: int) -> tuple[int, ...]:
    return tuple([state if after == LOOP else after for after in row])


CLASS_OF_BYTE = np.full(256, OTHER, np.uint8)
CLASS_OF_BYTE[0x30:0x3A] = range(10)
CLASS_OF_BYTE[0x2E] = DOT
CLASS_OF_BYTE[0x2D] = MINUS
