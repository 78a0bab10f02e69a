"""How much work one pattern may be: counters of steps that every part of its compilation spends from.

Patterns that look around can ask for automata without end, each of them small; so the sum is bounded, too, over
lookbehinds inside lookbehinds and whatever else opens a compilation of its own.

In: kinds of steps. Out: LimitExceeded when one is spent. Cost: none.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.work import spend

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
