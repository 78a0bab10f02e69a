"""Leftmost derivations, step by step: where it is, what it can do next, how many bytes it takes at least.

    place    a state, what its run counts or carries, and the place after the call; None where all is derived

Places are numbers; equal ones are the same. Guards are followed as rules.py says, except that a set has only the
number of its texts: which values are left, the engine knows.

`shortest_ends` gives the bytes from each state of a rule to its end. It does not look at guards, so a count that is
still too low may ask for more: these are lower bounds, and exact without guards. Source: D. Knuth, "A generalization of
Dijkstra's algorithm", Information Processing Letters 6 (1977): the shortest state is known next, and a call is known
when the rule and the state after it are.

`Rests` knows what guards ask for, too: a run that lacks members, or items, has to get to an edge that adds one, and to
write each of them, the last one on a way to the end, the others on ways to the next such edge.

    object   "{" -> choose -key [add]-> ... value -> after -","-> choose    after -"}"-> end [check required]
    a run in `after` that lacks b and c:   ","  +  b with its value and ","  +  c with its value and "}"

That is no more than it takes, and as much where keys come in any order. What is inside is taken into account from the
inside out, in rounds.

In: `Rules`, and the length of each lexeme. Out: steps; a number for each state, None where no end is reached. Cost:
about 5 us a step; 2 us an edge, with guards that ask for more 6 us an edge and round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from llmask.errors import LlmaskError
from llmask.grammar.diagrams import condition_at
from llmask.grammar.kinds import (
    ADD,
    ANOTHER,
    CALL_AGAIN,
    CALL_NEW,
    CHECK,
    COUNT,
    FOLLOW,
    GUARD_FIELDS,
    MORE,
    NO_GUARD,
    SCAN,
    SKIP,
    SKIP_LATE,
    UNBOUNDED,
)
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Edge, Network

MOST_ROUNDS = 12
Value = int | tuple[frozenset[int], int]  # what a run carries: a count, or named members and how many others
NOTHING = -1  # the place where all is derived
NO_LEXEME = -1


def shortest_ends(
    network: Network,
    lexeme_length: Callable[[int], int],
    without: Mapping[int, int] | None = None,
    least: Mapping[int, float] | None = None,
) -> list[int | None]:
    """See the module.

    Parameters
    ----------
    without : by rule, a guard that is not passed.
    least : by rule, bytes that it is known to take.
    """
    rules = network.rules
    n_states = len(network.edges)
    found: list[int | None] = [None] * n_states
    into: list[list[tuple[int, int, int]]] = [[] for _ in range(n_states)]  # state before, called rule or -1, bytes
    calls: list[list[tuple[int, int]]] = [[] for _ in rules.names]  # states before and behind
    lengths: dict[int, int] = {}
    closed = {} if without is None else without
    for state, edges in enumerate(network.edges):
        refused = closed.get(rules.state_rules[state])
        for edge in edges:
            if edge.guard == refused:
                continue
            if edge.kind == SCAN:
                if edge.symbol not in lengths:
                    lengths[edge.symbol] = lexeme_length(edge.symbol)
                into[edge.target].append((state, -1, lengths[edge.symbol]))
            elif edge.kind == SKIP:
                into[edge.target].append((state, -1, 0))
            else:
                into[edge.target].append((state, edge.symbol, 0))
                calls[edge.symbol].append((state, edge.target))
    inside: list[int | None] = [None] * len(rules.names)
    waiting = [
        (0, state)
        for state in range(n_states)
        if any(guard != closed.get(rules.state_rules[state]) for guard in network.finals[state])
    ]
    while waiting:
        length, state = heappop(waiting)
        if found[state] is not None:
            continue
        found[state] = length
        for before, rule, n_bytes in into[state]:
            called = 0 if rule < 0 else inside[rule]
            if called is not None and found[before] is None:
                heappush(waiting, (length + n_bytes + called, before))
        rule = rules.state_rules[state]
        if rules.rule_starts[rule] == state:
            called = inside[rule] = length if least is None else max(length, int(least.get(rule, 0)))
            for before, behind in calls[rule]:
                rest = found[behind]
                if rest is not None and found[before] is None:
                    heappush(waiting, (called + rest, before))
    return found


class _Adding(NamedTuple):
    """Bytes from an edge that adds a member to the next one (inf where there is none), and to the end of the rule."""

    to_next: float
    to_end: float


class Rests:
    """The bytes that a run of a rule takes at least, by its state and what it carries."""

    def __init__(self, network: Network, lexeme_length: Callable[[int], int]) -> None:
        self._network = network
        self._rules = network.rules
        self._ends = shortest_ends(network, lexeme_length)
        asked = [self._n_asked(guard) for guard in range(len(self._rules.guards) // GUARD_FIELDS)]
        self._guards: dict[int, int] = {}  # by rule, the one that asks for most
        for state, edges in enumerate(network.edges):
            rule = self._rules.state_rules[state]
            for guard in (*network.finals[state], *(edge.guard for edge in edges)):
                if asked[guard] > asked[self._guards.get(rule, NO_GUARD)]:
                    self._guards[rule] = guard
        least: dict[int, float] = {}
        for number in range(MOST_ROUNDS if self._guards else 0):
            if number > 0:
                self._ends = shortest_ends(network, lexeme_length, least=least)
            self._free = shortest_ends(network, lexeme_length, self._guards, least)
            self._measure(lexeme_length, least)
            starts = {rule: self.at(self._rules.rule_starts[rule], 0) for rule in self._guards}
            if all(rest is None or rest <= least.get(rule, 0) for rule, rest in starts.items()):
                break
            least = {rule: rest for rule, rest in starts.items() if rest is not None}

    def at(self, state: int, value: Value) -> float | None:
        """Bytes until a run in a state has ended; None where it never does."""
        end = self._ends[state]
        guard = self._guards.get(self._rules.state_rules[state])
        if end is None or guard is None:
            return end
        members, n_others = self._lacking(guard, value)
        if not members and n_others <= 0:
            return end
        free = self._free[state]
        found = min(inf if free is None else free, self._with(state, members, n_others))
        return max(end, found) if found < inf else end

    def _n_asked(self, guard: int) -> int:
        kind, low, _, place, _ = self._rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
        if kind == CHECK:
            is_condition = condition_at(self._rules.required, place) is not None
            return max(low, len(self._rules.members(place)), int(is_condition))
        return low if kind == COUNT else 0

    def _lacking(self, guard: int, value: Value) -> tuple[frozenset[int], float]:
        """The members that a run lacks to pass a guard, and how many others."""
        kind, low, _, place, _ = self._rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
        if kind == COUNT:
            return frozenset(), low - value if isinstance(value, int) else 0
        members, n_others = (frozenset[int](), 0) if isinstance(value, int) else value
        condition = condition_at(self._rules.required, place)
        lacks = low - len(members) - n_others
        if condition is not None:
            return frozenset(), max(lacks, condition.n_to_come(members))
        missing = frozenset(self._rules.members(place)) - members
        return missing, lacks - len(missing)

    def _with(self, state: int, members: frozenset[int], n_others: float) -> float:
        """Bytes of a run that adds some members and so many others."""
        to_next = self._to_adding.get(state)
        rule = self._rules.state_rules[state]
        if to_next is None or n_others > UNBOUNDED:
            return inf
        adding = [self._adding.get((rule, member)) for member in members]
        parts = [part for part in adding if part is not None]
        any_part = self._adding.get((rule, ANOTHER))
        if len(parts) < len(adding) or any_part is None:
            return inf
        if n_others > 0:
            parts.append(any_part)
            to_next += (n_others - 1) * any_part.to_next
        last = [part for part in parts if part.to_next == inf]
        if len(last) > 1:
            return inf  # an order that is not understood
        among = sum(part.to_next for part in parts if part.to_next < inf)
        if last:
            return to_next + among + last[0].to_end
        return to_next + among + min(part.to_end - part.to_next for part in parts)

    def _measure(self, lexeme_length: Callable[[int], int], least: Mapping[int, float]) -> None:
        """Find the bytes from each state of a rule that asks for more to an edge that adds something, and of these."""
        self._to_adding: dict[int, float] = {}
        self._adding: dict[tuple[int, int], _Adding] = {}
        into: dict[int, list[tuple[int, float]]] = {}
        adds: list[tuple[int, int, int, float]] = []  # state, member, target, bytes
        for rule in self._guards:
            for state in self._network.states[rule]:
                for edge in self._network.edges[state]:
                    n_bytes = self._bytes_of(edge, lexeme_length, least)
                    if n_bytes is None:
                        continue
                    into.setdefault(edge.target, []).append((state, n_bytes))
                    member = self._added_by(edge)
                    if member is not None:
                        adds.append((state, member, edge.target, n_bytes))
        waiting: list[tuple[float, int]] = [(0, state) for state, *_ in adds]
        while waiting:
            n_bytes, state = heappop(waiting)
            if state not in self._to_adding:
                self._to_adding[state] = n_bytes
                for before, more in into.get(state, ()):
                    heappush(waiting, (n_bytes + more, before))
        for state, member, target, n_bytes in adds:
            end = self._ends[target]
            part = _Adding(n_bytes + self._to_adding.get(target, inf), inf if end is None else n_bytes + end)
            for key in {(self._rules.state_rules[state], which) for which in (member, ANOTHER)}:
                known = self._adding.get(key, part)
                self._adding[key] = _Adding(min(known.to_next, part.to_next), min(known.to_end, part.to_end))

    def _bytes_of(self, edge: Edge, lexeme_length: Callable[[int], int], least: Mapping[int, float]) -> float | None:
        if edge.kind == SCAN:
            return lexeme_length(edge.symbol)
        if edge.kind == SKIP:
            return 0
        end = self._ends[self._rules.rule_starts[edge.symbol]]
        return None if end is None else max(end, least.get(edge.symbol, 0))

    def _added_by(self, edge: Edge) -> int | None:
        """What an edge adds to what a run carries: a member, ANOTHER, or None."""
        kind, first, _, more, _ = self._rules.guards[edge.guard * GUARD_FIELDS : (edge.guard + 1) * GUARD_FIELDS]
        if kind == ADD:
            return first
        return ANOTHER if (kind == COUNT and more > 0) or CALL_NEW <= edge.kind < CALL_AGAIN else None


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
