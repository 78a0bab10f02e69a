"""Conditions on the members that a set has at its end, as decision diagrams, in which equal conditions are one node.

A node asks for one member and leads on where it is absent and where it is there, down to FALSE or TRUE; members come in
one order on every way, and no node leads to the same twice. Source: R. Bryant, "Graph-Based Algorithms for Boolean
Function Manipulation", IEEE Transactions on Computers C-35 (1986).

In: members. Out: nodes, and the numbers that a guard holds of one (`Rules.condition`). Cost: 2 us a node, which is a
unit of work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import inf
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.kinds import CONDITION
from llmask.work import spend

FALSE, TRUE = 0, 1
FIRST_NODE = 2
NODE_FIELDS = 3  # member, node where it is absent, node where it is there
NODES_A_UNIT = 6  # numbers of nodes that are looked at
MAX_NODES = 500_000  # of one object, 100 MB
LAST = 2**31 - 1  # the member of the ends FALSE and TRUE: after all others


class Diagrams:
    """Nodes over members from 0, which are asked for in the order of their numbers."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, int, int]] = [(LAST, FALSE, FALSE), (LAST, TRUE, TRUE)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._together: tuple[dict[int, int], dict[int, int]] = ({}, {})  # both, and either, of a pair of nodes

    def both(self, one: int, other: int) -> int:
        """Both conditions."""
        return self._joined(FALSE, one, other)

    def either(self, one: int, other: int) -> int:
        """One condition or both."""
        return self._joined(TRUE, one, other)

    def all_of(self, conditions: Iterable[int]) -> int:
        """All conditions: neighbours are joined first, so that what speaks of the same members stays small."""
        return _joined_in_pairs(self.both, TRUE, conditions)

    def any_of(self, conditions: Iterable[int]) -> int:
        """At least one condition."""
        return _joined_in_pairs(self.either, FALSE, conditions)

    def negated(self, condition: int) -> int:
        """Where the condition does not hold."""
        found = {FALSE: TRUE, TRUE: FALSE}
        for number in self._below(condition):
            member, absent, there = self.nodes[number]
            found[number] = self._node(member, found[absent], found[there])
        return found[condition]

    def exactly_one(self, conditions: Iterable[int]) -> int:
        """One condition and no other: of all at once, as most members leave few that may still hold."""
        start = tuple(sorted(condition for condition in conditions if condition != FALSE))
        found: dict[tuple[int, ...], int] = {}
        waiting = [start]
        while waiting:
            state = waiting[-1]
            if len(state) < 2 or state[1] == TRUE:
                found[state] = state[0] if len(state) == 1 else FALSE
                waiting.pop()
                continue
            spend(len(state) // 4)
            asked = [self.nodes[number] for number in state]
            member = min(asked)[0]
            below = []
            for is_there in (False, True):
                ways = [
                    one[1 + is_there] if one[0] == member else number for number, one in zip(state, asked, strict=True)
                ]
                below.append(tuple(sorted([way for way in ways if way != FALSE])))
            unknown = [one for one in below if one not in found]
            if unknown:
                waiting += unknown
            else:
                found[state] = self._node(member, found[below[0]], found[below[1]])
                waiting.pop()
        return found[start]

    def absent(self, members: Iterable[int]) -> int:
        """The condition that none of some members is there."""
        return self._one_of(members, TRUE, FALSE)

    def present(self, members: Iterable[int]) -> int:
        """The condition that one of some members is there, or more."""
        return self._one_of(members, FALSE, TRUE)

    def _one_of(self, members: Iterable[int], found: int, there: int) -> int:
        for member in sorted({*members}, reverse=True):
            found = self._node(member, found, there)
        return found

    def between(self, members: Iterable[int], low: int, high: int | None = None) -> int:
        """The condition that some members are there, at least `low` and at most `high` of them."""
        wanted = sorted({*members}, reverse=True)
        if low > len(wanted):
            return FALSE
        most = low if high is None else min(high, len(wanted)) + 1  # of them, or more
        found = [TRUE if low <= n and (high is None or n <= high) else FALSE for n in range(most + 1)]
        for member in wanted:
            found = [self._node(member, found[n], found[min(n + 1, most)]) for n in range(most + 1)]
        return found[0]

    def in_turn(self, members: Iterable[int]) -> int:
        """The condition that none of some members is there without all before it."""
        none = found = TRUE
        for member in sorted({*members}, reverse=True):
            none, found = self._node(member, none, FALSE), self._node(member, none, found)
        return found

    def condition(self, node: int, members: Sequence[int]) -> Condition:
        """A condition as guards hold it: NODE_FIELDS numbers for each node, the last one its own.

        There, every way asks for all of `members`, those by whose positions the nodes ask: who wants one more member
        sees those to which the condition is indifferent.
        """
        levels: list[dict[int, None]] = [{node: None}]  # the nodes where the way to them has asked for the ones before
        for position in range(len(members)):
            below: dict[int, None] = {}
            for number in levels[-1]:
                below.update(dict.fromkeys(self._ways(number, position)))
            below.pop(FALSE, None)
            levels.append(below)
            spend(len(below))
        place, found = {TRUE: TRUE}, list[int]()
        for position in range(len(members) - 1, -1, -1):
            above = {}
            for number in levels[position]:
                above[number] = FIRST_NODE + len(found) // NODE_FIELDS
                absent, there = self._ways(number, position)
                found += (members[position], place.get(absent, FALSE), place.get(there, FALSE))
            place = above
        return Condition(tuple(found))

    def _ways(self, number: int, position: int) -> tuple[int, int]:
        asked, absent, there = self.nodes[number]
        return (absent, there) if asked == position else (number, number)

    def _node(self, member: int, absent: int, there: int) -> int:
        spend(1)
        if absent == there:
            return absent
        key = member, absent, there
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.nodes)
            self.nodes.append(key)
            if number > MAX_NODES:
                raise LimitExceeded(f"a condition takes more than {MAX_NODES} nodes", None, "Use fewer alternatives.")
        return number

    def _below(self, condition: int) -> list[int]:
        """The nodes of a condition, each after those that it leads to."""
        found: set[int] = set()
        waiting = [condition]
        while waiting:
            number = waiting.pop()
            if number >= FIRST_NODE and number not in found:
                found.add(number)
                waiting += self.nodes[number][1:]
        return sorted(found)

    def _joined(self, end: int, one: int, other: int) -> int:
        """Both conditions for the end FALSE, either for TRUE: what decides it at once where one of them is that end."""
        known, found, nodes = self._known(end, one, other), self._together[end], self.nodes
        if known is not None:
            return known
        waiting = [(one, other)]
        while waiting:
            left, right = waiting[-1]
            member, absent, there = nodes[left]
            of_right, absent_right, there_right = nodes[right]
            if of_right < member:
                member, absent, there = of_right, left, left
            elif of_right > member:
                absent_right = there_right = right
            known_absent = self._known(end, absent, absent_right)
            known_there = self._known(end, there, there_right)
            if known_absent is None:
                waiting.append((absent, absent_right))
            elif known_there is None:
                waiting.append((there, there_right))
            else:
                found[left << 32 | right] = found[right << 32 | left] = self._node(member, known_absent, known_there)
                waiting.pop()
        return found[one << 32 | other]

    def _known(self, end: int, one: int, other: int) -> int | None:
        if one == end or other == end:
            return end
        if one == other or other == 1 - end:
            return one
        if one == 1 - end:
            return other
        return self._together[end].get(one << 32 | other)


