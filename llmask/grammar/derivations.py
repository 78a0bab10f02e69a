"""Leftmost derivations, step by step: where one stands, what it can do next, how many bytes it takes at least.

    place    a state, what its run counts or carries, and the place behind the call; None where all is derived

Places are numbers; equal ones are the same. Guards are followed as rules.py says, except that a set has only the
number of its texts: which values are left, the engine knows.

In: `Rules`, and the length of each lexeme. Out: steps. Cost: about 5 us a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from llmask.errors import LlmaskError
from llmask.grammar.diagrams import condition_at
from llmask.grammar.kinds import (
    ADD,
    ANOTHER,
    CALL_AGAIN,
    CALL_NEW,
    COUNT,
    FOLLOW,
    GUARD_FIELDS,
    MORE,
    NO_GUARD,
    SCAN,
    SKIP,
    SKIP_LATE,
)
from llmask.grammar.lengths import Rests, Value
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network

NOTHING = -1  # the place where all is derived
NO_LEXEME = -1


class Step(NamedTuple):
    """What may come next: a lexeme (or NO_LEXEME), the place behind it, and the bytes that both take at least."""

    lexeme: int
    place: int
    rest: float


class Derivations:
    """Places of the derivations of one grammar.

    Attributes
    ----------
    start : the first place.
    rest : for each place, the bytes that it takes at least.

    Raises
    ------
    LlmaskError : there are rules with a parameter, or terminals that are no text.
    """

    def __init__(self, rules: Rules, lexeme_length: Callable[[int], int]) -> None:
        self.rules = rules
        self.network = Network(rules)
        if any(edge.kind == SKIP_LATE for edges in self.network.edges for edge in edges):
            raise LlmaskError(
                "the grammar has rules with a parameter, which are written only while it is read",
                help="its sentences are not searched for; write the rules out for the values that you need",
            )
        self._length = lexeme_length
        self._rests = Rests(self.network, lexeme_length)
        self._states: list[tuple[int, Value, int]] = []
        self.rest: list[float] = []
        self._known: dict[tuple[int, Value, int], int] = {}
        self._steps: dict[int, list[Step]] = {}
        start = self._place(rules.rule_starts[rules.start], 0, NOTHING)
        assert start is not None, "compiling has seen to it"
        self.start = start

    def rest_of(self, place: int) -> float:
        """The bytes that a place takes at least."""
        return 0 if place == NOTHING else self.rest[place]

    def rules_at(self, place: int) -> tuple[int, ...]:
        """The rules that are being read at a place, the innermost first."""
        found = []
        while place != NOTHING:
            state, _, place = self._states[place]
            found.append(self.rules.state_rules[state])
        return tuple(found)

    def steps(self, place: int) -> list[Step]:
        """What may come next at a place that is not NOTHING."""
        found = self._steps.get(place)
        if found is None:
            found = self._steps[place] = self._find_steps(*self._states[place])
        return found

    def _place(self, state: int, value: Value, behind: int) -> int | None:
        """Number of a place; None where no end is reached."""
        key = state, value, behind
        found = self._known.get(key)
        if found is None:
            end = self._rests.at(state, value)
            if end is None:
                return None
            found = self._known[key] = len(self._states)
            self._states.append(key)
            self.rest.append(end + self.rest_of(behind))
        return found

    def _find_steps(self, state: int, value: Value, behind: int) -> list[Step]:
        found = []
        for guard in self.network.finals[state]:
            if value_after(self.rules, guard, value) is not None:
                found.append(Step(NO_LEXEME, behind, self.rest_of(behind)))
        for edge in self.network.edges[state]:
            after = value_after(self.rules, edge.guard, value, CALL_NEW <= edge.kind < CALL_AGAIN)
            place = None if after is None else self._place(edge.target, after, behind)
            if place is not None and edge.kind not in (SCAN, SKIP):
                place = self._place(self.rules.rule_starts[edge.symbol], 0, place)
            if place is None:
                continue
            is_lexeme = edge.kind == SCAN
            n_bytes = self._length(edge.symbol) if is_lexeme else 0
            found.append(Step(edge.symbol if is_lexeme else NO_LEXEME, place, n_bytes + self.rest[place]))
        return found


def value_after(rules: Rules, guard: int, value: Value, adds_text: bool = False) -> Value | None:
    """What a run counts or carries behind a guard, None where it does not pass."""
    if guard == NO_GUARD and not adds_text:
        return value
    kind, *fields = rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
    if kind == COUNT and not adds_text:
        low, high, add, cap = fields
        assert isinstance(value, int)
        return min(value + add, cap) if low <= value <= high else None
    members, n_others = (frozenset[int](), 0) if isinstance(value, int) else value
    size = len(members) + n_others
    if kind == COUNT:
        return members, n_others + 1
    if kind == ADD:
        member, high, required, cap = fields
        added = members if member == ANOTHER else members | {member}
        missing = _n_missing(rules, required, added, 0 if member == ANOTHER else cap)
        if (member != ANOTHER and member in members) or size + 1 + missing > high:
            return None
        return added, n_others + int(member == ANOTHER and size < cap)
    low, high, required, _ = fields
    if kind == FOLLOW:
        return value
    if kind == MORE:
        return value if size + _n_missing(rules, required, members, low, one_more=True) <= high else None
    return (members, n_others) if low <= size <= high and not _n_missing(rules, required, members) else None


def _n_missing(rules: Rules, place: int, members: frozenset[int], passed: int = 0, one_more: bool = False) -> float:
    condition = condition_at(rules.required, place)
    if condition is not None:
        return condition.n_to_come(members, passed, one_more)
    return len(frozenset(rules.members(place)) - members)
