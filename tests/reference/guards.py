"""Guards from their definition (rules.py), for the definition of masks: a second opinion beside the reference engine.

A run's parameter is a number (its count) or a set; 0 stands for the empty set too.

In: rules, a guard, a parameter. Out: the parameter behind it, or None. Cost: no care is taken.
"""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import NamedTuple

from llmask.grammar.kinds import ADD, ANOTHER, CONDITION, COUNT, FOLLOW, GUARD_FIELDS, MORE
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


def n_to_come(rules: Rules, place: int, named: frozenset[int], passed: int = 0, one_more: bool = False) -> float:
    """The fewest members that are still required; of a condition all sets that may come are tried."""
    if rules.required[place] != CONDITION:
        return len(required_members(rules, place) - named)
    n = rules.required[place + 1]
    nodes = [tuple(rules.required[place + 2 + 3 * i : place + 5 + 3 * i]) for i in range(n)]

    def is_fulfilled(members: frozenset[int]) -> bool:
        here = n + 1  # 0 and 1 are the ends
        while here > 1:
            member, absent, there = nodes[here - 2]
            here = there if member in members else absent
        return here == 1

    open_members = sorted({member for member, _, _ in nodes if member >= passed} - named)
    for size in range(one_more, len(open_members) + 1):
        if any(is_fulfilled(named | {*come}) for come in combinations(open_members, size)):
            return size
    return inf


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
    if kind == FOLLOW:
        return parameter
    if kind == MORE:
        return parameter if members.size + n_to_come(rules, place, members.named, first, True) <= high else None
    if kind == ADD:
        if first in members.named:
            return None
        if first == ANOTHER:
            after = members._replace(n_others=members.n_others + 1)
        else:
            after = members._replace(named=members.named | {first})
        if after.size + n_to_come(rules, place, after.named, 0 if first == ANOTHER else last) > high:
            return None
        return parameter if first == ANOTHER and members.size >= last else after
    assert last == 0, "values that must differ are not modelled here"
    is_met = first <= members.size <= high and n_to_come(rules, place, members.named) == 0
    return parameter if is_met else None
