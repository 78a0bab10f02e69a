"""How many bytes a rule takes at least from each of its states to its end.

`shortest_ends` does not look at guards, so a count that is still too low may ask for more: these are lower bounds, and
exact without guards. Source: D. Knuth, "A generalization of Dijkstra's algorithm", Information Processing Letters 6
(1977): the shortest state is known next, and a call is known when the rule and the state behind it are.

`Rests` knows what guards ask for, too: a run that lacks members, or items, has to get to an edge that adds one, and to
write each of them, the last one on a way to the end, the others on ways to the next such edge.

    object   "{" -> choose -key [add]-> ... value -> after -","-> choose    after -"}"-> end [check required]
    a run in `after` that lacks b and c:   ","  +  b with its value and ","  +  c with its value and "}"

That is no more than it takes, and as much where keys come in any order. What is inside is taken into account from the
inside out, in rounds.

In: a `Network`, and the length of each lexeme. Out: a number for each state, None where no end is reached. Cost: about
2 us an edge; with guards that ask for more, 6 us an edge and round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from llmask.grammar.diagrams import condition_at
from llmask.grammar.kinds import (
    ADD,
    ANOTHER,
    CALL_AGAIN,
    CALL_NEW,
    CHECK,
    COUNT,
    GUARD_FIELDS,
    NO_GUARD,
    SCAN,
    SKIP,
    UNBOUNDED,
)
from llmask.grammar.tails import Edge, Network

MOST_ROUNDS = 12
Value = int | tuple[frozenset[int], int]  # what a run carries: a count, or named members and how many others


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