def _joined_in_pairs(join: Callable[[int, int], int], nothing: int, conditions: Iterable[int]) -> int:
    level = list(conditions) or [nothing]
    while len(level) > 1:
        level = [*map(join, level[::2], level[1::2]), *level[len(level) & ~1 :]]
    return level[0]


class Condition(NamedTuple):
    """A condition as guards hold it: the numbers of `Diagrams.columns`."""

    nodes: tuple[int, ...]

    def n_to_come(self, members: Collection[int], passed: int = 0, one_more: bool = False) -> float:
        """The fewest members with which a set fulfils it, at least one with `one_more`; infinite where none do.

        Of members below `passed` none is to come.
        """
        spend(len(self.nodes) // NODES_A_UNIT)
        fewest, fewest_new = [inf, 0.0], [inf, inf]  # members to come, and the same with one that comes at least
        nodes = iter(self.nodes)
        for member, absent, there in zip(nodes, nodes, nodes, strict=True):
            if member in members or member < passed:
                way = there if member in members else absent
                fewest.append(fewest[way])
                fewest_new.append(fewest_new[way])
                continue
            come, without, without_new = fewest[there] + 1, fewest[absent], fewest_new[absent]
            fewest.append(come if come < without else without)
            fewest_new.append(come if come < without_new else without_new)
        return (fewest_new if one_more else fewest)[-1]

    def can_hold(self, members: Collection[int]) -> bool:
        """Whether a set of some of these members, and no others, fulfils it."""
        holds = [False, True]
        for at in range(0, len(self.nodes), NODE_FIELDS):
            member, absent, there = self.nodes[at : at + NODE_FIELDS]
            holds.append(holds[absent] or (member in members and holds[there]))
        return holds[-1]

    def possible(self) -> set[int]:
        """Members of the sets that fulfil it."""
        nodes = self.nodes
        return {nodes[at] for at in range(0, len(nodes), NODE_FIELDS) if nodes[at + 2] != FALSE}

    def __str__(self) -> str:
        members = sorted(set(self.nodes[::NODE_FIELDS]))
        return f"condition on {' '.join(map(str, members))}"


def condition_at(required: Sequence[int], place: int) -> Condition | None:
    """The condition at a place of `Rules.required`, None for a set of members."""
    if required[place] != CONDITION:
        return None
    return Condition(tuple(required[place + 2 : place + 2 + NODE_FIELDS * required[place + 1]]))
