"""Guards from their definition (rules.py), for the definition of masks: a second opinion beside the reference engine.

A run's parameter is a number (its count) or a set; 0 stands for the empty set too.

In: rules, a guard, a parameter. Out: the parameter behind it, or None. Cost: no care is taken.
"""

from __future__ import annotations

from typing import NamedTuple

from llmask.grammar.kinds import ADD, ANOTHER, COUNT, GUARD_FIELDS
from llmask.grammar.rules import Rules


class Members(NamedTuple):
    """A set: members with a number, and the number of members without one."""

    named: frozenset[int] = frozenset()
    n_others: int = 0

    @property
    def size(self) -> int:
        return len(self.named) + self.n_others


Parameter = int | Members


def required_members(rules: Rules, place: int) -> frozenset[int]:
    """The members of a set in `rules.required`."""
    n_words = rules.required[place + 1]
    words = rules.required[place + 2 : place + 2 + n_words]
    members = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    assert len(members) == rules.required[place]
    return members


def parameter_behind(rules: Rules, guard: int, parameter: Parameter) -> Parameter | None:
    """The parameter behind a guard, or None where it does not let through."""
    if guard == 0:
        return parameter
    kind, *fields = rules.guards[GUARD_FIELDS * guard : GUARD_FIELDS * (guard + 1)]
    if kind == COUNT:
        low, high, add, cap = fields
        assert isinstance(parameter, int)
        return min(parameter + add, cap) if low <= parameter <= high else None
    assert parameter == 0 or isinstance(parameter, Members)
    members = parameter if isinstance(parameter, Members) else Members()
    first, high, place, last = fields
    required = required_members(rules, place)
    if kind == ADD:
        if first in members.named:
            return None
        if first == ANOTHER:
            after = members._replace(n_others=members.n_others + 1)
        else:
            after = members._replace(named=members.named | {first})
        if after.size + len(required - after.named) > high:
            return None
        return parameter if first == ANOTHER and members.size >= last else after
    assert last == 0, "values that must differ are not modelled here"
    return parameter if required <= members.named and first <= members.size <= high else None
