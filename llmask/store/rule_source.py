"""Rules as numbers, in the form in which the kernels load them (load_rules.py): all, or those added since.

In: `Rules`. Out: int32 arrays. Cost: microseconds for the rules of a median schema.
"""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from ..grammar.kinds import EDGE_FIELDS, GUARD_FIELDS, PRIORITY_FIELDS
from ..grammar.lowered import MakeLate
from ..grammar.rules import MakeVariant, Rules


class RuleSource:
    """Rules in the form in which they are loaded (kernels/parser/load_rules.py): at first, and what was written since.

    Parameters
    ----------
    rules : the grammar.
    make_variant, make_late : who adds them.
    """

    def __init__(self, rules: Rules, make_variant: MakeVariant | None, make_late: MakeLate | None = None) -> None:
        self.make_variant = make_variant
        self.make_late = make_late
        self.is_growing = make_variant is not None or make_late is not None
        ignored = -1 if rules.ignored is None else rules.ignored
        self._head = (
            *(rules.start, ignored, int(rules.ignored_at_ends), int(rules.values_are_json)),
            *(int(rules.ignored_repeats), rules.ignored_priority),
        )
        assert make_variant is None or not rules.priorities, "edges are numbered from the first one"
        self._rules = rules
        self.n_edges = len(rules.edges) // EDGE_FIELDS

    def whole(self) -> npt.NDArray[np.int32]:
        """All rules."""
        return self._part(self._rules.columns())

    def nothing(self) -> npt.NDArray[np.int32]:
        """No rules at all."""
        return np.array([*self._head, *(0 for _ in _FIELDS)], np.int32)

    def sizes(self) -> tuple[int, ...]:
        """Lengths of the columns."""
        return self._rules.sizes()

    def since(self, sizes: tuple[int, ...]) -> npt.NDArray[np.int32]:
        """The rules that were added since the columns had these lengths."""
        n_states, edges = sizes[1], self._rules.edges
        assert all(edges[at] >= n_states for at in range(sizes[2], len(edges), EDGE_FIELDS)), "a rule was changed"
        parts = tuple(column[size:] for column, size in zip(self._rules.columns(), sizes, strict=True))
        first_edge = sizes[2] // EDGE_FIELDS
        priorities = parts[_PRIORITIES]  # a copy
        for at in range(0, len(priorities), PRIORITY_FIELDS):
            priorities[at] -= first_edge
        return self._part(parts)

    def _part(self, parts: tuple[array[int], ...]) -> npt.NDArray[np.int32]:
        lengths = [len(part) // fields for part, fields in zip(parts, _FIELDS, strict=True)]
        return np.frombuffer(bytearray().join((array("i", (*self._head, *lengths)), *parts)), np.int32)


_FIELDS = (1, 1, EDGE_FIELDS, 2, GUARD_FIELDS, 1, PRIORITY_FIELDS, 1)  # numbers that an entry of each column takes
_PRIORITIES = 6
